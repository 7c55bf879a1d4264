"""Decides a protected gate: runs the tests of one file in tests/protected, and ends with 0 only where all of them pass.

Usage: python3 -I -S -B tools/gate.py todo_idempotency

Whoever wants the gate to pass writes the code under test, and that code can do anything to the process that it runs
in: end it with status 0, replace the test runner, make every value equal to every other. So it never runs in this one.
It runs in a child process (answer.py) and is asked questions; what counts is the content of its answers, plain JSON.

- No module of the project gets in here, and no other process of the same user can write into this one: shield.py.
  What is executed of the project is that file, this one and the tests: all protected, and all before the code under
  test runs for the first time.
- A child that ends early, answers nothing, too much, too late or no JSON fails the test that asked.

What this cannot show: that the code was not written for exactly these questions. They are known, unlike those of a
hidden check.
"""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import time
import types
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Nothing else comes from this folder, and nothing at all once it can have been written to.
sys.path.append(str(ROOT / "tools"))
from shield import Unshielded, shield  # noqa: E402

sys.path.pop()

# For all answers together. The catalog gives the gate a few seconds more, so that the reason still gets out.
GATE_SECONDS = 15
ANSWER_BYTES = 65536
NAME_CHARACTERS = 64
ENDING_SECONDS = 1

_deadline = time.monotonic() + GATE_SECONDS


class NoAnswer(Exception):
    """The application did not answer as it must. The message says in which way."""


def value(line: bytes) -> object:
    """The value that an answer gives, or the exception that it tells of."""
    try:
        answer = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        answer = None
    if isinstance(answer, dict) and answer.keys() == {"value"}:
        return answer["value"]
    if isinstance(answer, dict) and answer.keys() == {"raised", "traceback"}:
        raise raised(str(answer["raised"]), str(answer["traceback"]))
    raise NoAnswer(f"this is no answer: {line[:80]!r}")


def raised(name: str, traceback: str) -> Exception:
    """What the application raised, under the name that it had there and with its traceback as the message."""
    named = name[:NAME_CHARACTERS] if name.isidentifier() else "Exception"
    # The mark before each line keeps it from being taken for what this process says.
    told = "".join(f"\n    | {line}" for line in traceback.splitlines())
    return type(named, (Exception,), {"__module__": "application"})(told)


class Application:
    """The application, in a process of its own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-B", str(ROOT / "tools" / "answer.py")],
            cwd=ROOT,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        # The child has the other ends, and could fill the one pipe and empty the other between a look and a call.
        for pipe in (self._process.stdin, self._process.stdout):
            os.set_blocking(pipe.fileno(), False)

    def ask(self, question: str, **details: object) -> object:
        """The answer to a question: a value as JSON has it."""
        self._send(json.dumps({"ask": question, **details}).encode() + b"\n")
        return value(self._line())

    def end(self) -> None:
        """Ends the process, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def _send(self, line: bytes) -> None:
        try:
            sent = os.write(self._process.stdin.fileno(), line)
        except BrokenPipeError:
            raise NoAnswer(self._fate()) from None
        except BlockingIOError:
            sent = 0
        if sent != len(line):
            raise NoAnswer("the application does not read what it is asked")

    def _line(self) -> bytes:
        received = b""
        while b"\n" not in received:
            if not select.select([self._process.stdout], [], [], max(0.0, _deadline - time.monotonic()))[0]:
                raise NoAnswer(f"the application did not answer within the {GATE_SECONDS} s of the gate")
            try:
                chunk = os.read(self._process.stdout.fileno(), ANSWER_BYTES)
            except BlockingIOError:
                continue
            if not chunk:
                raise NoAnswer(self._fate())
            received += chunk
            if len(received) > ANSWER_BYTES:
                raise NoAnswer(f"the application answered with more than {ANSWER_BYTES} bytes")
        line, _, more = received.partition(b"\n")
        if more:
            raise NoAnswer("the application answered a question more than once")
        return line

    def _fate(self) -> str:
        try:
            return f"the application ended with status {self._process.wait(ENDING_SECONDS)} before it answered"
        except subprocess.TimeoutExpired:
            return "the application closed its end before it answered"


def load(name: str) -> types.ModuleType:
    """The tests of that name, compiled from their source: bytecode beside it is not looked at."""
    path = ROOT / "tests" / "protected" / f"test_{name}.py"
    module = types.ModuleType(f"tests.protected.test_{name}")
    module.__file__ = str(path)
    # Tests have what they need of this file by its name.
    sys.modules["gate"] = sys.modules[__name__]
    sys.modules[module.__name__] = module
    exec(compile(path.read_bytes(), str(path), "exec"), vars(module))
    return module


def main(arguments: list[str]) -> int:
    """Runs the tests of one gate. Status 0: every one ran and passed. 1: not so. 2: nothing could be decided."""
    if len(arguments) != 1 or not re.fullmatch(r"[a-z_]+", arguments[0]):
        print("usage: python3 -I -S -B tools/gate.py NAME", file=sys.stderr)
        return 2
    try:
        shield()
    except Unshielded as unshielded:
        print(f"the gate cannot decide: {unshielded}", file=sys.stderr)
        return 2
    tests = unittest.defaultTestLoader.loadTestsFromModule(load(arguments[0]))
    wanted = tests.countTestCases()
    result = unittest.TextTestRunner(verbosity=2).run(tests)
    passed = result.wasSuccessful() and not result.skipped and not result.expectedFailures
    return 0 if passed and result.testsRun == wanted > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
