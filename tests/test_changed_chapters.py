"""What the chapters invite their readers to change can be changed: the checks follow, and no cell fails."""

import re
import shutil

import nbformat
import pytest
from cells import errors_of

from dynlib import robotfile
from tools.files import ROOT

BOOK = ROOT / "book"
SIZES = "L1=0.8, L2=0.6, m1=3, m2=2, g=9.81"
OTHER = "L1=0.5, L2=0.7, m1=1.2, m2=4.1, g=1.62"
PLANAR = "l1, l2 = 0.8, 0.6"
LEGS = "masses=[[1.0, 0.8], [1.2, 0.9], [1.1, 0.7]], l_pc=0.15, m_pc=0.4"
LIGHT = "masses=[[1.4, 0.6], [0.9, 1.0], [1.3, 0.5]], l_pc=0.18, m_pc=0.3"

CHANGES = [  # chapter, the cell that is edited, what stands there, what a reader writes in its place
    ("frames", "frames-05", '"h": 0.5, "a": 0.2, "b": 0.25', '"h": 0.9, "a": 0.3, "b": 0.1'),
    ("frames", "frames-50", "[0.6 + 0.8 * np.sin(t)", "[0.2 + 0.5 * np.sin(t)"),
    ("velocity", "velocity-02", PLANAR, "l1, l2 = 0.5, 0.7"),
    ("velocity", "velocity-05", "in (90, 1)", "in (60, 2)"),
    ("velocity", "velocity-05", "inward = 0.1", "inward = 0.25"),
    ("velocity", "velocity-18", "[0.5, 1.0], [2.0, 0.0]", "[-0.4, 2.0], [1.5, 0.7]"),
    ("velocity", "velocity-29", '"h": 0.5, "a": 0.2, "b": 0.25', '"h": 0.9, "a": 0.3, "b": 0.1'),
    ("velocity", "velocity-29", "[0.0, 0.0, 0.6], [1.0, 0.0, -0.5]", "[0.0, 0.0, 0.9], [2.0, 0.0, 0.3]"),
    ("velocity", "velocity-44", "[0.5, 1.0], [2.0, -3.0]", "[0.1, -0.8], [1.0, 4.0]"),
    ("acceleration", "acceleration-02", "m1=1, m2=1.5", "m1=2, m2=4.0"),
    ("acceleration", "acceleration-02", "[0, 0.4], [3, 0.5]", "[0.5, 0.7], [-2, 0.2]"),
    ("acceleration", "acceleration-34", SIZES, OTHER),
    ("acceleration", "acceleration-34", "[0, 1.0, 0]", "[0.5, 2.0, 0]"),
    ("acceleration", "acceleration-36", "1.5], domega=[0, 0, 0.7]", "-2.5], domega=[0, 0, 0.2]"),
    ("newton_euler", "newton-euler-02", SIZES, OTHER),
    ("newton_euler", "newton-euler-04", "in (0, 4)", "in (0, -7)"),
    ("newton_euler", "newton-euler-93", "[0.2, 1.0]", "[-0.5, 2.0]"),
    ("newton_euler_spatial", "newton-euler-spatial-03", "[0, 45, 180, 0, 45, 0]", "[10, 30, 150, 20, 60, 0]"),
    ("newton_euler_spatial", "newton-euler-spatial-19", PLANAR, "l1, l2 = 0.5, 0.7"),
    ("newton_euler_spatial", "newton-euler-spatial-19", "= 0.01, 5, 0.02, 0.3", "= 0.02, 8, 0.01, 0.2"),
    ("newton_euler_spatial", "newton-euler-spatial-19b", "[0.5, 1.0], [2.0, -3.0]", "[0.1, 2.0], [-1.0, 3.0]"),
    (
        "newton_euler_spatial",
        "newton-euler-spatial-19b",
        "[1.5, 2.5, 0], moment=[0, 0, 0.7]",
        "[5, 1, 0], moment=[0, 0, -2]",
    ),
    ("newton_euler_spatial", "newton-euler-spatial-28", "2.5, [0.02, 0, 0.1]", "1.0, [0.0, 0.1, 0.2]"),
    ("lagrange", "lagrange-02", "L1=0.8, L2=0.6, m1=3, m2=2, g=0", "L1=0.5, L2=0.7, m1=1.2, m2=4.1, g=0"),
    ("lagrange", "lagrange-52", SIZES, OTHER),
    ("lagrange", "lagrange-52", "[[0.5, 1.0], [2.0, -3.0]", "[[-0.2, 2.0], [1.0, 4.0]"),
    ("structure", "structure-02", SIZES, OTHER),
    ("structure", "structure-39", "[0.5, 1.0], [2.0, -3.0], [1.0, 0.5]", "[0.1, 2.0], [-1.0, 3.0], [0.2, 4.0]"),
    ("structure", "structure-59", "(3.2, 0.45, 0.04, 0.15)", "(5.0, 0.3, 0.1, 0.3)"),
    ("motion", "motion-02", "0.8, 0.6, 3, 2, 9.81", "0.5, 0.7, 1.2, 4.1, 9.81"),
    ("motion", "motion-31", "length = 0.5", "length = 0.9"),
    ("closed_chains", "854d902a", LEGS, LIGHT),
    ("closed_chains", "854d902a", "[0.7, 0], [0.3, 0.7]]", "[0.71, 0], [0.3, 0.71]]"),
    ("closed_chains", "854d902a", "[[0.4, 0.38], [0.3, 0.36]", "[[0.42, 0.39], [0.31, 0.36]"),
    ("closed_chains", "64270950", "[2.4, -2.6]", "[2.3, -2.5]"),
    ("closed_chains_dynamics", "902d39e0", LEGS, LIGHT),
    ("closed_chains_dynamics", "902d39e0", "[0.4, 0.38]", "[0.42, 0.39]"),
    ("closed_chains_dynamics", "15f4bbc2", "[0, -50, 0]", "[0, -20, 0]"),
    ("linkages", "linkages-02", "0.04, 0.13, 0.4  #", "0.05, 0.2, 0.3  #"),
    ("linkages", "linkages-02", "[0, -9.81, 0]", "[0, -1.62, 0]"),
    ("linkages", "linkages-05", "100 * np.pi", "50 * np.pi"),
    ("linkages", "linkages-07", "0.2, 0.25, 0.3  #", "0.22, 0.26, 0.3  #"),
    ("linkages", "linkages-07", "0.6, 0.4  #", "0.3, 0.9  #"),
    ("linkages", "linkages-21", "[0, -20, 0]", "[0, -35, 0]"),
    ("linkages", "linkages-100", "push = 1000", "push = 700"),
    ("your_own_arm", "your-own-arm-06", "[0.6, 0.4, 0.2]", "[1.2, -0.7, 0.1]"),
    ("your_own_arm", "own-push", "[0, 0, -10]", "[5, -3, 2]"),
    ("your_own_arm", "own-payload", "load = 1.5", "load = 4"),
]
TWO_JOINTS = """\
convention = "standard"
gravity = [0, -9.81, 0]

[[link]]
a = 0.5
mass = 2
com = [-0.25, 0, 0]
inertia = [0.01, 0.05, 0.05]

[[link]]
a = 0.3
mass = 1
"""
CRANES = {  # the reader's own file in the place of the crane's: what is changed in it
    "other lengths": [("d = 0.8", "d = 1.1"), ("d = 0.3 ", "d = 0.5 ")],
    "other masses": [("mass = 6", "mass = 9"), ("mass = 3", "mass = 1.5"), ("mass = 1\n", "mass = 0.2\n")],
    "another inertia": [("[0.2, 0.2, 0.03]", "[0.3, 0.35, 0.1]")],
    "on the Moon": [("-9.81", "-1.62")],
    "no motor": [("motor = ", "# ")],
}


def read(chapter: str):
    return nbformat.read(BOOK / f"{chapter}.ipynb", as_version=4)


def edited(notebook, cell: str, old: str, new: str):
    """Return a notebook with a text in one cell replaced; it must stand there once."""
    (place,) = [each for each in notebook.cells if each.id == cell]
    assert place.source.count(old) == 1, f"{old!r} stands {place.source.count(old)} times in {cell}"
    place.source = place.source.replace(old, new)
    return notebook


@pytest.mark.parametrize(("chapter", "cell", "old", "new"), CHANGES)
def test_what_is_to_be_changed_is_there(chapter, cell, old, new):
    edited(read(chapter), cell, old, new)


@pytest.mark.slow
@pytest.mark.parametrize(("chapter", "cell", "old", "new"), CHANGES)
def test_a_chapter_runs_with_other_numbers(chapter, cell, old, new):
    assert errors_of(edited(read(chapter), cell, old, new), BOOK) == []


@pytest.fixture
def folder(tmp_path):
    """Return a folder like that of the book, with the robot files that stand beside the notebooks."""
    for path in BOOK.glob("*.toml"):
        shutil.copy(path, tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("changes", CRANES.values(), ids=CRANES)
def test_your_own_arm_runs_with_another_file(changes, folder):
    path = folder / "crane.toml"
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    assert errors_of(read("your_own_arm"), folder) == []


def test_the_payload_that_the_page_shows_is_read():
    (example,) = [
        each for cell in read("your_own_arm").cells for each in re.findall(r"```toml\n(.*?)```", cell.source, re.S)
    ]
    crane = robotfile.loads((BOOK / "crane.toml").read_text(encoding="utf-8") + "\n" + example)
    assert (float(crane.payload.mass), crane.payload.com.tolist()) == (1.5, [0, 0, 0.05])
