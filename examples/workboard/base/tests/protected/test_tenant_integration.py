"""The gate `tenant-integration`: completion through the API, on a real database, within one tenant and no further."""

import itertools
import json
import os
import tempfile
import unittest

from gate import ROOT, Application

SEED = os.environ.get("WORKBOARD_SEED") or str(ROOT / "fixtures" / "seed.json")
OWN, OTHER, ITEM = "northstar", "southgate", "ns-lamp-order"
COMPLETE = "/api/items/{item}/complete"


class TenantIntegration(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.database = os.path.join(folder.name, "workboard.sqlite")
        self.clock = itertools.count(2_000_000_000_000, 1000)
        self.start()
        if ["POST", COMPLETE] not in self.application.ask("routes"):
            raise NotImplementedError(f"the feature is absent: the API does not answer to POST {COMPLETE}")
        self.application.ask("seed", database=self.database, file=SEED)
        self.application.ask("open", database=self.database)

    def start(self):
        self.application = Application()
        self.addCleanup(self.application.end)

    def restart(self):
        self.application.end()
        self.start()
        self.application.ask("open", database=self.database)

    def call(self, tenant, method, path, body=""):
        now = next(self.clock)
        status, document = self.application.ask(
            "request", method=method, path=path, tenant=tenant, body=body, now=now
        )
        return status, document

    def complete(self, tenant, item):
        return self.call(tenant, "POST", COMPLETE.format(item=item))

    def item(self, tenant, item):
        _, document = self.call(tenant, "GET", "/api/items")
        (found,) = [candidate for candidate in document["items"] if candidate["id"] == item]
        return found

    def completions(self, tenant):
        _, document = self.call(tenant, "GET", "/api/events")
        return [event["item"] for event in document["events"] if event["kind"] == "WorkItemCompleted"]

    def test_completion_is_kept_over_a_restart(self):
        self.assertEqual("open", self.item(OWN, ITEM)["state"])
        status, completed = self.complete(OWN, ITEM)
        self.assertEqual((200, "completed"), (status, completed["state"]))
        self.restart()
        self.assertEqual(completed, self.item(OWN, ITEM))
        self.assertEqual([ITEM], self.completions(OWN))

    def test_completing_twice_answers_the_same_and_tells_it_once(self):
        first = self.complete(OWN, ITEM)
        self.assertEqual(first, self.complete(OWN, ITEM))
        self.assertEqual([ITEM], self.completions(OWN), "the event log tells the completion more than once")

    def test_another_tenant_cannot_complete_the_item(self):
        status, _ = self.complete(OTHER, ITEM)
        self.assertEqual(404, status, f"{OTHER} completed an item of {OWN}")
        self.assertEqual("open", self.item(OWN, ITEM)["state"], f"{OTHER} changed an item of {OWN}")
        self.assertEqual(([], []), (self.completions(OWN), self.completions(OTHER)))
        self.assertEqual(200, self.complete(OWN, ITEM)[0])

    def test_another_tenants_item_looks_like_one_that_never_existed(self):
        foreign, absent = self.complete(OTHER, ITEM), self.complete(OTHER, "never-existed")
        self.assertEqual(json.dumps(absent), json.dumps(foreign), "the answer tells that the item exists")

    def test_no_tenant_sees_the_items_or_events_of_another(self):
        self.complete(OWN, ITEM)
        for tenant in (OTHER, "newcomer"):
            seen = json.dumps([self.call(tenant, "GET", path) for path in ("/api/items", "/api/events")])
            self.assertNotIn("ns-", seen, f"{tenant} sees items of {OWN}")
        self.assertIn(ITEM, json.dumps(self.call(OWN, "GET", "/api/items")))

    def test_the_tenant_is_never_taken_from_the_body(self):
        status, _ = self.call(OTHER, "POST", COMPLETE.format(item=ITEM), json.dumps({"tenant": OWN}))
        self.assertNotEqual(200, status, "the body chose the tenant")
        self.assertEqual("open", self.item(OWN, ITEM)["state"])

    def test_without_a_tenant_nothing_is_answered(self):
        for tenant in (None, "", "../northstar", "northstar "):
            self.assertEqual(401, self.complete(tenant, ITEM)[0], f"tenant {tenant!r}")
        self.assertEqual("open", self.item(OWN, ITEM)["state"])
