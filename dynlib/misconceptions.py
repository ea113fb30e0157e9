r"""Misconceptions: a derivation with one step, or one piece of data, read wrongly.

A wrong result is hardly ever chaos. It is the right derivation with one step replaced, so it can be computed, explained
and recognised by its number. Each entry of :data:`ALL` (the recursion) and of :data:`LAGRANGE` (Lagrange's equations)
has a name, a sentence of feedback, and the replaced step.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dynlib import acceleration, check, lagrange, newton_euler, structure, velocity
from dynlib.arrays import Array, apply, cross, transpose
from dynlib.dh import Convention, Table
from dynlib.equation import Equation, equation
from dynlib.frames import rotation
from dynlib.links import Body
from dynlib.newton_euler import Steps
from dynlib.robot import Robot
from dynlib.velocity import BaseMotion, Wrench

WORDS: dict[str, dict[str, tuple[str, str]]] = {
    "en": {
        "column_differentiated": (
            "velocity column differentiated",
            "The components of v were differentiated as if the axes stood still; the term ω × v of the turning axes is "
            "missing.",
        ),
        "axis_held_still": (
            "joint axis held still",
            "The joint axis itself turns with the link before: the term ω × θ̇ẑ of the angular acceleration is missing.",
        ),
        "centripetal_missing": (
            "centripetal term missing",
            "A point on a turning link is accelerated towards the axis: the term ω × (ω × p) is missing.",
        ),
        "coriolis_missing": (
            "Coriolis term missing",
            "A joint that slides while its link turns needs the Coriolis term 2 ω × ḋẑ.",
        ),
        "rotation_transposed": (
            "rotation used the wrong way round",
            "Going outward, vectors are turned from the axes of the parent into those of the link, by the transpose of "
            "the rotation in the transform; here it was used untransposed.",
        ),
        "gravity_added": (
            "gravity added instead of subtracted",
            "Gravity is the vector along which things fall, and the joint must hold against it: m g is subtracted.",
        ),
        "gravity_twice": (
            "gravity counted twice",
            "Gravity enters once: either as m g at every link, or as an upward acceleration of the base, not both.",
        ),
        "lever_of_force_missing": (
            "moment of the resultant force missing",
            "The balance of moments is taken about the joint, so the force at the mass centre has the lever p_c: the "
            "term p_c × F is missing.",
        ),
        "moment_about_next_joint": (
            "moment taken about the wrong point",
            "The lever of F reaches from this joint to the mass centre; here it was measured from the next joint.",
        ),
        "inertia_about_origin": (
            "inertia about the wrong point",
            "The inertia belongs about the mass centre; the value about the link's origin counts the mass twice.",
        ),
        "other_dh_convention": (
            "DH table read in the other convention",
            "The table was read as modified where it is standard, or the other way round: the same numbers mean "
            "another arm.",
        ),
        "load_reversed": (
            "load with the wrong sense",
            "The load is what the surroundings put on the arm; what the arm puts on them is the opposite.",
        ),
        "wave_not_differentiated": (
            "derivative of the cosine missing",
            "A momentum changes with time through the coordinates as well: cos θ₂ in it has the time derivative "
            "-θ̇₂ sin θ₂.",
        ),
        "half_lost": (
            "factor ½ lost",
            "Kinetic energy is ½ m v² + ½ ω·Iω; without the halves every momentum is twice too large.",
        ),
        "relative_rate": (
            "relative rate used as the absolute one",
            "A joint rate is measured from the link before; the link itself turns at the sum of all rates up to its "
            "joint.",
        ),
        "potential_sign": (
            "potential energy with the wrong sign",
            "Potential energy grows against the direction in which things fall: P = m g times the height.",
        ),
        "height_from_own_joint": (
            "height measured from the link's own joint",
            "All heights are measured from one level that stands still. The joint of the link moves, so the lever of "
            "the weight about the joints before it is lost.",
        ),
        "christoffel_order": (
            "indices of the Christoffel symbols in the wrong order",
            "C in row k and column j is ½ Σ (∂M_kj/∂q_i + ∂M_ki/∂q_j - ∂M_ij/∂q_k) q̇_i; with row and column exchanged "
            "in it, C becomes its transpose.",
        ),
    }
}
"""Name and feedback of each misconception, by language and key."""


@dataclass(frozen=True)
class Named:
    """What has a name and feedback in a table of words.

    Attributes:
        key: short name for programs.
        words: name and feedback, by language and key.
    """

    words: ClassVar[Mapping[str, Mapping[str, tuple[str, str]]]] = WORDS
    key: str

    def name(self, language: str = "en") -> str:
        """Return what the mistake is called."""
        return self.words[language][self.key][0]

    def feedback(self, language: str = "en") -> str:
        """Return one or two sentences that say what is wrong and what belongs there."""
        return self.words[language][self.key][1]


@dataclass(frozen=True)
class Misconception(Named):
    """A right derivation with one thing wrong.

    Attributes:
        key: short name for programs.
        steps: makes the steps of the recursion, one of them replaced.
        robot: changes the arm, where the data are misread.
        options: changes loads or base motion, for an arm.
    """

    steps: Callable[[], Steps] = lambda: Steps()
    robot: Callable[[Robot], Robot] = lambda robot: robot
    options: Callable[[Robot, dict[str, Any]], dict[str, Any]] = lambda robot, options: options

    def inverse_dynamics(self, robot: Robot, q: Any, dq: Any, ddq: Any, **options: Any) -> Array:
        r"""Return the torques that follow from the mistake.

        Args:
            robot: the arm.
            q: joint values, shape (..., N), in rad or m.
            dq: joint rates, shape (..., N), in rad/s or m/s.
            ddq: joint accelerations, shape (..., N), in rad/s² or m/s².
            **options: loads and base motion, as in :func:`dynlib.newton_euler.recursion`.

        Returns:
            The wrong :math:`\tau`, shape (..., N), in N m (revolute) or N (prismatic).

        Raises:
            ValueError: the mistake cannot be made with this arm (no DH table, say), or what the recursion refuses.

        >>> from dynlib import robots
        >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
        >>> ALL["gravity_added"].inverse_dynamics(arm, [0, 0], [0, 0], [0, 0])  # right: 30 and 10
        array([-30., -10.])
        """
        wrong = self.options(robot, options)
        return newton_euler.inverse_dynamics(self.robot(robot), q, dq, ddq, steps=self.steps(), **wrong)


def diagnose(robot: Robot, q: Any, dq: Any, ddq: Any, answer: Any, **options: Any) -> list[Misconception]:
    """Return the misconceptions that lead to an answer; none if the answer is right or wrong in another way.

    Args:
        robot: the arm.
        q: joint values, shape (N,), in rad or m.
        dq: joint rates, shape (N,), in rad/s or m/s.
        ddq: joint accelerations, shape (N,), in rad/s² or m/s².
        answer: the torques that somebody found, shape (N,), in N m or N, to at least four digits.
        **options: loads and base motion, as in :func:`dynlib.newton_euler.recursion`.

    Returns:
        Every misconception whose torques agree with the answer to four digits.

    >>> from dynlib import robots
    >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
    >>> [found.name() for found in diagnose(arm, [0, 0], [0, 0], [0, 0], [-30, -10])]
    ['gravity added instead of subtracted']
    """
    if check.same(newton_euler.inverse_dynamics(robot, q, dq, ddq, **options), answer, tolerance=_DIGITS):
        return []
    found = []
    for each in ALL.values():
        if each.key == "other_dh_convention" and robot.table is None:
            continue
        if check.same(each.inverse_dynamics(robot, q, dq, ddq, **options), answer, tolerance=_DIGITS):
            found.append(each)
    return found


_DIGITS = 1e-4


def _wrong(right: Equation, tex: str, function: Callable[..., Any], prismatic: str | None = None) -> Equation:
    """Make the wrong version of a step: same quantity and symbol, another right side."""
    return equation(right.quantity, right.symbol, tex, right.source, prismatic or tex, right.source, right.loaded)(
        function
    )


def _column_differentiated() -> Steps:
    seen: list[Array] = []  # the velocities of the links, in order; the outward recursion fills and empties it

    def remember(*arguments: Array) -> Array:
        seen.append(velocity.linear_velocity(*arguments))
        return seen[-1]

    def without_turning(R: Array, *others: Array) -> Array:
        omega_i = others[4]
        return acceleration.linear_acceleration(R, *others) - cross(omega_i, seen.pop(0))

    right = velocity.linear_velocity
    return replace(
        Steps(),
        linear_velocity=replace(right, function=remember),
        linear_acceleration=_wrong(
            acceleration.linear_acceleration,
            r"\tfrac{\mathrm{d}}{\mathrm{d}t}\left({}^{i}v_{i}\right)",
            without_turning,
        ),
    )


def _axis_held_still() -> Steps:
    tex = r"{}^{i}_{i-1}R\,{}^{i-1}\dot{\omega}_{i-1}"
    wrong = _wrong(
        acceleration.angular_acceleration,
        tex + r" + \ddot{\theta}_{i}\,{}^{i}\hat{z}_{i}",
        lambda R, domega, omega, turning, dturning: apply(transpose(R), domega) + dturning,
        tex,
    )
    return replace(Steps(), angular_acceleration=wrong)


def _centripetal_missing() -> Steps:
    tex = r"{}^{i}_{i-1}R\left({}^{i-1}\dot{\omega}_{i-1} \times {}^{i-1}p_{i} + {}^{i-1}\dot{v}_{i-1}\right)"

    def of_joint(R: Array, domega: Array, omega: Array, p: Array, dv: Array, *sliding: Array) -> Array:
        return acceleration.linear_acceleration(R, domega, 0 * omega, p, dv, *sliding)

    def of_com(domega: Array, omega: Array, p_c: Array, dv: Array) -> Array:
        return cross(domega, p_c) + dv

    com_tex = r"{}^{i}\dot{\omega}_{i} \times {}^{i}p_{c_{i}} + {}^{i}\dot{v}_{i}"
    sliding = r" + 2\,{}^{i}\omega_{i} \times \dot{d}_{i}\,{}^{i}\hat{z}_{i} + \ddot{d}_{i}\,{}^{i}\hat{z}_{i}"
    return replace(
        Steps(),
        linear_acceleration=_wrong(acceleration.linear_acceleration, tex, of_joint, tex + sliding),
        com_acceleration=_wrong(acceleration.com_acceleration, com_tex, of_com),
    )


def _coriolis_missing() -> Steps:
    right = acceleration.linear_acceleration

    def wrong(R: Array, domega: Array, omega: Array, p: Array, dv: Array, omega_i: Array, *sliding: Array) -> Array:
        return right(R, domega, omega, p, dv, 0 * omega_i, *sliding)

    tex = right.tex + r" + \ddot{d}_{i}\,{}^{i}\hat{z}_{i}"
    return replace(Steps(), linear_acceleration=_wrong(right, right.tex, wrong, tex))


def _rotation_transposed() -> Steps:
    def turned(right: Equation) -> Equation:
        def wrong(R: Array, *others: Array) -> Array:
            return right(transpose(R), *others)

        tex, prismatic = (
            text.replace("{}^{i}_{i-1}R", "{}^{i-1}_{i}R") for text in (right.tex, right.prismatic or right.tex)
        )
        return _wrong(right, tex, wrong, prismatic)

    names = ("angular_velocity", "linear_velocity", "angular_acceleration", "linear_acceleration", "gravity")
    return replace(Steps(), **{name: turned(getattr(Steps(), name)) for name in names})


def _gravity_added() -> Steps:
    force, moment = newton_euler.force_balance, newton_euler.moment_balance

    def wrong_force(F: Array, R_next: Array, f_next: Array, m: Array, g: Array, f_e: Array) -> Array:
        return force(F, R_next, f_next, m, -g, f_e)

    def wrong_moment(*arguments: Array) -> Array:
        *others, g, n_e = arguments
        return moment(*others, -g, n_e)

    force_tex, moment_tex = (right.tex.replace("- m_{i}", "+ m_{i}") for right in (force, moment))
    moment_tex = moment_tex.replace(r"- {}^{i}p_{c_{i}} \times m", r"+ {}^{i}p_{c_{i}} \times m")
    return replace(
        Steps(),
        force_balance=_wrong(force, force_tex, wrong_force),
        moment_balance=_wrong(moment, moment_tex, wrong_moment),
    )


def _gravity_twice(robot: Robot, options: dict[str, Any]) -> dict[str, Any]:
    base = options.get("base", BaseMotion())
    upward = -apply(transpose(rotation(robot.base)), robot.gravity)
    return options | {"base": replace(base, dv=base.dv + upward)}


def _lever_of_force_missing() -> Steps:
    right = newton_euler.moment_balance

    def wrong(N: Array, p_c: Array, F: Array, *others: Array) -> Array:
        return right(N, p_c, 0 * F, *others)

    tex = right.tex.replace(r" + {}^{i}p_{c_{i}} \times {}^{i}F_{i}", "")
    return replace(Steps(), moment_balance=_wrong(right, tex, wrong))


def _moment_about_next_joint() -> Steps:
    right = newton_euler.moment_balance

    def wrong(N: Array, p_c: Array, F: Array, R_next: Array, n_next: Array, p_next: Array, *others: Array) -> Array:
        return right(N, p_c, F, R_next, n_next, p_next, *others) - cross(p_next, F)

    lever = r"\left({}^{i}p_{c_{i}} - {}^{i}p_{i+1}\right) \times {}^{i}F_{i}"
    tex = right.tex.replace(r"{}^{i}p_{c_{i}} \times {}^{i}F_{i}", lever)
    return replace(Steps(), moment_balance=_wrong(right, tex, wrong))


def _inertia_about_origin(robot: Robot) -> Robot:
    """Take the inertia about the link's origin for the one about the mass centre."""

    def misread(body: Body | None) -> Body | None:
        if body is None:
            return None
        at_origin = Body(body.mass, body.com) + Body(body.mass, -body.com)  # twice the mass, at twice the value
        return replace(body, inertia=body.inertia + at_origin.inertia / 2)

    return replace(robot, links=[replace(link, body=misread(link.body)) for link in robot.links])


def _other_dh_convention(robot: Robot) -> Robot:
    if robot.table is None:
        raise ValueError(f"{robot.name} was not read from a DH table, so it cannot be read in the other convention.")
    table: Table = robot.table
    other: Convention = "standard" if table.convention == "modified" else "modified"
    return Robot.from_dh(
        table.rows, convention=other, gravity=robot.gravity, base=robot.base, tool=table.tool,
        name=robot.name, allow_impossible=table.allow_impossible,
    )  # fmt: skip


def _load_reversed(robot: Robot, options: dict[str, Any]) -> dict[str, Any]:
    reversed_ = {name: -np.asarray(options[name]) for name in ("tip_force", "tip_moment") if name in options}
    wrenches = [
        Wrench(-each.force, -each.moment, each.link, each.point, each.axes) for each in options.get("wrenches", ())
    ]
    return options | reversed_ | {"wrenches": wrenches}


ALL: Mapping[str, Misconception] = {
    each.key: each
    for each in (
        Misconception("column_differentiated", steps=_column_differentiated),
        Misconception("axis_held_still", steps=_axis_held_still),
        Misconception("centripetal_missing", steps=_centripetal_missing),
        Misconception("coriolis_missing", steps=_coriolis_missing),
        Misconception("rotation_transposed", steps=_rotation_transposed),
        Misconception("gravity_added", steps=_gravity_added),
        Misconception("gravity_twice", options=_gravity_twice),
        Misconception("lever_of_force_missing", steps=_lever_of_force_missing),
        Misconception("moment_about_next_joint", steps=_moment_about_next_joint),
        Misconception("inertia_about_origin", robot=_inertia_about_origin),
        Misconception("other_dh_convention", robot=_other_dh_convention),
        Misconception("load_reversed", options=_load_reversed),
    )
}
"""Every misconception of the recursion, by key."""


@dataclass(frozen=True)
class LagrangeMisconception(Named):
    """A right derivation by Lagrange with one step wrong.

    Attributes:
        key: short name for programs.
        steps: the steps of the derivation, one of them replaced.
    """

    steps: lagrange.Steps

    def of_robot(self, robot: Robot) -> tuple[lagrange.Coordinate, ...]:
        """Return the equations that follow from the mistake, for an arm of symbols.

        Args:
            robot: the arm, with exact data.

        >>> from dynlib import robots
        >>> LAGRANGE["potential_sign"].of_robot(robots.rp())[1].tau
        -d2*dtheta1**2*m2 + ddd2*m2 - g*m2*sin(theta1)
        """
        return lagrange.of_robot(robot, steps=self.steps)

    def torques(self, robot: Robot, q: Any, dq: Any, ddq: Any) -> Array:
        r"""Return the torques that follow from the mistake, for an arm of numbers.

        Args:
            robot: the arm; its motors do not count.
            q: joint values, shape (..., N), in rad or m.
            dq: joint rates, shape (..., N), in rad/s or m/s.
            ddq: joint accelerations, shape (..., N), in rad/s² or m/s².

        Returns:
            The wrong :math:`\tau`, shape (..., N), in N m (revolute) or N (prismatic).

        >>> from dynlib import robots
        >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=10)
        >>> LAGRANGE["height_from_own_joint"].torques(arm, [0, 0], [0, 0], [0, 0])  # right: 30 and 10
        array([20., 10.])
        """
        return lagrange.torques(robot, q, dq, ddq, steps=self.steps)


def _only_through_rates(p: Any, q: Any, dq: Any, ddq: Any, by: Any) -> Any:
    standing_still = [rate - rate for rate in dq]
    return lagrange.momentum_rate(p, q, standing_still, ddq, by)


def _without_halves(m: Array, v_c: Array, I: Array, omega: Array) -> Array:
    half_of_it = lagrange.kinetic_energy(m, v_c, I, omega)
    return half_of_it + half_of_it


def _falling_upwards(m: Array, g: Array, p_c: Array) -> Array:
    return -lagrange.potential_energy(m, g, p_c)


def _lagrange_misconceptions() -> list[LagrangeMisconception]:
    def wrong(key: str, step: str, tex: str, function: Callable[..., Any]) -> LagrangeMisconception:
        right = lagrange.Steps()
        return LagrangeMisconception(key, replace(right, **{step: _wrong(getattr(right, step), tex, function)}))

    through_rates = r"\sum_{j} \frac{\partial p_{i}}{\partial\dot{q}_{j}}\,\ddot{q}_{j}"
    without_halves = lagrange.kinetic_energy.tex.replace(r"\tfrac{1}{2} ", "").replace(r"\tfrac{1}{2}\,", "")
    own_rate = r"\dot{\theta}_{i}\,{}^{i}\hat{z}_{i}"
    return [
        wrong("wave_not_differentiated", "momentum_rate", through_rates, _only_through_rates),
        wrong("half_lost", "kinetic_energy", without_halves, _without_halves),
        wrong("relative_rate", "angular_velocity", own_rate, lambda R, omega, turning: turning),
        wrong("potential_sign", "potential_energy", lagrange.potential_energy.tex.lstrip("-"), _falling_upwards),
        wrong(
            "height_from_own_joint", "com_position", r"{}^{0}_{i}R\,{}^{i}p_{c_{i}}", lambda R, p, p_c: apply(R, p_c)
        ),
    ]


LAGRANGE: Mapping[str, LagrangeMisconception] = {each.key: each for each in _lagrange_misconceptions()}
"""Every misconception of Lagrange's equations, by key."""


@dataclass(frozen=True)
class StructureMisconception(Named):
    r"""The equation of motion :math:`\tau = M\ddot q + C\dot q + g` with one matrix wrong.

    Attributes:
        key: short name for programs.
        coriolis: makes the wrong C from an arm, its joint values and rates.
    """

    coriolis: Callable[[Robot, Any, Any], Array]

    def torques(self, robot: Robot, q: Any, dq: Any, ddq: Any) -> Array:
        r"""Return the torques that follow from the mistake.

        Args:
            robot: the arm; friction does not count.
            q: joint values, shape (..., N), in rad or m.
            dq: joint rates, shape (..., N), in rad/s or m/s.
            ddq: joint accelerations, shape (..., N), in rad/s² or m/s².

        Returns:
            The wrong :math:`\tau`, shape (..., N), in N m (revolute) or N (prismatic).

        >>> from dynlib import robots
        >>> arm = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=0)
        >>> STRUCTURE["christoffel_order"].torques(arm, [0, np.pi / 2], [1, 0], [0, 0]).round(9)  # right: 0 and 1
        array([ 0., -1.])
        """
        q, dq, ddq = robot.state(q=q, dq=dq, ddq=ddq)
        M, C = structure.mass_matrix(robot, q), self.coriolis(robot, q, dq)
        moved = (M @ ddq[..., None] + C @ dq[..., None])[..., 0]
        return moved + structure.gravity_torque(robot, q)


def _transposed_coriolis(robot: Robot, q: Any, dq: Any) -> Array:
    return transpose(structure.coriolis_matrix(robot, q, dq))


STRUCTURE: Mapping[str, StructureMisconception] = {
    "christoffel_order": StructureMisconception("christoffel_order", _transposed_coriolis)
}
"""Every misconception of the matrices, by key."""
