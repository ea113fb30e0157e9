r"""Mistakes in the recursion: one step replaced, or data or loads misread."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from dynlib import acceleration, newton_euler, velocity
from dynlib.algebra.arrays import Array, apply, cross, transpose
from dynlib.algebra.equation import Equation
from dynlib.closed_chains import dynamics
from dynlib.frames import rotation
from dynlib.misconceptions.misconception import Misconception, NotHere
from dynlib.model.dh import Convention, Table
from dynlib.model.links import Body
from dynlib.model.mechanism import Mechanism
from dynlib.model.robot import Robot
from dynlib.newton_euler import Steps
from dynlib.velocity import BaseMotion, Wrench


def _with_steps(key: str, steps: Callable[[], Steps], joint: int | None = None) -> Misconception:
    def wrong(robot: Robot, q: Any, dq: Any, ddq: Any, **loads: Any) -> Array:
        return newton_euler.inverse_dynamics(robot, q, dq, ddq, steps=steps(), **loads)

    return Misconception(key, wrong, steps=steps, joint=joint)


def _with_data(key: str, misread: Callable[[Robot], Robot], joint: int | None = None) -> Misconception:
    def wrong(robot: Robot, q: Any, dq: Any, ddq: Any, **loads: Any) -> Array:
        return newton_euler.inverse_dynamics(misread(robot), q, dq, ddq, **loads)

    return Misconception(key, wrong, joint=joint)


# ---- Wrong steps -----------------------------------------------------------------------------------


def wrong_step(right: Equation, tex: str, function: Callable[..., Any], prismatic: str | None = None) -> Equation:
    """Make the wrong version of a step: same quantity and symbol, another right side.

    Args:
        right: the step.
        tex: TeX of the wrong right side.
        function: computes it.
        prismatic: TeX of the wrong right side for a prismatic joint, when it differs.
    """
    return replace(right, tex=tex, function=function, prismatic=prismatic or tex, prismatic_source=right.source)


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
        linear_acceleration=wrong_step(
            acceleration.linear_acceleration,
            r"\tfrac{\mathrm{d}}{\mathrm{d}t}\left({}^{i}v_{i}\right)",
            without_turning,
        ),
    )


def _axis_held_still() -> Steps:
    tex = r"{}^{i}_{i-1}R\,{}^{i-1}\dot{\omega}_{i-1}"
    wrong = wrong_step(
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
        linear_acceleration=wrong_step(acceleration.linear_acceleration, tex, of_joint, tex + sliding),
        com_acceleration=wrong_step(acceleration.com_acceleration, com_tex, of_com),
    )


def _coriolis_missing() -> Steps:
    right = acceleration.linear_acceleration

    def wrong(R: Array, domega: Array, omega: Array, p: Array, dv: Array, omega_i: Array, *sliding: Array) -> Array:
        return right(R, domega, omega, p, dv, 0 * omega_i, *sliding)

    tex = right.tex + r" + \ddot{d}_{i}\,{}^{i}\hat{z}_{i}"
    return replace(Steps(), linear_acceleration=wrong_step(right, right.tex, wrong, tex))


def _rotation_transposed() -> Steps:
    def turned(right: Equation) -> Equation:
        def wrong(R: Array, *others: Array) -> Array:
            return right(transpose(R), *others)

        tex, prismatic = (
            text.replace("{}^{i}_{i-1}R", "{}^{i-1}_{i}R") for text in (right.tex, right.prismatic or right.tex)
        )
        return wrong_step(right, tex, wrong, prismatic)

    return replace(Steps(), **{name: turned(getattr(Steps(), name)) for name in _OUTWARD})


_OUTWARD = ("angular_velocity", "linear_velocity", "angular_acceleration", "linear_acceleration", "gravity")


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
        force_balance=wrong_step(force, force_tex, wrong_force),
        moment_balance=wrong_step(moment, moment_tex, wrong_moment),
    )


def _lever_of_force_missing() -> Steps:
    right = newton_euler.moment_balance

    def wrong(N: Array, p_c: Array, F: Array, *others: Array) -> Array:
        return right(N, p_c, 0 * F, *others)

    tex = right.tex.replace(r" + {}^{i}p_{c_{i}} \times {}^{i}F_{i}", "")
    return replace(Steps(), moment_balance=wrong_step(right, tex, wrong))


def _moment_about_next_joint() -> Steps:
    right = newton_euler.moment_balance

    def wrong(N: Array, p_c: Array, F: Array, R_next: Array, n_next: Array, p_next: Array, *others: Array) -> Array:
        return right(N, p_c, F, R_next, n_next, p_next, *others) - cross(p_next, F)

    lever = r"\left({}^{i}p_{c_{i}} - {}^{i}p_{i+1}\right) \times {}^{i}F_{i}"
    tex = right.tex.replace(r"{}^{i}p_{c_{i}} \times {}^{i}F_{i}", lever)
    return replace(Steps(), moment_balance=wrong_step(right, tex, wrong))


def _lever_of_next_force_missing() -> Steps:
    right = newton_euler.moment_balance

    def wrong(N: Array, p_c: Array, F: Array, R_next: Array, n_next: Array, p_next: Array, *others: Array) -> Array:
        return right(N, p_c, F, R_next, n_next, 0 * p_next, *others)

    tex = right.tex.replace(r" + {}^{i}p_{i+1} \times {}^{i}_{i+1}R\,{}^{i+1}f_{i+1}", "")
    return replace(Steps(), moment_balance=wrong_step(right, tex, wrong))


def _lever_of_weight_missing() -> Steps:
    right = newton_euler.moment_balance

    def wrong(*arguments: Array) -> Array:
        *others, g, n_e = arguments
        return right(*others, 0 * g, n_e)

    tex = right.tex.replace(r" - {}^{i}p_{c_{i}} \times m_{i}\,{}^{i}g", "")
    return replace(Steps(), moment_balance=wrong_step(right, tex, wrong))


def _gravity_omitted() -> Steps:
    right = newton_euler.gravity
    return replace(Steps(), gravity=wrong_step(right, "0", lambda R, g: 0 * right(R, g)))


def _centripetal_of_com_missing() -> Steps:
    right = acceleration.com_acceleration
    tex = r"{}^{i}\dot{\omega}_{i} \times {}^{i}p_{c_{i}} + {}^{i}\dot{v}_{i}"
    wrong = wrong_step(right, tex, lambda domega, omega, p_c, dv: right(domega, 0 * omega, p_c, dv))
    return replace(Steps(), com_acceleration=wrong)


def _friction_reversed() -> Steps:
    right = newton_euler.motor_torque

    def wrong(tau: Array, J: Array, G: Array, B: Array, *others: Array) -> Array:
        return right(tau, J, G, -B, *others)

    tex, prismatic = (text.replace("(B_{i}", "(-B_{i}") for text in (right.tex, right.prismatic or right.tex))
    return replace(Steps(), motor_torque=wrong_step(right, tex, wrong, prismatic))


# ---- Wrong at one joint only -----------------------------------------------------------------------


def _rotation_transposed_at(joint: int) -> Steps:
    """Turn the wrong way round going outward to one link: its five steps are called once a link, in order."""

    def at_joint(right: Equation, wrong: Equation) -> Equation:
        calls = itertools.count(1)
        return replace(wrong, function=lambda *given: (wrong if next(calls) == joint else right)(*given))

    right, wrong = vars(Steps()), vars(_rotation_transposed())
    return Steps(**{name: at_joint(right[name], wrong[name]) if name in _OUTWARD else right[name] for name in right})


def _rotation_transposed_inward(joint: int, balance: Literal["force_balance", "moment_balance"]) -> Steps:
    """Turn the wrong way round in one balance of the link before a joint."""
    ahead: list[None] = []  # the links to come on the way in: gravity is turned once a link on the way out
    right = Steps()

    def gravity(*given: Array) -> Array:
        ahead.append(None)
        return right.gravity(*given)

    def turned(R: Array, wrong: bool) -> Array:
        return transpose(R) if wrong and len(ahead) == joint - 1 else R

    def force(F: Array, R_next: Array, *others: Array) -> Array:
        return right.force_balance(F, turned(R_next, balance == "force_balance"), *others)

    def moment(N: Array, p_c: Array, F: Array, R_next: Array, *others: Array) -> Array:
        n = right.moment_balance(N, p_c, F, turned(R_next, balance == "moment_balance"), *others)
        ahead.pop()
        return n

    tex = {name: getattr(right, name).tex for name in ("force_balance", "moment_balance")}
    tex[balance] = tex[balance].replace(r"{}^{i}_{i+1}R", r"{}^{i+1}_{i}R")
    return replace(
        right,
        gravity=replace(right.gravity, function=gravity),
        force_balance=wrong_step(right.force_balance, tex["force_balance"], force),
        moment_balance=wrong_step(right.moment_balance, tex["moment_balance"], moment),
    )


# ---- Data misread ----------------------------------------------------------------------------------


def _misread_bodies(misread: Callable[[Body], Body], joint: int | None = None) -> Callable[[Robot], Robot]:
    """Misread the body of one link, or of all."""

    def of(robot: Robot) -> Robot:
        links = [
            replace(link, body=misread(link.body)) if link.body is not None and joint in (None, number) else link
            for number, link in enumerate(robot.links, start=1)
        ]
        return replace(robot, links=links)

    return of


def _about_origin(body: Body) -> Body:
    """Take the inertia about the link's origin for the one about the mass centre."""
    return replace(body, inertia=body.inertia + body.of_its_mass_at(body.com))


def _not_moved(body: Body) -> Body:
    """Take the inertia about the mass centre for the one about the link's origin."""
    return replace(body, inertia=body.inertia - body.of_its_mass_at(body.com), allow_impossible=True)


def _other_dh_convention(robot: Robot) -> Robot:
    if robot.table is None:
        raise NotHere(f"{robot.name} was not read from a DH table, so it cannot be read in the other convention.")
    table: Table = robot.table
    other: Convention = "standard" if table.convention == "modified" else "modified"
    return Robot.from_dh(
        table.rows, convention=other, gravity=robot.gravity, base=robot.base, tool=table.tool,
        name=robot.name, allow_impossible=table.allow_impossible,
    )  # fmt: skip


# ---- Loads misread ---------------------------------------------------------------------------------


def _gravity_twice(robot: Robot, q: Any, dq: Any, ddq: Any, **loads: Any) -> Array:
    base = loads.pop("base", BaseMotion())
    upward = -apply(transpose(rotation(robot.base)), robot.gravity)
    return newton_euler.inverse_dynamics(robot, q, dq, ddq, base=replace(base, dv=base.dv + upward), **loads)


def _loads_reversed(robot: Robot, q: Any, dq: Any, ddq: Any, **loads: Any) -> Array:
    tip = {name: -np.asarray(loads[name]) for name in ("tip_force", "tip_moment") if name in loads}
    return newton_euler.inverse_dynamics(robot, q, dq, ddq, **(loads | tip | {"loads": _opposite(loads)}))


def _loads_of_mechanism_reversed(mechanism: Mechanism, q: Any, du: Any, ddu: Any, **loads: Any) -> Array:
    return dynamics.inverse_dynamics(mechanism, q, du, ddu, loads=_opposite(loads))


def _opposite(loads: Mapping[str, Any]) -> list[Wrench]:
    return [replace(each, force=-each.force, moment=-each.moment) for each in loads.get("loads", ())]


RECURSION: Mapping[str, Misconception] = {
    each.key: each
    for each in (
        _with_steps("column_differentiated", _column_differentiated),
        _with_steps("axis_held_still", _axis_held_still),
        _with_steps("centripetal_missing", _centripetal_missing),
        _with_steps("centripetal_of_com_missing", _centripetal_of_com_missing),
        _with_steps("coriolis_missing", _coriolis_missing),
        _with_steps("rotation_transposed", _rotation_transposed),
        _with_steps("gravity_added", _gravity_added),
        _with_steps("gravity_omitted", _gravity_omitted),
        Misconception("gravity_twice", _gravity_twice),
        _with_steps("lever_of_force_missing", _lever_of_force_missing),
        _with_steps("lever_of_next_force_missing", _lever_of_next_force_missing),
        _with_steps("lever_of_weight_missing", _lever_of_weight_missing),
        _with_steps("moment_about_next_joint", _moment_about_next_joint),
        _with_steps("friction_reversed", _friction_reversed),
        _with_data("inertia_about_origin", _misread_bodies(_about_origin)),
        _with_data("inertia_not_moved", _misread_bodies(_not_moved)),
        _with_data("other_dh_convention", _other_dh_convention),
        Misconception("load_reversed", _loads_reversed, _loads_of_mechanism_reversed),
    )
}
"""Every mistake of the recursion, by key."""


AT_JOINT: Mapping[str, Callable[[int], Misconception]] = {
    "rotation_transposed_at": lambda joint: _with_steps(
        "rotation_transposed_at", lambda: _rotation_transposed_at(joint), joint
    ),
    "rotation_transposed_in_force": lambda joint: _with_steps(
        "rotation_transposed_in_force", lambda: _rotation_transposed_inward(joint, "force_balance"), joint
    ),
    "rotation_transposed_in_moment": lambda joint: _with_steps(
        "rotation_transposed_in_moment", lambda: _rotation_transposed_inward(joint, "moment_balance"), joint
    ),
    "inertia_about_origin_at": lambda joint: _with_data(
        "inertia_about_origin_at", _misread_bodies(_about_origin, joint), joint
    ),
    "inertia_not_moved_at": lambda joint: _with_data("inertia_not_moved_at", _misread_bodies(_not_moved, joint), joint),
}
"""Mistakes made at one joint or link only, by key; each takes its number, from 1."""
