"""The application's side of a protected gate: reads questions, a JSON document on each line, and answers each with one.

gate.py starts it. It shares its process with the code under test, so nobody believes it: gate.py judges its answers.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TRACEBACK_CHARACTERS = 4000


class Answers:
    """What can be asked, one method for each question. Each imports what it needs: that may fail, and is told then."""

    def has_transition(self, name: str) -> bool:
        """Whether the domain has a transition of this name."""
        from workboard import domain

        return hasattr(domain, name)

    def transition(self, name: str, arguments: list) -> dict:
        """What a transition of the domain makes of its arguments, of which an object is an item."""
        from workboard import domain

        given = [domain.WorkItem(**each) if isinstance(each, dict) else each for each in arguments]
        made = getattr(domain, name)(*given)
        return {
            "item": asdict(made.item),
            "events": [{**asdict(event), "kind": event.kind.value} for event in made.events],
        }

    def routes(self) -> list:
        """The methods and paths that the API answers to."""
        from workboard import api

        return [route[:2] for route in api.ROUTES]

    def seed(self, database: str, file: str) -> int:
        """Adds the items of a seed file to a database."""
        from workboard import seed
        from workboard.repository import Repository

        return seed.load(file, Repository(database))

    def open(self, database: str) -> None:
        """Starts the API on a database."""
        from workboard.api import Application
        from workboard.repository import Repository

        self._application = Application(Repository(database), lambda: self._now, lambda: "item-new")

    def request(self, method: str, path: str, tenant: str | None, body: str, now: int) -> list:
        """The API's response to a request at a time: its status and its document."""
        from workboard.api import Request

        self._now = now
        response = self._application.handle(Request(method, path, tenant, body.encode()))
        return [response.status, response.document]


def answer(answers: Answers, question: dict) -> str:
    """The answer to one question, as JSON."""
    try:
        return json.dumps({"value": getattr(answers, question.pop("ask"))(**question)})
    except BaseException as raised:
        told = traceback.format_exc()[-TRACEBACK_CHARACTERS:]
        return json.dumps({"raised": type(raised).__name__, "traceback": told})


def main() -> None:
    """Answers until there are no more questions."""
    questions, told = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    # What the application reads and prints has nothing to do with them.
    with open(os.devnull, "r+b", buffering=0) as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(nothing.fileno(), 1)
    sys.path[0] = str(ROOT)
    answers = Answers()
    for line in questions:
        told.write(answer(answers, json.loads(line)) + "\n")
        told.flush()


if __name__ == "__main__":
    main()
