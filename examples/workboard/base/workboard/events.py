"""What happened to a work item, as facts that other parts may rely on."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class EventKind(enum.Enum):
    """The kinds of events; the value is the name under which they are kept."""

    CREATED = "WorkItemCreated"
    RENAMED = "WorkItemRenamed"


@dataclass(frozen=True)
class Event:
    """One fact. Two events with the same tenant and key are the same fact, and the event log keeps one of them."""

    kind: EventKind
    tenant: str
    item_id: str
    key: str
    occurred_at: int


def once(kind: EventKind, tenant: str, item_id: str, now: int) -> Event:
    """An event that can happen once in the life of an item."""
    return Event(kind, tenant, item_id, f"{item_id}/{kind.value}", now)


def each_time(kind: EventKind, tenant: str, item_id: str, now: int) -> Event:
    """An event that can happen again and again, told apart by its time in milliseconds."""
    return Event(kind, tenant, item_id, f"{item_id}/{kind.value}/{now}", now)
