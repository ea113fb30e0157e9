"""Run the checks that take longer: the tests marked `slow`. Run it as `make test-slow`."""

import subprocess
import sys

import pytest

from tools.files import ROOT
from tools.test import counted


def main() -> int:
    """Run the slow tests; return the exit code."""
    command = [sys.executable, "-m", "pytest", "-m", "slow", "-n", "2"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
    print(done.stdout, end="")
    if done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED:
        print("There are no slow tests.\n\n0 passed, 0 failed")
        return 0
    result = counted(done.stdout.strip().splitlines()[-1], done.returncode == 0)
    print(f"\n{result.passed} passed, {result.failed} failed", flush=True)
    return 1 if result.failed else 0


if __name__ == "__main__":
    sys.exit(main())
