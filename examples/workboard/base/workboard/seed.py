"""Reads synthetic items into a board."""

from __future__ import annotations

import json

from workboard import domain
from workboard.repository import Repository


def load(path: str, repository: Repository) -> int:
    """Adds every item of the seed file that the board does not hold yet; returns how many that were."""
    with open(path, encoding="utf-8") as file:
        entries = json.load(file)["items"]
    added = 0
    for entry in entries:
        transition = domain.create(entry["tenant"], entry["id"], entry["title"], entry["createdAt"])
        if transition.item.item_id in {item.item_id for item in repository.items(transition.item.tenant)}:
            continue
        repository.add(transition)
        added += 1
    return added
