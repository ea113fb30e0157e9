"""What Binder would do with the course: repo2docker's recipe, without docker."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys

import pytest

from tools.files import ROOT, course_files


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
    assert re.search(r'pip install [^\n]*-r "requirements.txt"', recipe)
    copied = recipe.index("COPY --chown=1000:1000 src/ ${REPO_DIR}")
    assert copied < recipe.index('-r "requirements.txt"'), "-e . needs the whole course, copied before"


def test_no_folder_takes_the_place_of_these_files():
    assert not (ROOT / "binder").exists()
    assert not (ROOT / ".binder").exists()
    assert not (ROOT / "environment.yml").exists()


def test_dynlib_can_be_imported_from_any_folder(tmp_path):
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    start = "import dynlib, pathlib; print(pathlib.Path(dynlib.__file__).parent)"
    done = subprocess.run(
        [sys.executable, "-c", start], cwd=tmp_path, env=environ, capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.strip() == str(ROOT / "dynlib")


def test_notebooks_can_be_opened_on_binder():
    assert importlib.util.find_spec("ipykernel")
