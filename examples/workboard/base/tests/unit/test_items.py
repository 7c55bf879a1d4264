import unittest

from workboard import domain
from workboard.events import EventKind


class Items(unittest.TestCase):
    def setUp(self):
        self.made = domain.create("northstar", "item-1", "  Order lamps ", 1000)

    def test_a_new_item_has_its_title_trimmed_and_is_told_once(self):
        self.assertEqual("Order lamps", self.made.item.title)
        self.assertEqual([EventKind.CREATED], [event.kind for event in self.made.events])

    def test_renaming_keeps_everything_but_the_title(self):
        renamed = domain.rename(self.made.item, "Order chairs", 2000)
        self.assertEqual("Order chairs", renamed.item.title)
        self.assertEqual((self.made.item.tenant, self.made.item.item_id), (renamed.item.tenant, renamed.item.item_id))
        self.assertEqual([EventKind.RENAMED], [event.kind for event in renamed.events])

    def test_the_present_title_is_no_change(self):
        same = domain.rename(self.made.item, "Order lamps", 2000)
        self.assertEqual(self.made.item, same.item)
        self.assertEqual((), same.events)

    def test_renaming_again_and_again_is_told_each_time(self):
        there = domain.rename(self.made.item, "Order chairs", 2000)
        back = domain.rename(there.item, "Order lamps", 3000)
        again = domain.rename(back.item, "Order chairs", 4000)
        self.assertEqual(3, len({event.key for step in (there, back, again) for event in step.events}))


class Values(unittest.TestCase):
    def test_a_title_is_one_printable_line(self):
        for good in ("x", "é" * 120, "Größe: 3 × 4"):
            self.assertEqual(good, domain.parse_title(good))
        for bad in ("", "   ", "x" * 121, "two\nlines", "tab\there", "\u202eturned", "\ud800", None, 7, ["x"]):
            with self.assertRaises(domain.InvalidValue, msg=repr(bad)):
                domain.parse_title(bad)

    def test_a_name_has_one_spelling(self):
        for good in ("a", "northstar", "unit-4", "0" * 40):
            self.assertEqual(good, domain.parse_name("tenant", good))
        for bad in ("", "-a", "A", "a b", "a\n", "a/b", "..", "é", "x" * 41, None, 7):
            with self.assertRaises(domain.InvalidValue, msg=repr(bad)):
                domain.parse_name("tenant", bad)
