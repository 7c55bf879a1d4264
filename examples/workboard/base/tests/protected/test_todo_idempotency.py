"""The gate `unit.todo-idempotency`: an item is created and completed, and each of these facts is told once."""

import unittest

from gate import Application

CREATED_AT, FIRST, SECOND = 1000, 2000, 3000


class TodoIdempotency(unittest.TestCase):
    def setUp(self):
        self.application = Application()
        self.addCleanup(self.application.end)
        if not self.application.ask("has_transition", name="complete"):
            raise NotImplementedError("the feature is absent: workboard.domain has no transition `complete`")
        self.created = self.step("create", "northstar", "item-1", "Order lamps", CREATED_AT)
        self.first = self.step("complete", self.created["item"], FIRST)
        self.second = self.step("complete", self.first["item"], SECOND)

    def step(self, name, *arguments):
        return self.application.ask("transition", name=name, arguments=arguments)

    def events(self, kind, *transitions):
        return [event for transition in transitions for event in transition["events"] if event["kind"] == kind]

    def test_a_new_item_is_not_complete(self):
        self.assertIsNone(self.created["item"]["completed_at"])
        self.assertEqual(1, len(self.events("WorkItemCreated", self.created, self.first, self.second)))

    def test_completing_an_item_says_when_and_emits_the_event(self):
        self.assertEqual(FIRST, self.first["item"]["completed_at"])
        (event,) = self.events("WorkItemCompleted", self.first)
        told = (event["tenant"], event["item_id"], event["occurred_at"])
        self.assertEqual(("northstar", "item-1", FIRST), told)

    def test_completing_twice_emits_exactly_one_completion_event(self):
        completions = self.events("WorkItemCompleted", self.created, self.first, self.second)
        told = f"completing item-1 twice emitted {[event['key'] for event in completions]}"
        self.assertEqual(1, len(completions), f"duplicate completion event: {told}")
        self.assertEqual(self.first["item"], self.second["item"], "completing item-1 again changed it")

    def test_two_items_complete_apart_from_each_other(self):
        created = self.step("create", "northstar", "item-2", "Order chairs", CREATED_AT)
        other = self.step("complete", created["item"], FIRST)
        keys = {event["key"] for event in self.events("WorkItemCompleted", self.first, other)}
        self.assertEqual(2, len(keys), "the completions of two items are taken for one event")
