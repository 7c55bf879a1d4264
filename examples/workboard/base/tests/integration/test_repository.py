import sqlite3
import tempfile
import unittest
from contextlib import closing
from pathlib import Path

from workboard import domain, seed
from workboard.repository import MIGRATIONS, ItemNotFound, Repository

SEED = Path(__file__).resolve().parents[2] / "fixtures" / "seed.json"


class Board(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(Path(folder.name) / "workboard.sqlite")
        self.repository = Repository(self.path)

    def add(self, tenant, item_id, now=1000):
        return self.repository.add(domain.create(tenant, item_id, "Order lamps", now))

    def test_items_are_kept_and_come_oldest_first(self):
        later, earlier = self.add("northstar", "a", 2000), self.add("northstar", "b", 1000)
        self.assertEqual([earlier, later], Repository(self.path).items("northstar"))

    def test_renaming_another_tenants_item_finds_nothing(self):
        item = self.add("northstar", "a")
        with self.assertRaises(ItemNotFound):
            self.repository.rename("southgate", "a", "Taken", 2000)
        self.assertEqual([item], self.repository.items("northstar"))

    def test_two_tenants_may_use_one_id(self):
        self.add("northstar", "a")
        self.add("southgate", "a")
        self.repository.rename("southgate", "a", "Order chairs", 2000)
        self.assertEqual(["Order lamps"], [item.title for item in self.repository.items("northstar")])

    def test_a_change_that_fails_keeps_nothing(self):
        self.add("northstar", "a")
        with self.assertRaises(domain.InvalidValue):
            self.repository.rename("northstar", "a", "", 2000)
        with self.assertRaises(sqlite3.IntegrityError):
            self.add("northstar", "a")
        self.assertEqual(1, len(self.repository.events("northstar")))

    def test_a_database_of_a_later_version_is_left_alone(self):
        with closing(sqlite3.connect(self.path)) as connection:
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
        with self.assertRaises(RuntimeError):
            Repository(self.path)

    def test_seeding_again_adds_nothing(self):
        self.assertEqual(5, seed.load(str(SEED), self.repository))
        self.assertEqual(0, seed.load(str(SEED), self.repository))
        self.assertEqual(3, len(self.repository.items("northstar")))
