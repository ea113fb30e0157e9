"""Check everything that must hold, step by step, and sum up.

A failing step does not stop the others; the summary names the first failures of each. Two lanes of steps run side by
side, so that no core of a small machine waits; what they print comes one step after the other.
Run it as `make test` or `python -m tools test`; `--only unit notebooks` runs only the named steps, `--list` names them.
"""

import argparse
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tools import book, check_site
from tools.files import ROOT

CHECKED_SITE = ROOT / "_build" / "check"
SHOWN, NAMED, WIDTH = 10, 5, 160  # failures before pytest stops, failures that the summary names, letters of a name
WHERE = re.compile(r"E +\+ +(where|and) ")  # the parts of an assertion, often arrays: one test run alone shows them
BRIEF = ["-q", "-rN", "--tb=short", f"--maxfail={SHOWN}"]
RUFF = ["-m", "ruff", "check", "--output-format=concise", "."]
FORMAT = ["-m", "ruff", "format", "--check", "--output-format=concise", "."]
NBVAL = ["--nbval", "--nbval-current-env", "-n", "2", "--dist", "loadfile", "book"]
BINDER = "tests/test_binder.py"
PAGES = "tests/test_pages.py"
UNIT = ["-n", "2", "--dist", "worksteal", f"--ignore={BINDER}", f"--ignore={PAGES}"]
LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"


Show = Callable[[str], None]


@dataclass
class Result:
    """What a step found: how many parts passed and failed, and the first failures, one line each."""

    passed: int
    failed: int
    first: list[str] = field(default_factory=list, compare=False)


def python(show: Show, *arguments: str) -> Result:
    """Run a Python command, showing its output; count it as one."""
    good, lines = shown(show, *arguments)
    found = [line for line in lines if re.search(r"^\S+:\d+(:\d+)?: |BROKEN$", line)]
    return Result(int(good), int(not good), [] if good else found)


def pytest(show: Show, *arguments: str) -> Result:
    """Run pytest, showing its output up to a number of failures; count its tests and name those that fail."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        good, lines = shown(
            show, "-m", "pytest", *BRIEF, "-o", "junit_family=xunit1", f"--junit-xml={report}", *arguments
        )
        result = counted(next((line for line in reversed(lines) if line.strip()), ""), good)
        result.first = failures(report) if report.exists() else []
    if result.failed >= SHOWN:
        show(f"This step stops after {SHOWN} failures; there may be more.\n")
    return result


def shown(show: Show, *arguments: str) -> tuple[bool, list[str]]:
    """Run a Python command, showing its output; return whether it was content, and the lines."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    assert process.stdout
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if not WHERE.match(line):
            show(line)
    return process.wait() == 0, lines


def failures(report: Path) -> list[str]:
    """Return the failures in pytest's JUnit report, one line for each test: its name and what its message begins with.

    Broken assertions come first, and a test that fails for several parameters comes once.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        for problem in [*case.iter("failure"), *case.iter("error")]:
            message = problem.get("message", "").removeprefix("Failed: ")
            if message == "collection failure":
                message = "\n".join(re.findall(r"^E +(.*)", problem.text or "", flags=re.MULTILINE)[-1:])
            lines = [line.strip() for line in message.splitlines() if line.strip()] or [""]
            name = f"{case.get('file', '')}::{case.get('name')}".removeprefix("::")
            summary = " ".join(lines[: 2 if lines[0].endswith("Error:") else 1])
            found.setdefault(name.partition("[")[0], []).append((name, summary))
    cases = sorted(found.values(), key=lambda each: not each[0][1].startswith("assert") and "Assert" not in each[0][1])
    more = [f" and {len(each) - 1} more of its cases" if each[1:] else "" for each in cases]
    return [f"{name}{rest}: {message}" for ((name, message), *_), rest in zip(cases, more, strict=True)]


def counted(closing: str, good: bool) -> Result:
    """Read the counts from pytest's closing line, such as `= 2 failed, 3 passed in 1.2s =`."""
    numbers = {what: int(number) for number, what in re.findall(r"(\d+) (passed|failed|error)", closing)}
    failed = numbers.get("failed", 0) + numbers.get("error", 0)
    return Result(numbers.get("passed", 0), failed or int(not good))


def build_site(show: Show) -> Result:
    """Build the book from nothing, with every warning an error."""
    shutil.rmtree(CHECKED_SITE, ignore_errors=True)
    target = CHECKED_SITE.relative_to(ROOT).as_posix()
    done = book.sphinx("--path-output", target, "-W", "-n", "--keep-going", "--quiet")
    wrong = book.warnings_in(done.stdout)
    if done.returncode == 0 and not wrong:
        show("no warnings\n")
        return Result(1, 0)
    show(("\n".join(wrong) or done.stdout) + "\n")
    return Result(0, 1, wrong)


def check_links(show: Show) -> Result:
    """Check the site that `build_site` made."""
    site = CHECKED_SITE / "_build" / "html"
    problems = check_site.check(site)
    show(("\n".join(problems) or f"{len(list(site.rglob('*.html')))} pages, every link leads somewhere") + "\n")
    return Result(int(not problems), int(bool(problems)), problems)


STEPS: dict[str, tuple[str, Callable[[Show], Result]]] = {
    "ruff": ("ruff: mistakes and style", lambda show: python(show, *RUFF)),
    "format": ("ruff: layout of the code", lambda show: python(show, *FORMAT)),
    "types": ("mypy: types", lambda show: python(show, "-m", "mypy")),
    "layers": ("import-linter: the layers of dynlib", lambda show: python(show, "-c", LINT_IMPORTS, "--no-logo")),
    "notebooks": ("nbval: every output of every notebook", lambda show: pytest(show, *NBVAL)),
    "unit": ("pytest: unit tests and doctests", lambda show: pytest(show, *UNIT)),
    "build": ("jupyter-book: the site, warnings are errors", build_site),
    "links": ("links, anchors and pictures of the site", check_links),
    "pages": ("the pages in a browser", lambda show: pytest(show, PAGES)),
    "binder": ("repo2docker: what Binder would do", lambda show: pytest(show, BINDER)),
}
# Steps with two processes each, beside those that use one core; links and pages are those of the site just built.
LANES = [["notebooks", "unit"], ["ruff", "format", "types", "layers", "build", "links", "pages", "binder"]]


class Lane(threading.Thread):
    """Runs steps one after the other; `said[name]` holds what each says, then its result and its seconds."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(daemon=True)  # Ctrl+C ends it
        self.said: dict[str, queue.SimpleQueue[str | tuple[Result, float]]] = {
            name: queue.SimpleQueue() for name in names
        }

    def run(self) -> None:
        """Run the steps; one that breaks off is one that failed."""
        for name, said in self.said.items():
            start = time.monotonic()
            try:
                result = STEPS[name][1](said.put)
            except Exception as error:
                said.put(f"{type(error).__name__}: {error}\n")
                result = Result(0, 1, [str(error)])
            said.put((result, time.monotonic() - start))


def main() -> int:
    """Run the steps; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools test", description="Check everything that must hold.")
    parser.add_argument("--only", nargs="+", choices=STEPS, metavar="STEP", help="run only these steps")
    parser.add_argument("--list", action="store_true", help="name the steps")
    options = parser.parse_args()
    if options.list:
        for name, (title, _) in STEPS.items():
            print(f"{name:<12}{title}")
        return 0

    chosen = options.only or list(STEPS)
    lanes = [Lane([name for name in lane if name in chosen]) for lane in LANES]
    for lane in lanes:
        lane.start()
    said = {name: each for lane in lanes for name, each in lane.said.items()}
    rows = []
    for name in [name for name in STEPS if name in chosen]:
        title = STEPS[name][0]
        print(f"\n---- {title} ".ljust(100, "-"), flush=True)
        while isinstance(what := said[name].get(), str):
            print(what, end="", flush=True)
        result, seconds = what
        rows.append((name, title, result, seconds))
        print(f"{'FAILED' if result.failed else 'ok'} ({seconds:.1f} s)", flush=True)

    print("\n---- Summary ".ljust(100, "-"))
    for name, title, result, seconds in rows:
        state = f"FAILED ({result.failed})" if result.failed else "ok"
        print(f"{name:<12}{title:<50}{state:<14}{seconds:6.1f} s")
        for line in result.first[:NAMED]:
            print(f"    {line if len(line) <= WIDTH else line[: WIDTH - 1] + '…'}")
        if len(result.first) > NAMED:
            print(f"    and {len(result.first) - NAMED} more, shown above")
    failed = sum(row[2].failed for row in rows)
    print(f"\n{sum(row[2].passed for row in rows)} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
