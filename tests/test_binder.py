"""What Binder would do with the course: repo2docker's recipe, without docker."""

import ast
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable

import nbformat
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.files import ROOT, course_files, notebooks_in_toc
from tools.requirements import BINDER_EXTRAS, packages_in

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def recipe(tmp_path_factory):
    """Return the Dockerfile that repo2docker makes for the files of the course."""
    if sys.platform == "win32":
        pytest.skip("repo2docker does not run on Windows")
    copy = tmp_path_factory.mktemp("binder") / "course"
    for path in course_files():
        target = copy / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", "--user-id=1000", "--user-name=jovyan"]
    done = subprocess.run([*command, str(copy)], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return re.sub(r"\\\n\s*", " ", done.stdout + done.stderr)


def test_binder_uses_the_python_of_runtime_txt(recipe):
    assert "Building conda environment for python=3.11" in recipe


def test_binder_installs_the_pinned_packages_and_the_course(recipe):
    """A change of the course repeats only what comes after the copy of its files."""
    installed = recipe.index('-r "binder/requirements.txt"')
    copied = recipe.index("COPY --chown=1000:1000 src/ ${REPO_DIR}")
    assert installed < copied < recipe.index("./binder/postBuild\n")


def test_the_files_of_binder_are_where_it_looks():
    assert {path.name for path in (ROOT / "binder").iterdir()} == {"postBuild", "requirements.txt", "runtime.txt"}
    assert os.access(ROOT / "binder" / "postBuild", os.X_OK)
    assert not [name for name in (".binder", "environment.yml", "runtime.txt") if (ROOT / name).exists()]


def packages(name):
    return packages_in((ROOT / name).read_text(encoding="utf-8"))


def distributions():
    """Return the requirements of each installed package, by its name."""
    if importlib.util.find_spec("jupyterlab") is None:
        pytest.skip("JupyterLab is not installed: make env")
    found = importlib.metadata.distributions()
    return {canonicalize_name(each.metadata["Name"]): each.requires or [] for each in found}


def names(lines):
    return {canonicalize_name(line.split("==")[0]) for line in lines}


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


def test_the_pins_of_binder_are_those_of_the_course():
    pins = {line.partition(" ;")[0] for line in packages("requirements.txt")}
    assert set(packages("binder/requirements.txt")) <= pins


def test_binder_installs_what_notebooks_need_and_nothing_else():
    extras = [line for extra in BINDER_EXTRAS for line in PROJECT["optional-dependencies"][extra]]
    asked = needed([*PROJECT["dependencies"], *extras], distributions(), sys_platform="linux", os_name="posix")
    assert names(packages("binder/requirements.txt")) == asked, "run: make requirements"
    without = {"mypy", "ruff", "docker", "jupyter-repo2docker", "pin", "jupyter-book", "sphinx", "pytest", "playwright"}
    assert names(packages("binder/requirements.txt")) & without == set()


def imported(code):
    """Return the names of the packages that some code imports, wherever it does."""
    tree = ast.parse(code)
    plain = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    whole = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {name.partition(".")[0] for name in [*plain, *whole]}


def test_binder_has_every_package_that_the_chapters_and_dynlib_import():
    codes = [path.read_text(encoding="utf-8") for path in (ROOT / "dynlib").rglob("*.py")]
    for path in notebooks_in_toc():
        cells = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4).cells
        codes += [cell.source for cell in cells if cell.cell_type == "code"]
    modules = set().union(*map(imported, codes)) - sys.stdlib_module_names - {"dynlib"}
    assert {"numpy", "sympy", "typer"} <= modules
    owners = importlib.metadata.packages_distributions()
    there = names(packages("binder/requirements.txt"))
    missing = {each for each in modules if not there & {canonicalize_name(name) for name in owners[each]}}
    assert missing == set()


@pytest.mark.parametrize(
    "system",
    [
        {"sys_platform": "win32", "os_name": "nt", "platform_system": "Windows"},
        {"sys_platform": "darwin", "platform_system": "Darwin"},
        {"sys_platform": "linux", "platform_system": "Linux"},
    ],
    ids=["Windows", "macOS", "Linux"],
)
def test_the_course_pins_what_its_packages_need_on_each_system(system):
    extras = PROJECT["optional-dependencies"].values()
    asked = [*PROJECT["dependencies"], *(line for extra in extras for line in extra)]
    lines = [Requirement(line) for line in packages("requirements.txt")]
    pinned = {canonicalize_name(each.name) for each in lines if not each.marker or each.marker.evaluate(system)}
    assert needed(asked, distributions(), **system) - pinned - {"pip"} == set()


@pytest.mark.skipif(sys.platform == "win32", reason="Binder runs on Linux")
def test_the_last_step_of_binder_trusts_the_chapters_and_installs_dynlib(tmp_path):
    """Run it on a copy, with commands that only write down how they were called."""
    for path in course_files():
        if path.suffix == ".ipynb" or path.name in ("postBuild", "overrides.json"):
            target = tmp_path / "course" / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    commands = tmp_path / "commands"
    commands.mkdir()
    for name, act in {"pip": "", "jupyter": "", "python": f"echo {tmp_path}/prefix"}.items():
        (commands / name).write_text(f'#!/bin/sh\necho {name} "$@" >> {tmp_path}/calls\n{act}\n')
        (commands / name).chmod(0o755)
    environ = os.environ | {"PATH": f"{commands}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(["binder/postBuild"], cwd=tmp_path / "course", env=environ, check=True)
    calls = (tmp_path / "calls").read_text()
    assert re.search(r"^pip install .*--no-deps .*--editable \.$", calls, flags=re.MULTILINE)
    (trusted,) = re.findall(r"^jupyter trust (.*)$", calls, flags=re.MULTILINE)
    assert set(trusted.split()) == {path.relative_to(ROOT).as_posix() for path in notebooks_in_toc()}
    assert (tmp_path / "prefix" / "share" / "jupyter" / "lab" / "settings" / "overrides.json").exists()


def test_dynlib_can_be_imported_from_any_folder(tmp_path):
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    start = "import dynlib, pathlib; print(pathlib.Path(dynlib.__file__).parent)"
    done = subprocess.run(
        [sys.executable, "-c", start], cwd=tmp_path, env=environ, capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.strip() == str(ROOT / "dynlib")


def test_notebooks_can_be_opened_on_binder():
    assert importlib.util.find_spec("ipykernel")
