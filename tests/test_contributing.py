"""CONTRIBUTING.md, followed word by word in a copy of the course: what it leads to passes the checks that it names."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tools.files import ROOT, course_files

pytestmark = pytest.mark.slow
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


class Copy:
    """A copy of the course as it stands in this folder, with the same environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for path in course_files():
            target = folder / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)

    def run(self, *arguments: str) -> str:
        """Run Python there; return what it prints, and fail if it is not content."""
        environment = os.environ | {"PYTHONPATH": str(self.folder)}
        done = subprocess.run(
            [sys.executable, *arguments], cwd=self.folder, env=environment, capture_output=True, encoding="utf-8"
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
        return done.stdout + done.stderr

    def test(self, *arguments: str) -> str:
        return self.run("-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", "-p", "no:cacheprovider", *arguments)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def add(self, name: str, text: str) -> None:
        """Add to the end of a file."""
        self.write(name, (self.folder / name).read_text(encoding="utf-8") + text)

    def replace(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {name}"
        self.write(name, text.replace(old, new))


@pytest.fixture
def course(tmp_path):
    return Copy(tmp_path)


def section(title: str) -> str:
    """Return a section of the page."""
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, flags=re.DOTALL | re.MULTILINE)[1]


def shown(title: str, language: str) -> str:
    """Return the example of a section in a language."""
    return textwrap.dedent(re.search(rf" *```{language}\n(.*?) *```", section(title), flags=re.DOTALL)[1])


ROBOTS = {
    "my_arm": (shown("Add a robot", "toml"), shown("Add a robot", "python")),
    "loaded": (
        """\
source = "own drawing"
convention = "modified"
gravity = [0, 0, -9.81]

[[link]]
mass = 1

[[link]]
alpha = "90deg"
mass = 2

[payload]
mass = 1.5
com = [0.1, 0, 0]
""",
        """
def test_loaded_holds_its_load():
    assert check.same(gravity_torques("loaded", [0, 0]), [0, 1.5 * G * 0.1])
""",
    ),
    # the first of the catalogue by the alphabet, standard, with friction, without a name and with hardly a comment
    "abb_small": (
        """\
source = "ABB"
convention = "standard"
gravity = [0, 0, -9.81]

[[link]]
d = 0.3
alpha = 1.5708
mass = 4.2
inertia = {xx = 0.02, yy = 0.02, zz = 0.01, xy = 0.001}
motor = {inertia = 1e-4, gear = 50, coulomb = 0.3}

[[link]]
a = 0.27
mass = 3.1
com = [-0.135, 0, 0]

[[link]]
joint = "prismatic"
mass = 1.05
""",
        """
def test_abb_small_stretched_out():
    assert gravity_torques("abb_small", [0.3, 0, 0.1])[1] == pytest.approx(3.1 * G * 0.135 + 1.05 * G * 0.27)
""",
    ),
    "tilted_wrist": (
        """\
# A wrist whose axes stand at 40 degrees to each other. Poses from a drawing; on the Moon.
source = "Own drawing, sheet 3, of May 2024; masses weighed"
convention = "poses"
gravity = [0, 0, -1.62]

[[link]]
pose = {position = [0, 0, 0.2], rpy = [0, 0, 0]}
mass = 1.5

[[link]]
pose = {position = [0.1, 0, 0], rpy = ["40deg", 0, 0.3]}
axis = [0, 1, 0]
mass = 0.4
com = [0, 0, 0.1]
""",
        """
def test_tilted_wrist_carries_its_weight():
    assert abs(gravity_torques("tilted_wrist", [0.3, 0])[1]) < 0.4 * 1.62 * 0.1
""",
    ),
    "letters": (
        """\
source = "https://example.org/robots (visited in June), table 2"
convention = "modified"
gravity = ["g", 0, 0]

[[link]]
mass = "m"
com = ["l", 0, 0]
inertia = [0, "J", "J"]
""",
        """
def test_letters_is_a_pendulum():
    l, m, g, theta = sympy.symbols("l m g theta")
    tau = newton_euler.inverse_dynamics(robots.load("letters"), [theta], [0], [0])
    assert check.same(tau, [m * g * l * sympy.sin(theta)])
""",
    ),
    "old_paper": (
        """\
source = "Smith and Jones 1978"
convention = "modified"
gravity = [0, -9.81, 0]
allow_impossible = true

[[link]]
mass = 2
inertia = [1, 1, 3]
""",
        """
def test_old_paper_needs_nothing():
    assert check.same(gravity_torques("old_paper", [1]), [0])
""",
    ),
}


def test_a_robot_is_added_as_the_page_says(course):
    for name, (text, test) in ROBOTS.items():
        course.write(f"dynlib/robots/{name}.toml", text)
        course.add("tests/test_catalogue.py", "\n\n" + test.strip("\n") + "\n")
        printed = course.run("-m", "dynlib", "show", name)
        assert ("note: " in printed) == (name == "old_paper")
    course.run("-m", "ruff", "format", "tests/test_catalogue.py")
    course.run("-m", "ruff", "check", ".")
    course.test("tests/test_catalogue.py")
    through_all = [path for path in ROOT.glob("tests/test_*.py") if "robots.names()" in path.read_text("utf-8")]
    course.test("-k", " or ".join(["catalogue", *ROBOTS]), *(f"tests/{path.name}" for path in through_all))
    course.test("dynlib/robots", "tests/test_cli.py", "tests/test_repository.py")
    course.test("--nbval", "--nbval-current-env", "book/your_own_arm.ipynb")


def test_a_misconception_is_added_as_the_page_says(course):
    module = "dynlib/misconceptions/newton_euler.py"
    course.replace(
        module,
        "def _coriolis_missing() -> Steps:",
        """\
def _centripetal_outward() -> Steps:
    right = acceleration.com_acceleration

    def wrong(domega: Array, omega: Array, p_c: Array, dv: Array) -> Array:
        return cross(domega, p_c) - cross(omega, cross(omega, p_c)) + dv

    return replace(Steps(), com_acceleration=wrong_step(right, right.tex.replace("+", "-"), wrong))


def _coriolis_missing() -> Steps:""",
    )
    entry = '        _with_steps("coriolis_missing", _coriolis_missing),\n'
    course.replace(module, entry, '        _with_steps("centripetal_outward", _centripetal_outward),\n' + entry)
    words = '        "coriolis_missing": (\n'
    said = '"centripetal acceleration away from the axis", "A point on a turning link is accelerated towards the axis."'
    course.replace("dynlib/misconceptions/words.py", words, f'        "centripetal_outward": ({said}),\n{words}')
    line = '    ("gravity_added", None): dict(g=-G),\n'
    added = f'    ("centripetal_outward", None): dict(centripetal_c=-1),\n{line}'
    course.replace("tests/test_misconceptions.py", line, added)
    course.run("-m", "ruff", "format", "dynlib")
    course.run("-m", "tools.test", "--only", "ruff", "format", "types", "layers")
    course.test("tests/test_misconceptions.py", "tests/test_lagrange.py", "tests/test_closed_dynamics.py")
    course.test("dynlib/misconceptions", "tests/test_repository.py")
