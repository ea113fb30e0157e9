"""Renew requirements.txt: the newest packages that pyproject.toml allows, all with exact versions.

uv finds one set for every supported Python and system. A part of the set, with the same versions, becomes
binder/requirements.txt: what the notebooks need, and nothing else. Run it as `make requirements`; with `--keep` it
changes no version that pyproject.toml still allows, as after a new line there.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.files import ROOT, write_text

PINS = ROOT / "requirements.txt"
BINDER = ROOT / "binder" / "requirements.txt"
HEADER = """\
# The exact, complete set of packages that the course is tested with (Python 3.11, 3.12 and 3.13).
# Made by `make requirements` from the ranges in pyproject.toml; do not edit by hand.
"""
BINDER_HEADER = """\
# What Binder installs: the packages of requirements.txt that the notebooks and JupyterLab need, in the same versions.
# Made by `make requirements`; do not edit by hand. dynlib itself follows in postBuild: a line for it here would make
# Binder install everything anew after each change of the course.
"""
BINDER_EXTRAS = ("lab", "cli", "document")


@contextmanager
def find_uv() -> Iterator[str]:
    """Give the path of uv: the one that is there, or one that stays for this run only.

    Raises:
        SystemExit: If there is none and pip cannot install it; pip's own message has been shown.
    """
    if found := shutil.which("uv"):
        yield found
        return
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        if subprocess.run([*pip, "install", "--quiet", "--target", folder, "uv"]).returncode:
            sys.exit("uv could not be installed; the requirements are as they were.")
        yield str(Path(folder, "bin", "uv.exe" if os.name == "nt" else "uv"))


def compiled(uv: str, *options: str, pins: str) -> str:
    """Find the newest packages that fit together.

    Args:
        uv: The path of uv.
        options: Which extras of pyproject.toml are meant, and for which systems.
        pins: Lines with versions that are kept where they are allowed.

    Returns:
        A line for each package, with its version and the condition under which it is installed at all.

    Raises:
        SystemExit: If no set fits; uv's own message has been shown.
    """
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "pins.txt"
        write_text(output, pins)
        command = [uv, "pip", "compile", "--quiet", "pyproject.toml", "--python-version=3.11", "--only-binary=:all:"]
        command += ["--no-header", "--no-annotate", "--no-emit-index-url", f"--output-file={output}", *options]
        if subprocess.run(command, cwd=ROOT).returncode:
            sys.exit("uv found no set of packages; the requirements are as they were.")
        return output.read_text(encoding="utf-8")


def packages_in(text: str) -> list[str]:
    """Return the lines of a requirements.txt that name a package with its version."""
    return [line for line in text.splitlines() if "==" in line and not line.startswith("#")]


def main() -> None:
    """Renew both files."""
    parser = argparse.ArgumentParser(prog="python -m tools requirements", description="Renew requirements.txt.")
    parser.add_argument("--keep", action="store_true", help="change no version that pyproject.toml still allows")
    before = packages_in(PINS.read_text(encoding="utf-8")) if parser.parse_args().keep else []
    with find_uv() as uv:
        pins = compiled(uv, "--all-extras", "--universal", "--fork-strategy=fewest", pins="\n".join(before))
        extras = [f"--extra={extra}" for extra in BINDER_EXTRAS]
        binder = compiled(uv, *extras, "--python-platform=linux", pins=pins)
    write_text(PINS, f"{HEADER}{pins}-e .\n")
    write_text(BINDER, BINDER_HEADER + binder)
    print("requirements.txt and binder/requirements.txt are renewed; now: make test")


if __name__ == "__main__":
    main()
