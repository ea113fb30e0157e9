"""Check everything that must hold, step by step, and sum up.

A failing step does not stop the others. Run it as `make test` or `python -m tools test`;
`--only unit notebooks` runs only the named steps, `--list` names them.
"""

import argparse
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from tools import book, check_site
from tools.files import ROOT

CHECKED_SITE = ROOT / "_build" / "check"
NBVAL = ["--nbval", "--nbval-current-env", "-n", "2", "--dist", "loadfile", "book"]
BINDER = "tests/test_binder.py"
LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"


@dataclass
class Result:
    """What a step found."""

    passed: int
    failed: int


def python(*arguments: str) -> Result:
    """Run a Python command, showing its output; count pytest's tests, or else the command as one."""
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
    last = ""
    for line in process.stdout:
        print(line, end="", flush=True)
        last = line if line.strip() else last
    good = process.wait() == 0
    return counted(last, good) if "pytest" in arguments else Result(int(good), int(not good))


def counted(closing: str, good: bool) -> Result:
    """Read the counts from pytest's closing line, such as `= 2 failed, 3 passed in 1.2s =`."""
    numbers = {what: int(number) for number, what in re.findall(r"(\d+) (passed|failed|error)", closing)}
    failed = numbers.get("failed", 0) + numbers.get("error", 0)
    return Result(numbers.get("passed", 0), failed or int(not good))


def build_site() -> Result:
    """Build the book from nothing, with every warning an error."""
    shutil.rmtree(CHECKED_SITE, ignore_errors=True)
    target = CHECKED_SITE.relative_to(ROOT).as_posix()
    done = book.sphinx("--path-output", target, "-W", "-n", "--keep-going", "--quiet")
    wrong = book.warnings_in(done.stdout)
    if done.returncode == 0 and not wrong:
        print("no warnings")
        return Result(1, 0)
    print("\n".join(wrong) or done.stdout)
    return Result(0, 1)


def check_links() -> Result:
    """Check the site that `build_site` made."""
    site = CHECKED_SITE / "_build" / "html"
    problems = check_site.check(site)
    print("\n".join(problems) or f"{len(list(site.rglob('*.html')))} pages, every link leads somewhere")
    return Result(int(not problems), int(bool(problems)))


STEPS: dict[str, tuple[str, Callable[[], Result]]] = {
    "ruff": ("ruff: mistakes and style", lambda: python("-m", "ruff", "check", "--output-format=concise", ".")),
    "format": ("ruff: layout of the code", lambda: python("-m", "ruff", "format", "--check", ".")),
    "types": ("mypy: types", lambda: python("-m", "mypy")),
    "layers": ("import-linter: the layers of dynlib", lambda: python("-c", LINT_IMPORTS, "--no-logo")),
    "unit": (
        "pytest: unit tests and doctests",
        lambda: python("-m", "pytest", "-q", "-n", "2", f"--ignore={BINDER}"),
    ),
    "notebooks": ("nbval: every output of every notebook", lambda: python("-m", "pytest", "-q", *NBVAL)),
    "build": ("jupyter-book: the site, warnings are errors", build_site),
    "links": ("links, anchors and pictures of the site", check_links),
    "binder": ("repo2docker: what Binder would do", lambda: python("-m", "pytest", "-q", BINDER)),
}


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

    rows = []
    for name in options.only or STEPS:
        title, step = STEPS[name]
        print(f"\n---- {title} ".ljust(100, "-"), flush=True)
        start = time.monotonic()
        result = step()
        rows.append((name, title, result, time.monotonic() - start))
        print(f"{'FAILED' if result.failed else 'ok'} ({rows[-1][-1]:.1f} s)", flush=True)

    print("\n---- Summary ".ljust(100, "-"))
    for name, title, result, seconds in rows:
        state = f"FAILED ({result.failed})" if result.failed else "ok"
        print(f"{name:<12}{title:<50}{state:<14}{seconds:6.1f} s")
    failed = sum(row[2].failed for row in rows)
    print(f"\n{sum(row[2].passed for row in rows)} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
