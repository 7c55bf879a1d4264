"""The clean build: compiles, runs the project's own tests, assembles build/workboard.pyz and tries it out.

Usage: python3 -I -S -B tools/build.py (from any directory). Exit status 0: the archive is built and works. Equal
sources give equal bytes. Code of the project runs in processes of its own only, so none of it can end the build early,
and only once the archive is written, which must then stay as it is.

What no author of the project can feign: that the sources compile, and that the archive holds exactly them. The tests,
the selfcheck and the routes are another matter: there the build hears what the project's processes say of themselves,
and whoever writes the application and its tests can have them say it. That finds mistakes, not malice. What must hold
against the author is asked by the gates of tests/protected.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Nothing else comes from this folder, and nothing at all once it can have been written to.
sys.path.append(str(ROOT / "tools"))
from shield import Unshielded, is_alone, shield  # noqa: E402

sys.path.pop()

ARCHIVE = ROOT / "build" / "workboard.pyz"
STEP_SECONDS = 20
MAIN = "import sys\n\nfrom workboard.server import main\n\nsys.exit(main(sys.argv[1:]))\n"
# A zip archive cannot tell an earlier time.
ENTRY_TIME = (1980, 1, 1, 0, 0, 0)
PAGE_CALL = re.compile(r"""\bcall\(\s*"([A-Z]+)",\s*(?:"([^"]+)"|`([^`]+)`)""")
PLACEHOLDER = re.compile(r"\$\{[^}]*\}|\{[^}]*\}")


class BuildFailed(Exception):
    """A step failed; the message says which and how."""


def sources() -> list[Path]:
    """Everything that goes into the archive, in its order there."""
    return sorted((ROOT / "workboard").rglob("*.py")) + [ROOT / "page" / "index.html"]


def compile_all() -> str:
    """Compiles every module, tests included, without leaving bytecode behind."""
    modules = [path for folder in ("workboard", "tests", "tools") for path in sorted((ROOT / folder).rglob("*.py"))]
    for path in modules:
        try:
            compile(path.read_bytes(), str(path.relative_to(ROOT)), "exec")
        except (SyntaxError, ValueError) as broken:
            raise BuildFailed(f"{path.relative_to(ROOT)} does not compile: {broken}") from None
    return f"{len(modules)} modules"


def run_tests() -> str:
    """Runs the project's own tests and believes what they say. The protected ones are gates of their own."""
    files = [path for folder in ("unit", "integration") for path in sorted((ROOT / "tests" / folder).glob("test_*.py"))]
    shown = run("-m", "unittest", *(f"tests.{path.parent.name}.{path.stem}" for path in files)).stderr
    ran = re.search(r"^Ran ([1-9][0-9]*) tests? in ", shown, re.MULTILINE)
    if not ran:
        raise BuildFailed("no test ran")
    return f"{ran.group(1)} tests"


def assemble() -> str:
    """Writes the archive: sorted names, one time, no compression, so that equal sources give equal bytes."""
    ARCHIVE.parent.mkdir(exist_ok=True)
    entries = [(path.relative_to(ROOT).as_posix(), path.read_bytes()) for path in sources()]
    with open(ARCHIVE, "wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for name, content in [("__main__.py", MAIN.encode())] + entries:
                entry = zipfile.ZipInfo(name, ENTRY_TIME)
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, content)
    return f"{ARCHIVE.relative_to(ROOT)}, {ARCHIVE.stat().st_size} bytes"


def try_out() -> str:
    """Runs the archive's selfcheck, and compares what the page calls with the routes that it names."""
    lines = run(str(ARCHIVE), "--selfcheck").stdout.splitlines()
    if not lines or lines[-1] != "selfcheck ok":
        raise BuildFailed("the archive ended without a word about its selfcheck")
    routes = {PLACEHOLDER.sub("{}", line[len("route "):]) for line in lines if line.startswith("route ")}
    calls = page_calls((ROOT / "page" / "index.html").read_text(encoding="utf-8"))
    unknown = sorted(calls - routes)
    if unknown:
        raise BuildFailed(f"the page calls what the API does not answer to: {', '.join(unknown)}")
    return f"{len(calls)} of {len(routes)} routes are called by the page"


def page_calls(page: str) -> set[str]:
    """The routes that the page calls. It has one way to the network, and every call there names its route."""
    found = {f"{method} {PLACEHOLDER.sub('{}', plain or template)}" for method, plain, template in PAGE_CALL.findall(page)}
    named = len(PAGE_CALL.findall(page))
    spelled = len(re.findall(r"\bcall\(", page)) - len(re.findall(r"\bfunction call\(", page))
    if named != spelled or len(re.findall(r"\bfetch\(", page)) != 1:
        raise BuildFailed("the page must reach the API through `call` alone, with the method and the path as literals")
    return found


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs Python on something of the project and shows its words where it fails."""
    try:
        done = subprocess.run(
            [sys.executable, "-B", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=STEP_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise BuildFailed(f"`{' '.join(arguments)}` did not end within {STEP_SECONDS} s") from None
    if done.returncode != 0:
        sys.stderr.write(done.stdout + done.stderr)
        raise BuildFailed(f"`{' '.join(arguments)}` ended with status {done.returncode}")
    return done


def product() -> dict[Path, bytes]:
    """The archive and what it is made of."""
    return {path: path.read_bytes() for path in [ARCHIVE, *sources()] if path.is_file()}


def perform(*steps: Callable[[], str]) -> None:
    """Performs steps in order and says what came of each."""
    for step in steps:
        try:
            print(f"{step.__name__}: {step()}", flush=True)
        except BuildFailed as failed:
            raise BuildFailed(f"{step.__name__}: FAILED: {failed}") from None


def main() -> int:
    """Makes the archive, and then lets the project's code run."""
    try:
        shield()
        perform(compile_all, assemble)
        made = product()
        perform(run_tests, try_out)
        if not is_alone():
            raise BuildFailed("the tests or the selfcheck left a process behind, which could still change the archive")
        if product() != made:
            raise BuildFailed("the tests or the selfcheck changed the archive or what it is made of")
    except Unshielded as unshielded:
        print(f"nothing can be built: {unshielded}", file=sys.stderr)
        return 2
    except BuildFailed as failed:
        print(failed, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
