"""Work items and events in SQLite. Every statement names the tenant that it is for."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from workboard import domain
from workboard.domain import Transition, WorkItem
from workboard.events import Event, EventKind

# Applied in order, each once; `user_version` counts them. A migration is never changed or removed, only followed.
MIGRATIONS = (
    """
    CREATE TABLE items (
        tenant TEXT NOT NULL,
        item_id TEXT NOT NULL,
        title TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        PRIMARY KEY (tenant, item_id)
    );
    CREATE TABLE events (
        sequence INTEGER PRIMARY KEY,
        tenant TEXT NOT NULL,
        item_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        occurred_at INTEGER NOT NULL,
        UNIQUE (tenant, key)
    );
    """,
)
ITEM_COLUMNS = "tenant, item_id, title, created_at"
BUSY_SECONDS = 5


class ItemNotFound(LookupError):
    """The tenant has no such item. Whether another tenant has one makes no difference."""


class Repository:
    """The work items in one database file. Each operation has its own connection, so threads may share a repository."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._migrate()

    def add(self, transition: Transition) -> WorkItem:
        """Keeps a new item and its events."""
        item = transition.item
        with self._transaction() as connection:
            connection.execute(
                f"INSERT INTO items ({ITEM_COLUMNS}) VALUES (?, ?, ?, ?)",
                (item.tenant, item.item_id, item.title, item.created_at),
            )
            _append(connection, transition)
        return item

    def items(self, tenant: str) -> list[WorkItem]:
        """The items of a tenant, oldest first."""
        with self._transaction("DEFERRED") as connection:
            rows = connection.execute(
                f"SELECT {ITEM_COLUMNS} FROM items WHERE tenant = ? ORDER BY created_at, item_id",
                (tenant,),
            )
            return [WorkItem(*row) for row in rows]

    def events(self, tenant: str) -> list[Event]:
        """The events of a tenant in the order in which they were kept."""
        with self._transaction("DEFERRED") as connection:
            rows = connection.execute(
                "SELECT kind, tenant, item_id, key, occurred_at FROM events WHERE tenant = ? ORDER BY sequence",
                (tenant,),
            )
            return [Event(EventKind(kind), *rest) for kind, *rest in rows]

    def rename(self, tenant: str, item_id: str, title: str, now: int) -> WorkItem:
        """Gives an item of the tenant another title."""
        return self._change(tenant, item_id, lambda item: domain.rename(item, title, now))

    def _change(self, tenant: str, item_id: str, transition: Callable[[WorkItem], Transition]) -> WorkItem:
        with self._transaction() as connection:
            item = _load(connection, tenant, item_id)
            if item is None:
                raise ItemNotFound(item_id)
            changed = transition(item)
            if changed.events:
                _store(connection, changed.item)
                _append(connection, changed)
            return changed.item

    @contextmanager
    def _transaction(self, mode: str = "IMMEDIATE") -> Iterator[sqlite3.Connection]:
        # IMMEDIATE takes the write lock at once: what a change has read cannot be changed by another before it writes.
        with closing(sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None)) as connection:
            connection.execute(f"BEGIN {mode}")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def _migrate(self) -> None:
        with self._transaction() as connection:
            (applied,) = connection.execute("PRAGMA user_version").fetchone()
            if applied > len(MIGRATIONS):
                raise RuntimeError("the database was written by a later version of Workboard")
            for migration in MIGRATIONS[applied:]:
                for statement in migration.split(";"):
                    connection.execute(statement)
            if applied < len(MIGRATIONS):
                connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def _load(connection: sqlite3.Connection, tenant: str, item_id: str) -> WorkItem | None:
    row = connection.execute(
        f"SELECT {ITEM_COLUMNS} FROM items WHERE tenant = ? AND item_id = ?",
        (tenant, item_id),
    ).fetchone()
    return WorkItem(*row) if row else None


def _store(connection: sqlite3.Connection, item: WorkItem) -> None:
    connection.execute(
        "UPDATE items SET title = ? WHERE tenant = ? AND item_id = ?",
        (item.title, item.tenant, item.item_id),
    )


def _append(connection: sqlite3.Connection, transition: Transition) -> None:
    connection.executemany(
        "INSERT INTO events (tenant, item_id, kind, key, occurred_at) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (tenant, key) DO NOTHING",
        [(e.tenant, e.item_id, e.kind.value, e.key, e.occurred_at) for e in transition.events],
    )
