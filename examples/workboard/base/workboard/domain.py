"""Work items and what may happen to them. Pure: the caller brings the time and the ids, and keeps what comes out."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from workboard.events import Event, EventKind, each_time, once

TITLE_CHARACTERS = 120
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}\Z")


class InvalidValue(ValueError):
    """A value that a work item cannot have. The message is fit to be shown."""


@dataclass(frozen=True)
class WorkItem:
    """One thing to do. It belongs to one tenant for its whole life. Times are milliseconds since 1970."""

    tenant: str
    item_id: str
    title: str
    created_at: int


@dataclass(frozen=True)
class Transition:
    """An item after a change, and the events that the change means. No events: nothing changed."""

    item: WorkItem
    events: tuple[Event, ...]


def create(tenant: str, item_id: str, title: str, now: int) -> Transition:
    """A new item."""
    item = WorkItem(parse_name("tenant", tenant), parse_name("item", item_id), parse_title(title), now)
    return Transition(item, (once(EventKind.CREATED, item.tenant, item.item_id, now),))


def rename(item: WorkItem, title: str, now: int) -> Transition:
    """The item under another title. Its present title is no change."""
    title = parse_title(title)
    if title == item.title:
        return Transition(item, ())
    renamed = replace(item, title=title)
    return Transition(renamed, (each_time(EventKind.RENAMED, item.tenant, item.item_id, now),))


def parse_name(what: str, text: object) -> str:
    """The id of a tenant or of an item: 1 to 40 of a-z, 0-9 and `-`."""
    if not isinstance(text, str) or not _NAME.match(text):
        raise InvalidValue(f"the {what} must be 1 to 40 of a-z, 0-9 and -, starting with a letter or a digit")
    return text


def parse_title(text: object) -> str:
    """A title: one line of printable characters, without space around it."""
    if not isinstance(text, str):
        raise InvalidValue("the title must be a text")
    title = text.strip()
    if not title or len(title) > TITLE_CHARACTERS:
        raise InvalidValue(f"the title must have 1 to {TITLE_CHARACTERS} characters")
    if not title.isprintable():
        raise InvalidValue("the title must be one line of printable characters")
    return title
