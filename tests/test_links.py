"""Bodies: tensors whose halves differ."""

import re

import numpy as np
import pytest
import sympy

from dynlib import lagrange, newton_euler, robotfile, structure
from dynlib.model import Body, Link, Robot
from dynlib.model.links import mean_of_halves
from tests.arms import pinocchio_torques

STATE = [0.3, -0.7], [1.1, -0.6], [2.0, 1.5]
PUBLISHED = [[0.02796, -0.0001, -0.0072], [-0.0001, 0.47558, 0.00003], [-0.0072, -0.00001, 0.47635]]
"""The upper arm of a UR16 in a controller's file: https://github.com/ros-industrial/universal_robot/issues/504."""
MEAN = [[0.02796, -0.0001, -0.0072], [-0.0001, 0.47558, 0.00001], [-0.0072, 0.00001, 0.47635]]
TORQUES = {"modified": [38.5658547546, 29.1773861889], "standard": [19.2727631298, 37.2395759882]}
ARM = """convention = "modified"
gravity = [0, 0, -9.81]
allow_impossible = true
[[link]]
d = 0.2
alpha = 0.4
mass = 3
com = [0.1, 0.02, 0.05]
inertia = [[0.03, 0.001, 0.002], [0.001, 0.04, 0.003], [0.002, 0.003, 0.05]]
[[link]]
a = 0.4
alpha = 1.1
mass = 10.45
com = [0.302, 0, 0.16]
inertia = [[0.02796, -0.0001, -0.0072], [-0.0001, 0.47558, 0.00003], [-0.0072, -0.00001, 0.47635]]
"""


def by_file(convention: str) -> Robot:
    return robotfile.loads(ARM.replace("modified", convention), "arm.toml")


def by_rows(convention: str) -> Robot:
    first = dict(d=0.2, alpha=0.4, mass=3, com=[0.1, 0.02, 0.05],
                 inertia=[[0.03, 0.001, 0.002], [0.001, 0.04, 0.003], [0.002, 0.003, 0.05]])  # fmt: skip
    last = dict(a=0.4, alpha=1.1, mass=10.45, com=[0.302, 0, 0.16], inertia=PUBLISHED)
    return Robot.from_dh([first, last], convention=convention, gravity=[0, 0, -9.81], allow_impossible=True)


@pytest.mark.parametrize("convention", TORQUES)
@pytest.mark.parametrize("read", [by_file, by_rows])
def test_of_a_published_tensor_with_unequal_halves_the_mean_is_taken_by_every_route(read, convention):
    with pytest.warns(UserWarning, match="Iyz = 3e-05 but Izy = -1e-05; the mean of both halves is taken") as seen:
        arm = read(convention)
    assert len(seen) == 1
    assert seen[0].filename == __file__
    right = TORQUES[convention]
    assert newton_euler.inverse_dynamics(arm, *STATE) == pytest.approx(right, abs=1e-10)
    assert lagrange.torques(arm, *STATE) == pytest.approx(right, abs=1e-10)
    assert structure.regressor(arm, *STATE) @ structure.parameters(arm) == pytest.approx(right, abs=1e-10)
    assert pinocchio_torques(arm, *map(np.array, STATE)) == pytest.approx(right, abs=1e-10)
    M = structure.mass_matrix(arm, STATE[0])
    assert abs(M - M.T).max() < 1e-15
    exact = arm.exact()
    assert newton_euler.inverse_dynamics(exact.subs({}), *STATE) == pytest.approx(right, abs=1e-10)
    assert arm.links[1].body.faults == ()


def test_the_note_of_a_file_names_the_line_and_says_what_is_done():
    note = (
        "arm.toml, line 15: link 2: no real body has these data: the inertia is not symmetric, "
        "Iyz = 3e-05 but Izy = -1e-05; the mean of both halves is taken (allow_impossible = true)."
    )
    with pytest.warns(UserWarning, match=re.escape(note)):
        by_file("modified")


def test_the_note_of_a_table_names_the_row():
    with pytest.warns(
        UserWarning, match="^row 2: the inertia is not symmetric, Iyz = 3e-05 but Izy = -1e-05; the mean"
    ):
        by_rows("standard")


def test_without_leave_the_halves_are_an_error():
    with pytest.raises(
        ValueError, match=r"arm.toml, line 14: link 2:.*not symmetric, Iyz = 3e-05 but Izy.*takes the mean of"
    ):
        robotfile.loads(ARM.replace("allow_impossible = true\n", ""), "arm.toml")
    with pytest.raises(ValueError, match=r"not symmetric, Iyz = 3e-05 but Izy = -1e-05.*mean.*allow_impossible=True"):
        Body(10.45, inertia=PUBLISHED)


def test_the_mean_is_taken_before_the_axes_are_turned_and_the_point_is_moved():
    turned = ARM + 'axes = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]\ninertia_about = "origin"\n'
    turned = turned.replace("com = [0.302, 0, 0.16]", "com = [0.03, 0, 0.01]")
    with pytest.warns(UserWarning, match="the mean of both halves is taken"):
        unequal = robotfile.loads(turned)
    equal = robotfile.loads(turned.replace(", 0.00003]", ", 0.00001]").replace(", -0.00001,", ", 0.00001,"))
    assert unequal.links[1].inertia == pytest.approx(equal.links[1].inertia, abs=1e-17)


HALVES = {
    "upper half": [[0.3, 0.05, 0.04], [0, 0.32, -0.06], [0, 0, 0.41]],
    "lower half": [[0.3, 0, 0], [0.05, 0.32, 0], [0.04, -0.06, 0.41]],
    "upper half of small products": [[0.3, 1e-4, 0], [0, 0.32, -2e-5], [0, 0, 0.41]],
    "one product": [[0.3, 0, 0], [0, 0.32, 1e-5], [0, 0, 0.41]],
    "the other sign": [[0.3, 1e-4, 0], [-1e-4, 0.32, 0], [0, 0, 0.41]],
    "another number": [[0.3, 0.05, 0], [0.04, 0.32, 0], [0, 0, 0.41]],
}


@pytest.mark.parametrize("inertia", HALVES.values(), ids=HALVES)
@pytest.mark.parametrize("allow", [True, False])
def test_a_tensor_whose_halves_are_two_bodies_is_refused_whatever_is_allowed(inertia, allow):
    with pytest.raises(
        ValueError, match="the inertia is not symmetric, I.. = .* but I.. = .*; (if only one|the halves)"
    ):
        Body(3, [0.2, 0, 0.1], inertia, allow_impossible=allow)
    row = dict(mass=3, inertia=inertia)
    for convention in ("standard", "modified"):
        with pytest.raises(ValueError, match="row 1: the inertia is not symmetric"):
            Robot.from_dh([row], convention=convention, gravity=[0, 0, 0], allow_impossible=allow)
    exact = [[sympy.Rational(str(entry)) for entry in line] for line in inertia]
    with pytest.raises(ValueError, match="the inertia is not symmetric"):
        Body(sympy.Integer(3), inertia=exact, allow_impossible=allow)


def test_a_file_says_how_to_type_the_other_half():
    text = ARM.replace(str(PUBLISHED[0])[1:-1], "0.02796, -0.0001, 0").replace("[-0.0072, -0.00001,", "[-0.0072, 0,")
    advice = "type each product twice, in its row and in its column. Or name them: inertia = {xx = , "
    with pytest.raises(ValueError, match=re.escape(advice)):
        robotfile.loads(text, "arm.toml")


def test_halves_of_symbols_are_the_same_symbol():
    a, b, c = sympy.symbols("a b c")
    for allow in (True, False):
        with pytest.raises(ValueError, match="Ixy = b but Iyx = c; write the same product in both places"):
            Body(c, inertia=[[a, b, 0], [c, a, 0], [0, 0, a]], allow_impossible=allow)
        with pytest.raises(ValueError, match="Ixy = b but Iyx = 0; write the same"):
            Body(c, inertia=[[a, b, 0], [0, a, 0], [0, 0, a]], allow_impossible=allow)
    body = Body(c, inertia=[[a, b * (a + c), 0], [a * b + b * c, a, 0], [0, 0, a]])
    assert body.inertia[0, 1] == body.inertia[1, 0]


def test_rounding_of_floats_is_no_asymmetry():
    inertia = np.array([[0.3, 0.05, 0], [0.05 * (1 + 1e-12), 0.32, 0], [0, 0, 0.41]])
    body = Body(1, inertia=inertia)
    assert (body.inertia == body.inertia.T).all()
    assert mean_of_halves(inertia)[1] == ""
    exactly = sympy.Rational(1, 3)
    third = [[sympy.S.One, exactly / 100, 0], [exactly / 100 + sympy.Rational(1, 1000), 1, 0], [0, 0, 1]]
    with pytest.warns(UserWarning, match="the mean of both halves is taken"):
        assert Body(sympy.S.One, [sympy.S.Zero] * 3, third, allow_impossible=True).inertia[1, 0] == sympy.Rational(
            23, 6000
        )


def test_a_link_on_its_own_and_a_payload_take_the_mean_too():
    with pytest.warns(UserWarning, match="the mean of both halves is taken"):
        body = Body(10.45, inertia=PUBLISHED, allow_impossible=True)
    assert body.inertia.tolist() == pytest.approx(np.array(MEAN))
    arm = Robot([Link("revolute", np.eye(4), body)], gravity=[0, 0, -9.81])
    assert structure.mass_matrix(arm, [0.1])[0, 0] == pytest.approx(0.47635)
    payload = ARM[ARM.index("mass = 10.45") :]
    with pytest.warns(UserWarning, match="payload: no real body.*the mean of both halves is taken"):
        carrying = robotfile.loads(ARM[: ARM.index("[[link]]\na = 0.4")] + "[payload]\n" + payload)
    assert carrying.payload.inertia.tolist() == pytest.approx(np.array(MEAN))
