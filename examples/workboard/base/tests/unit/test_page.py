import unittest
from html.parser import HTMLParser
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "page" / "index.html"


class Elements(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def having(self, tag):
        return [attributes for found, attributes in self.found if found == tag]


class Page(unittest.TestCase):
    def setUp(self):
        self.page = PAGE.read_text(encoding="utf-8")
        self.elements = Elements(self.page)

    def test_it_says_its_language_and_has_one_main_heading(self):
        self.assertEqual([{"lang": "en"}], self.elements.having("html"))
        self.assertEqual(1, len(self.elements.having("h1")))

    def test_every_field_has_a_label(self):
        labelled = {label["for"] for label in self.elements.having("label")}
        self.assertEqual({field["id"] for field in self.elements.having("input")}, labelled)

    def test_it_loads_nothing_from_elsewhere(self):
        addresses = [a.get("src") or a.get("href") for _, a in self.elements.found if "src" in a or "href" in a]
        self.assertEqual(["data:,"], addresses)

    def test_it_never_reads_text_as_markup(self):
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write"):
            self.assertNotIn(way, self.page)
