"""Renew requirements.txt: the newest packages that pyproject.toml allows, all with exact versions.

The oldest supported Python resolves them, so that one set serves every supported Python. A part of the set, with the
same versions, becomes binder/requirements.txt: what the notebooks need, and nothing else.
"""

import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.files import ROOT, write_text

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
# Pinocchio and what only it needs have no wheels for Windows.
NOT_ON_WINDOWS = ("cmeel", "coal", "eigenpy", "libcoal", "libpinocchio", "pin")
# What some packages need on other systems than the one where this is run.
ELSEWHERE = [
    ("appnope", 'sys_platform == "darwin"', "macosx_11_0_arm64"),
    ("colorama", 'sys_platform == "win32"', "win_amd64"),
    ("pywinpty", 'sys_platform == "win32"', "win_amd64"),
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


def resolve(asked: list[str], oldest: str, folder: Path) -> list[Any]:
    """Find the newest set of packages that fits together.

    Args:
        asked: Requirements, such as `numpy>=2.0`.
        oldest: The oldest Python that the packages must run on, such as `3.11.0`.
        folder: A folder for temporary files.

    Returns:
        What pip says of each package that is needed: `name`, `version` and others.
    """
    print("Looking for the newest packages that fit together (some minutes)", flush=True)
    write_text(folder / "asked.txt", "\n".join(asked) + "\n")
    report = folder / "report.json"
    options = ["--quiet", "--dry-run", "--ignore-installed", "--only-binary=:all:", f"--python-version={oldest}"]
    options += ["--target", str(folder / "unused"), "--report", str(report)]
    pip("install", *options, "--requirement", str(folder / "asked.txt"))
    return [item["metadata"] for item in json.loads(report.read_text(encoding="utf-8"))["install"]]


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


def needed(asked: Iterable[str], requires: dict[str, list[str]], **system: str) -> set[str]:
    """Find the packages that some requirements bring with them.

    Args:
        asked: Requirements, such as `jupyterlab>=4.6`.
        requires: The requirements of each package that may be needed, by its name in small letters with hyphens.
        system: Another system than this one, as conditions name it, such as `sys_platform="win32"`.

    Returns:
        Names of packages, those of `asked` among them.

    Examples:
        >>> sorted(
        ...     needed(["a[x]"], {"a": ["b>=1", 'c; extra == "x"', 'd; extra == "y"'], "b": ["a"], "c": [], "d": []})
        ... )
        ['a', 'b', 'c']
    """
    found: set[str] = set()
    waiting = [(requirement, "") for requirement in map(Requirement, asked)]
    seen = set()
    while waiting:
        requirement, extra = waiting.pop()
        applies = requirement.marker is None or requirement.marker.evaluate({"extra": extra} | system)
        if not applies or (str(requirement), extra) in seen:
            continue
        seen.add((str(requirement), extra))
        name = canonicalize_name(requirement.name)
        found.add(name)
        waiting += [(Requirement(line), each) for line in requires.get(name, []) for each in ("", *requirement.extras)]
    return found


def binder(project: dict[str, Any], lines: list[str], requires: dict[str, list[str]]) -> str:
    """Return the text of binder/requirements.txt.

    Args:
        project: The table `[project]` of pyproject.toml.
        lines: The lines of requirements.txt for packages.
        requires: The requirements of each package, by its name in small letters with hyphens.
    """
    extras = project["optional-dependencies"]
    names = needed([*project["dependencies"], *(line for extra in BINDER_EXTRAS for line in extras[extra])], requires)
    kept = [line for line in lines if canonicalize_name(line.split("==")[0]) in names]
    return BINDER_HEADER + "\n".join([*kept, ""])


def compose(lines: list[str]) -> str:
    """Return the text of requirements.txt."""
    ordered = sorted(map(marked, lines), key=lambda line: line.split("==")[0].lower().replace("_", "-"))
    return HEADER + "\n".join([*ordered, "-e .", ""])


def packages_in(text: str) -> list[str]:
    """Return the lines of a requirements.txt that name a package with its version."""
    return [line for line in text.splitlines() if "==" in line and not line.startswith("#")]


def main() -> None:
    """Renew requirements.txt."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = project["requires-python"].removeprefix(">=")
    if f"{sys.version_info.major}.{sys.version_info.minor}" != oldest:
        sys.exit(f"Run this with the oldest supported Python: make requirements PYTHON=python{oldest}")
    asked = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = resolve(asked, f"{oldest}.0", folder)
        lines = [f"{each['name']}=={each['version']}" for each in found]
        text = compose(lines + elsewhere(folder))
    requires: dict[str, list[str]] = {canonicalize_name(each["name"]): each.get("requires_dist", []) for each in found}
    write_text(ROOT / "requirements.txt", text)
    write_text(ROOT / "binder" / "requirements.txt", binder(project, packages_in(text), requires))
    print("requirements.txt and binder/requirements.txt are renewed; now: make test")


if __name__ == "__main__":
    main()
