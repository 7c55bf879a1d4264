"""The gate `unit.todo-idempotency`: an item is created and completed, and each of these facts is told once."""

import unittest

from workboard import domain

CREATED_AT, FIRST, SECOND = 1000, 2000, 3000


class TodoIdempotency(unittest.TestCase):
    def setUp(self):
        if not hasattr(domain, "complete"):
            raise NotImplementedError("the feature is absent: workboard.domain has no transition `complete`")
        self.created = domain.create("northstar", "item-1", "Order lamps", CREATED_AT)
        self.first = domain.complete(self.created.item, FIRST)
        self.second = domain.complete(self.first.item, SECOND)

    def events(self, kind, *transitions):
        return [event for transition in transitions for event in transition.events if event.kind.value == kind]

    def test_a_new_item_is_not_complete(self):
        self.assertIsNone(self.created.item.completed_at)
        self.assertEqual(1, len(self.events("WorkItemCreated", self.created, self.first, self.second)))

    def test_completing_an_item_says_when_and_emits_the_event(self):
        self.assertEqual(FIRST, self.first.item.completed_at)
        (event,) = self.events("WorkItemCompleted", self.first)
        self.assertEqual(("northstar", "item-1", FIRST), (event.tenant, event.item_id, event.occurred_at))

    def test_completing_twice_emits_exactly_one_completion_event(self):
        completions = self.events("WorkItemCompleted", self.created, self.first, self.second)
        told = f"completing item-1 twice emitted {[event.key for event in completions]}"
        self.assertEqual(1, len(completions), f"duplicate completion event: {told}")
        self.assertEqual(self.first.item, self.second.item, "completing item-1 again changed it")

    def test_two_items_complete_apart_from_each_other(self):
        other = domain.complete(domain.create("northstar", "item-2", "Order chairs", CREATED_AT).item, FIRST)
        keys = {event.key for event in self.events("WorkItemCompleted", self.first, other)}
        self.assertEqual(2, len(keys), "the completions of two items are taken for one event")


if __name__ == "__main__":
    unittest.main()
