"""Run the checks that take longer: the tests marked `slow`. Run it as `make test-slow`."""

import functools
import sys

from tools.test import counted, shown


def main() -> int:
    """Run the slow tests, showing their output as it comes; return the exit code."""
    good, lines = shown(functools.partial(print, end="", flush=True), "-m", "pytest", "-m", "slow", "-n", "2")
    result = counted(next((line for line in reversed(lines) if line.strip()), ""), good)
    print(f"\n{result.passed} passed, {result.failed} failed", flush=True)
    return 1 if result.failed else 0


if __name__ == "__main__":
    sys.exit(main())
