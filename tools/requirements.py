"""Renew requirements.txt: the newest packages that pyproject.toml allows, all with exact versions.

The oldest supported Python resolves them, so that one set serves every supported Python.
"""

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from tools.files import ROOT, write_text

HEADER = """\
# The exact, complete set of packages that the course is tested with (Python 3.11, 3.12 and 3.13).
# Made by `make requirements` from the ranges in pyproject.toml; do not edit by hand. Binder uses it too.
"""
# Pinocchio and what only it needs have no wheels for Windows.
NOT_ON_WINDOWS = ("cmeel", "coal", "eigenpy", "libcoal", "libpinocchio", "pin")
# What some packages need on other systems than the one where this is run.
ELSEWHERE = [
    ("appnope", 'sys_platform == "darwin"', "macosx_11_0_arm64"),
    ("colorama", 'sys_platform == "win32"', "win_amd64"),
    ("pywin32", 'sys_platform == "win32"', "win_amd64"),
]


def pip(*arguments: str) -> None:
    """Run pip.

    Raises:
        SystemExit: If pip fails; its own message has been shown.
    """
    done = subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments], cwd=ROOT)
    if done.returncode:
        sys.exit(f"pip {arguments[0]} failed; requirements.txt is as it was.")


def resolve(asked: list[str], oldest: str, folder: Path) -> list[str]:
    """Find the newest set of packages that fits together.

    Args:
        asked: Requirements, such as `numpy>=2.0`.
        oldest: The oldest Python that the packages must run on, such as `3.11.0`.
        folder: A folder for temporary files.

    Returns:
        Lines such as `numpy==2.4.6`, for all packages that are needed.
    """
    print("Looking for the newest packages that fit together (some minutes)", flush=True)
    write_text(folder / "asked.txt", "\n".join(asked) + "\n")
    report = folder / "report.json"
    options = ["--quiet", "--dry-run", "--ignore-installed", "--only-binary=:all:", f"--python-version={oldest}"]
    options += ["--target", str(folder / "unused"), "--report", str(report)]
    pip("install", *options, "--requirement", str(folder / "asked.txt"))
    found = [item["metadata"] for item in json.loads(report.read_text(encoding="utf-8"))["install"]]
    return [f"{metadata['name']}=={metadata['version']}" for metadata in found]


def elsewhere(folder: Path) -> list[str]:
    """Return the lines for packages that only other systems need."""
    lines = []
    for name, marker, platform in ELSEWHERE:
        target = folder / name
        options = ["--no-deps", "--only-binary=:all:", f"--platform={platform}", "--python-version=3.11"]
        pip("download", "--quiet", *options, "--dest", str(target), name)
        version = next(target.iterdir()).name.split("-")[1]
        lines.append(f"{name}=={version}; {marker}")
    return lines


def marked(line: str) -> str:
    """Add the condition under which a package is installed at all."""
    name = line.split("==")[0].lower()
    if ";" in line:
        return line
    if name in NOT_ON_WINDOWS or name.startswith("cmeel"):
        return f'{line}; sys_platform != "win32"'
    return line


def compose(lines: list[str]) -> str:
    """Return the text of requirements.txt."""
    ordered = sorted(map(marked, lines), key=lambda line: line.split("==")[0].lower().replace("_", "-"))
    return HEADER + "\n".join([*ordered, "-e .", ""])


def main() -> None:
    """Renew requirements.txt."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = project["requires-python"].removeprefix(">=")
    if f"{sys.version_info.major}.{sys.version_info.minor}" != oldest:
        sys.exit(f"Run this with the oldest supported Python: make requirements PYTHON=python{oldest}")
    asked = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = resolve(asked, f"{oldest}.0", folder) + elsewhere(folder)
    write_text(ROOT / "requirements.txt", compose(lines))
    print("requirements.txt is renewed; now: make test")


if __name__ == "__main__":
    main()
