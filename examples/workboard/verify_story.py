"""Plays the story of this folder for real: applies every patch to a copy of the base and runs the gates after each.

Usage: python3 verify_story.py. It needs git and Python 3.9 or later. Exit status 0: everything came out as written in
STORY and in the checks below it. 1: something did not, and is named.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
UNIT, TENANT, BUILD = GATES = ("unit.todo-idempotency", "tenant-integration", "clean-build")
GATE_SECONDS = 60
DRILL_SECONDS = 2
CHANGED_FILES = 12


class Red(NamedTuple):
    """A gate that fails, with this kind of error and these words."""

    error: str
    words: str


GREEN = None
NO_DOMAIN = Red("NotImplementedError", "the feature is absent: workboard.domain has no transition `complete`")
NO_API = Red("NotImplementedError", "the feature is absent: the API does not answer to POST /api/items/{item}/complete")
DUPLICATE = Red("AssertionError", "1 != 2 : duplicate completion event")
FOREIGN = Red("AssertionError", "404 != 200 : southgate completed an item of northstar")
ENDED = Red("NoAnswer", "the application ended with status 0 before it answered")

# Each patch in its order, and what unit.todo-idempotency, tenant-integration and clean-build say after it.
STORY: tuple[tuple[str, tuple[Red | None, ...]], ...] = (
    ("rev-0", (NO_DOMAIN, NO_API, GREEN)),
    ("10-complete-domain", (DUPLICATE, NO_API, GREEN)),
    ("20-fix-idempotency", (GREEN, NO_API, GREEN)),
    ("30-tenant-scoped-api", (GREEN, GREEN, GREEN)),
    ("40-complete-controls", (GREEN, GREEN, GREEN)),
    ("50-persist-visible", (GREEN, GREEN, GREEN)),
)
STEPS = tuple(name for name, _ in STORY)
# The rejected tries: to which steps each applies, and the rule of the blueprint that its paths break.
REJECTED = {
    "edit-protected-test": (STEPS, "protected"),
    "delete-assertion": (STEPS, None),
    "add-skip": (STEPS, None),
    "leave-scope-notification": (STEPS, "out of scope"),
    "leave-scope-deployment": (STEPS, "out of scope"),
    "add-dependency": (STEPS, None),
    "widen-tenant": (STEPS[STEPS.index("30-tenant-scoped-api"):], None),
    "exit-early": (STEPS[:1], None),
    "replace-test-runner": (STEPS[:1], None),
}
# Those of them that attack the process which decides, what the two protected gates say of each, and whether the build,
# which believes the project's own tests, passes.
ATTACKS = {"exit-early": (ENDED, ENDED, False), "replace-test-runner": (NO_DOMAIN, NO_API, True)}
# A test of the feature as one would write it without a thought of attacks: in the process of the code under test.
IN_ONE_PROCESS = """
import unittest
from workboard import domain

class Complete(unittest.TestCase):
    def test_complete(self):
        domain.complete(domain.create("northstar", "item-1", "Order lamps", 1000).item, 2000)

unittest.main()
"""


class Unexpected(Exception):
    """Something did not come out as written."""


class Outcome(NamedTuple):
    """What a gate said: its exit status, its words and how long it took."""

    status: int
    words: str
    seconds: float

    def fingerprint(self) -> tuple[str, str]:
        """The error type and the location of the first failure."""
        failure = self.words.split("=" * 70)[1]
        place = re.findall(r'^  File ".*/(tests/.+)", line (\d+), in (\w+)$', failure, re.MULTILINE)[-1]
        return re.findall(r"^(\w+)(?:: .*)?$", failure.split("\n  File ")[-1], re.MULTILINE)[-1], ":".join(place)


class Gate(NamedTuple):
    """A named command of the catalog."""

    argv: list[str]
    environment: dict[str, str]

    def command(self) -> list[str]:
        """The command with this very Python in the place of the image's."""
        return [sys.executable if word == "python3" else word for word in self.argv]

    def run(self, tree: Path) -> Outcome:
        """Runs the command on a tree, as the catalog has it, but without its sandbox."""
        started = time.monotonic()
        done = subprocess.run(
            self.command(), cwd=tree, env=self.variables(), capture_output=True, text=True, timeout=GATE_SECONDS
        )
        return Outcome(done.returncode, done.stdout + done.stderr, time.monotonic() - started)

    def variables(self) -> dict[str, str]:
        """The catalog's environment, with the fixture where it lies outside of a sandbox."""
        here = {"WORKBOARD_SEED": str(HERE / "base" / "fixtures" / "seed.json")}
        return {name: here.get(name, value) for name, value in self.environment.items()}


def read_catalog() -> dict[str, Gate]:
    """Reads the part of the catalog that this script needs; no library here reads YAML."""
    gates = {}
    for entry in re.split(r"^    - id: ", (HERE / "ambit" / "named-commands.yaml").read_text(), flags=re.MULTILINE)[1:]:
        (argv,) = re.findall(r"^      argv: \[(.*)\]$", entry, re.MULTILINE)
        pairs = re.findall(r'^        ([A-Z_]+): "?([^"\n]*)"?$', entry, re.MULTILINE)
        gates[entry.split("\n", 1)[0]] = Gate(argv.split(", "), dict(pairs))
    expect(tuple(gates) == GATES, f"the catalog holds {tuple(gates)}")
    return gates


def expect(held: bool, otherwise: str) -> None:
    """Raises Unexpected where something does not hold."""
    if not held:
        raise Unexpected(otherwise)


def expect_outcome(where: str, gate: str, outcome: Outcome, wanted: Red | None) -> None:
    """Compares what a gate said with what it must say."""
    told = f"{where}: {gate} ended with status {outcome.status}:\n{outcome.words}"
    if wanted is GREEN:
        expect(outcome.status == 0, told)
        return
    expect(outcome.status != 0 and f"{wanted.error}: {wanted.words}" in outcome.words, told)
    expect(outcome.fingerprint()[0] == wanted.error, told)


def patch_path(name: str) -> Path:
    return HERE / "patches" / f"{name}.patch"


def apply(name: str, tree: Path) -> None:
    """Applies a patch with git, and checks that it is exact: each file had and has the content that the patch names."""
    changes = re.findall(
        r"^diff --git a/(.+) b/\1\n(?:(?:new|deleted) file mode .+\n)?index (\w+)\.\.(\w+)",
        patch_path(name).read_text(),
        re.MULTILINE,
    )
    expect(bool(changes), f"{name} changes nothing")
    for path, before, _ in changes:
        expect(blob(tree / path).startswith(before), f"{name} is not made for this {path}")
    # Outside of any repository, so that no configuration or index takes part.
    done = subprocess.run(
        ["git", "apply", "--whitespace=error-all", str(patch_path(name))],
        cwd=tree,
        env={"PATH": os.environ["PATH"], "GIT_CEILING_DIRECTORIES": str(tree.parent), "GIT_CONFIG_GLOBAL": os.devnull},
        capture_output=True,
        text=True,
    )
    expect(done.returncode == 0, f"{name} does not apply: {done.stderr}")
    for path, _, after in changes:
        expect(blob(tree / path).startswith(after), f"{name} leaves another {path} than it says")


def blob(path: Path) -> str:
    """The id that git gives to a file's content; zeros where there is no file."""
    if not path.exists():
        return "0" * 40
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def copy(tree: Path, to: Path) -> Path:
    """A copy of a tree without what running it has left there."""
    return shutil.copytree(tree, to, ignore=shutil.ignore_patterns("build", "__pycache__", "*.sqlite"))


def contents(tree: Path) -> dict[str, bytes]:
    return {path.relative_to(tree).as_posix(): path.read_bytes() for path in sorted(tree.rglob("*")) if path.is_file()}


def touched(name: str) -> list[str]:
    return re.findall(r"^diff --git a/(.+) b/", patch_path(name).read_text(), re.MULTILINE)


def patterns(key: str) -> list[str]:
    """The path patterns that stand in the blueprint under `key`."""
    blueprint = (HERE / "ambit" / "bp-1.yaml").read_text()
    (block,) = re.findall(rf"^  {key}:\n    paths:\n((?:      .*\n)+)", blueprint, re.MULTILINE)
    return [text.strip('"') for text in re.findall(r"^      - (.*)$", block, re.MULTILINE)]


def matches(path: str, pattern: str) -> bool:
    wild = {"**": ".*", "*": "[^/]*"}
    parts = re.split(r"(\*\*|\*)", pattern)
    return re.fullmatch("".join(wild.get(part, re.escape(part)) for part in parts), path) is not None


def broken_rule(name: str) -> str | None:
    """The rule that the paths of a patch break."""
    for rule, key, wrong in (("protected", "protectedOracles", True), ("out of scope", "scope", False)):
        if any(any(matches(path, pattern) for pattern in patterns(key)) is wrong for path in touched(name)):
            return rule
    return None


def play(gates: dict[str, Gate], folder: Path) -> dict[str, Path]:
    """Plays the story; returns the tree after each step."""
    trees: dict[str, Path] = {}
    prints = {}
    tree = HERE / "base"
    for name, wanted in STORY:
        tree = trees[name] = copy(tree, folder / name)
        if name != STORY[0][0]:
            apply(name, tree)
            expect(broken_rule(name) is None, f"{name} is {broken_rule(name)}")
        shown = []
        for gate, red in zip(GATES, wanted):
            outcome = gates[gate].run(copy(tree, folder / f"{name}.{gate}"))
            expect_outcome(name, gate, outcome, red)
            prints[name, gate] = outcome.fingerprint() if red else None
            shown.append(f"{'fails' if red else 'passes'} {outcome.seconds:4.2f} s")
        print(f"{name:<22}" + "".join(f"{text:<24}" for text in shown))
    expect(
        prints["rev-0", UNIT] != prints["10-complete-domain", UNIT],
        f"the duplicate event has the fingerprint of the absent feature: {prints['rev-0', UNIT]}",
    )
    files = {path for name, _ in STORY[1:] for path in touched(name)}
    expect(len(files) <= CHANGED_FILES, f"the story changes {len(files)} files")
    return trees


def check_without_bug(gates: dict[str, Gate], folder: Path, trees: dict[str, Path]) -> None:
    """Without the bug there is no first failure, so whoever tells the story must notice."""
    tree = copy(trees["rev-0"], folder / "correct")
    apply("10-complete-domain-correct", tree)
    expect(contents(tree) == contents(trees["20-fix-idempotency"]), "10-complete-domain-correct is not 10 and 20 in one")
    expect_outcome("10-complete-domain-correct", UNIT, gates[UNIT].run(tree), GREEN)


def check_rejected(gates: dict[str, Gate], folder: Path, trees: dict[str, Path]) -> None:
    """Every rejected try applies where it is proposed, so that only its content can be the reason to reject it."""
    on_disk = {path.stem for path in (HERE / "patches" / "bad").iterdir()}
    expect(on_disk == set(REJECTED), f"rejected tries on disk: {sorted(on_disk)}")
    for name, (steps, rule) in REJECTED.items():
        expect(broken_rule(f"bad/{name}") == rule, f"bad/{name} is {broken_rule(f'bad/{name}')}, not {rule}")
        for step in steps:
            apply(f"bad/{name}", copy(trees[step], folder / f"{name}.{step}"))
    # What the guard stands against: with the edited test, the duplicate event goes unseen.
    edited = folder / "edit-protected-test.10-complete-domain"
    expect_outcome("bad/edit-protected-test", UNIT, gates[UNIT].run(edited), GREEN)
    widened = folder / "widen-tenant.30-tenant-scoped-api"
    expect_outcome("bad/widen-tenant", TENANT, gates[TENANT].run(widened), FOREIGN)


def check_attacks(gates: dict[str, Gate], folder: Path, trees: dict[str, Path]) -> None:
    """What ends or rules the process that it is loaded into makes a test there pass, and neither of the gates."""
    alone = Gate(["python3", "-B", "-c", IN_ONE_PROCESS], {"PATH": os.environ["PATH"]})
    honest = alone.run(copy(trees[STEPS[0]], folder / "without-attack"))
    expect(honest.status == 1 and "AttributeError" in honest.words, f"without an attack: {honest.words}")
    for name, (*wanted, builds) in ATTACKS.items():
        tree = folder / f"{name}.{STEPS[0]}"
        expect_outcome(f"bad/{name}", "a test in one process", alone.run(tree), GREEN)
        for gate, red in zip((UNIT, TENANT), wanted):
            expect_outcome(f"bad/{name}", gate, gates[gate].run(tree), red)
        built = gates[BUILD].run(tree)
        expect((built.status == 0) is builds, f"bad/{name}: {BUILD} ended with status {built.status}:\n{built.words}")


def check_build(gates: dict[str, Gate], folder: Path, trees: dict[str, Path]) -> None:
    """Equal sources give an equal archive, wherever and whenever, and the build leaves nothing else behind."""
    archives = []
    for number in (1, 2):
        tree = copy(trees["50-persist-visible"], folder / f"build-{number}" / ("x" * number))
        for path in tree.rglob("*"):
            os.utime(path, (number * 1_000_000_000,) * 2)
        before = contents(tree)
        expect_outcome("build", BUILD, gates[BUILD].run(tree), GREEN)
        after = contents(tree)
        archives.append(after.pop("build/workboard.pyz"))
        expect(before == after, f"the build leaves {sorted(set(after) - set(before))}")
    expect(archives[0] == archives[1], "two builds of equal sources differ")


def check_drill(gates: dict[str, Gate], folder: Path, trees: dict[str, Path]) -> None:
    """The drill keeps a gate busy, with a child process, until somebody ends it."""
    tree = copy(trees["rev-0"], folder / "drill")
    apply("drill/wait-on-child", tree)
    gate = gates[UNIT]
    busy = subprocess.Popen(
        gate.command(),
        cwd=tree,
        env=gate.variables(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        status = busy.wait(DRILL_SECONDS)
    except subprocess.TimeoutExpired:
        return
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(busy.pid, signal.SIGKILL)
        busy.wait()
    raise Unexpected(f"the drill ended by itself with status {status}")


def main() -> int:
    try:
        gates = read_catalog()
        print(f"{'after':<22}" + "".join(f"{gate:<24}" for gate in GATES))
        with tempfile.TemporaryDirectory() as folder:
            trees = play(gates, Path(folder))
            for check in (check_without_bug, check_rejected, check_attacks, check_build, check_drill):
                check(gates, Path(folder), trees)
                print(f"{check.__name__.replace('_', ' ')}: holds")
    except Unexpected as unexpected:
        print(f"the story does not hold: {unexpected}", file=sys.stderr)
        return 1
    print("the story holds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
