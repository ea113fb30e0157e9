"""Answers to the cases of closed chains: five-bar, four-bar, slider-crank, two links, and a pendulum in x and y.

`answer` looks at the names in a case's `model` and `input` alone. The cases have absolute angles, dynlib has second
angles relative to the first; torques of the cranks and multipliers are the same in both.
"""

import re
from dataclasses import dataclass

import numpy as np
from case_fields import UnknownField

from dynlib.closed_chains import (
    ClosureError,
    close,
    forward_dynamics,
    gap,
    inverse_dynamics,
    mobility,
    motion_of,
    pin_forces,
    point_jacobian,
    pose,
    rates,
    reduced_mass_matrix,
    singularity,
    with_multipliers,
)
from dynlib.closed_chains.constraints import refuse_open, tree_jacobian
from dynlib.closed_chains.walk import Walk
from dynlib.linkages import FiveBar, Linkage, five_bar, four_bar, slider_crank, two_link_angles
from dynlib.model import Body, Link, Mechanism, Point, Robot, Rod
from dynlib.motion import ClosedMotion, SimulationError, energy_of, simulate
from dynlib.velocity import Wrench

TURN_CRANKS_FIRST = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]])
TURN = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1]])
AXES = [[0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]]  # z, x, y
FOUR_BAR = {"ground", "crank", "coupler", "rocker"}
SIGNS = {1: "+", -1: "-"}
STATEMENTS = {  # what a case says in words, and how it must be meant for the answers given here
    "rods": r"uniform\b.*",
    "coordinates": r"(?!.*relative).*\babsolute\b.*",
    "constraint": r"(tip of left chain|end of coupler|rod end) minus .*",
    "energy": r"potential zero at the pivot",
}


def answer(model: dict, given: dict) -> dict:
    """Return everything that can be computed from a case of a closed chain; nothing from another case.

    Raises:
        UnknownField: a statement in words that nobody here understands.
    """
    for name, meant in STATEMENTS.items():
        if name in model and not re.fullmatch(meant, model[name]):
            raise UnknownField(f"model.{name} says {model[name]!r}, for which there is no answer here")
    if {"L1", "L2"} <= set(model):
        return two_links(model, given)
    if {"L", "g"} <= set(model) and "theta0" in given:
        return pendulum_motion(model, given)
    found = crank_range(model) if FOUR_BAR <= set(model) else {}
    try:
        loop = loop_of(model)
        return found if loop is None else found | _of_loop(loop, given)
    except ValueError as error:  # of which ClosureError and SingularPosition are kinds
        return found | {"refused": str(error)}


# ---- The linkage of a model ------------------------------------------------------------------------


@dataclass(frozen=True)
class Loop:
    """A linkage, and how the coordinates of the cases follow from those of dynlib.

    Attributes:
        linkage: of dynlib.
        turn: absolute coordinates = turn @ those of dynlib.
        modes: assembly modes of the linkage by the name in the cases, the usual one first.
        loaded: the point on which a force acts.
    """

    linkage: Linkage
    turn: np.ndarray
    modes: dict[str, int]
    loaded: Point

    @property
    def weighs(self) -> bool:
        """Say whether anything has a mass."""
        return any(body.mass > 0 for chain in self.linkage.chains for body in chain.known_bodies())

    def absolute(self, values: np.ndarray) -> np.ndarray:
        """Return positions, rates or accelerations as the cases have them."""
        return values @ self.turn.T

    def wrapped(self, q: np.ndarray) -> np.ndarray:
        """Return a position as the cases have it, absolute angles between -pi and pi."""
        angles = [link.turn for chain in self.linkage.chains for link in chain.links]
        q = self.absolute(q)
        return np.where(angles, np.pi - np.remainder(np.pi - q, 2 * np.pi), q)

    def relative(self, values) -> np.ndarray:
        """Return positions, rates or accelerations as dynlib has them."""
        return np.linalg.solve(self.turn, np.asarray(values, dtype=float))


def loop_of(model: dict) -> Loop | None:
    """Return the linkage of a model, of uniform rods; without masses none weighs anything."""
    gravity = np.zeros(3)
    fall = model.get("gravity", [0, 0])
    gravity[: len(fall)] = fall
    masses = model.get("m", [0, 0, 0])
    if {"base_half_distance", "crank", "coupler"} <= set(model):
        half = model["base_half_distance"]
        pairs = [(model["crank"], model["coupler"]), (model.get("m_crank", 0), model.get("m_coupler", 0))]
        lengths, weights = (np.stack([np.broadcast_to(each, 2) for each in pair], axis=1) for pair in pairs)
        bar = five_bar(bases=[[-half, 0], [half, 0]], lengths=lengths, masses=weights, gravity=gravity)
        return Loop(bar, TURN_CRANKS_FIRST, {"up": 1, "down": -1}, Point(1))
    if FOUR_BAR <= set(model):
        bars = four_bar(**{name: model[name] for name in FOUR_BAR}, masses=masses, gravity=gravity)
        return Loop(bars, TURN, {"open": 1, "crossed": -1}, Point(1))
    if {"crank", "rod"} <= set(model):
        lengths = {"crank": model["crank"], "rod": model["rod"], "offset": model.get("offset", 0)}
        return Loop(slider_crank(**lengths, masses=masses, gravity=gravity), TURN, {"right": -1, "left": 1}, Point(2))
    return None


# ---- What a case asks of a linkage -----------------------------------------------------------------


def _of_loop(loop: Loop, given: dict) -> dict:
    found, _ = {}, _loads(loop, given)  # loads are read, also where a refusal comes before they count
    for name in ("P", "target"):
        if name in given and isinstance(loop.linkage, FiveBar):
            found |= _from_output(loop, given[name], given)
    for name in ("crank", "cranks", "q", "q_guess", "q_cranks", "q0", "theta", "crank_angle", "crank_angles"):
        if name not in given:
            continue
        q = np.atleast_1d(np.asarray(given[name], dtype=float))
        found |= _from_inputs(loop, q, given) if len(q) == loop.linkage.m else _from_guess(loop, q, name, given)
    return found


def _from_output(loop: Loop, P: list, given: dict) -> dict:
    """Return all working modes that reach a point; of the usual one, the elbows outside, also what moves it."""
    usual = loop.linkage.working_position(P, (1, -1))  # raises if it is out of reach
    found = loop.linkage.working_modes(P)
    modes = {f"left {SIGNS[left]}, right {SIGNS[right]}": loop.wrapped(q) for (left, right), q in found.items()}
    return {"modes": modes} | _state(loop, usual, given)


def _from_inputs(loop: Loop, inputs: np.ndarray, given: dict) -> dict:
    """Return every assembly for angles of the cranks, by its name; the usual one also by itself."""
    found = {}
    for name, side in reversed(loop.modes.items()):
        q = loop.linkage.positions(inputs, (side,))
        here = _state(loop, q, given) | {"angles": loop.wrapped(q)}
        found = found | here | {name: here} | {f"{key}_{name}": here[key] for key in ("P", "q")}
    return found


def _from_guess(loop: Loop, q: np.ndarray, name: str, given: dict) -> dict:
    """Return the closed position near a guess, the cranks held, and what belongs to it."""
    guess = loop.relative(q)
    found = {"residual": gap(loop.linkage, guess)}
    try:
        closed = _closed(loop.linkage, guess)
    except ClosureError as error:
        return found | {"refused": str(error)}
    found |= _state(loop, closed, given)
    found |= dict.fromkeys(("q", "q_projected"), loop.absolute(closed))
    if "guess" not in name:
        try:
            refuse_open(Walk(loop.linkage, guess))
        except ClosureError as error:  # only how to put it right; nothing is computed from an open position
            kept = {key: found[key] for key in ("residual", "q_projected", "qd_consistent") if key in found}
            return kept | {"refused": str(error)}
    return found


def _closed(linkage: Linkage, guess: np.ndarray) -> np.ndarray:
    """Return the closed position near a guess; where modes meet, Newton's method leaves half of the digits only."""
    q = close(linkage, guess)
    modes = list(linkage.assembly_modes(q[linkage.u]).values())
    return modes[0] if len(modes) > 1 and np.allclose(*modes, rtol=0, atol=1e-12) else q


def _state(loop: Loop, q: np.ndarray, given: dict) -> dict:
    """Return what belongs to one closed position: the point, how singular it is, motion, torques and forces."""
    linkage = loop.linkage
    found = {"q": loop.wrapped(q), "P": pose(linkage, q, Point(1))[:2, 3], "rank": mobility(linkage, q).rank}
    slides = not linkage.chains[1].links[0].turn
    kinds = ("regular", "inverse (type 1)", "forward (type 2)", "inverse (type 1) and forward (type 2)")
    found["singularity"] = kinds[singularity(linkage, q, linkage.output, "x" if slides else "xy").kind]
    if isinstance(linkage, FiveBar):
        columns = [tree_jacobian(linkage, q, Point(chain))[:2, k] for chain, k in zip((1, 2), linkage.v, strict=True)]
        ends = np.stack(columns, axis=1)  # how the meeting point moves with each coupler
        found["rank_coupler_columns"] = np.linalg.matrix_rank(ends / np.linalg.norm(ends, axis=0), tol=1e-9)
        found["determinant"] = np.linalg.det(ends)
    try:
        du, ddu = _rates(loop, q, given)
        found |= _motion(loop, q, du, ddu)
        return found | (_dynamics(loop, q, du, ddu, given) | _run(loop, q, du, given) if loop.weighs else {})
    except ValueError as error:
        return found | {"refused": str(error)}


def _rates(loop: Loop, q: np.ndarray, given: dict) -> tuple[np.ndarray, np.ndarray]:
    """Return rates and accelerations of the cranks, 0 if not given; they are the first coordinates of the cases."""
    found = []
    for name in ("qd", "qdd"):
        values = [given[key] for key in (name, f"{name}_cranks", f"{name}_crank") if key in given]
        found.append(np.resize(np.asarray(values[0] if values else 0, dtype=float), loop.linkage.m))
    for name in ("v_P", "v_tip"):
        if name in given and loop.linkage.m == 2:
            found[0] = np.linalg.solve(point_jacobian(loop.linkage, q, Point(1))[:2], given[name])
    return found[0], found[1]


def _motion(loop: Loop, q: np.ndarray, du: np.ndarray, ddu: np.ndarray) -> dict:
    _, dq, ddq, _ = motion_of(loop.linkage, q, du, ddu)
    J = point_jacobian(loop.linkage, q, Point(1))[:2]
    found = {"qd": loop.absolute(dq), "qdd": loop.absolute(ddq), "qd_cranks": du, "J_tip": J, "J": J, "v_P": J @ du}
    return found | {"qd_consistent": found["qd"], "qdd_consistent": found["qdd"], "v_tip": found["v_P"]}


def _dynamics(loop: Loop, q: np.ndarray, du: np.ndarray, ddu: np.ndarray, given: dict) -> dict:
    """Return torques and forces for a motion; if torques are given, the motion and the forces that they cause."""
    linkage, loads = loop.linkage, _loads(loop, given)
    kinetic, potential = energy_of(linkage, q, rates(linkage, q, du))
    found = {
        "tau_weight_only": inverse_dynamics(linkage, q, 0 * du, 0 * du),
        "tau_no_force": inverse_dynamics(linkage, q, du, ddu),
        "M": reduced_mass_matrix(linkage, q),
        "kinetic_energy": kinetic,
        "potential_energy": potential,
        "energy": kinetic + potential,
    }
    if "tau" not in given:
        needed = pin_forces(linkage, q, du, ddu, loads=loads)
        tau = inverse_dynamics(linkage, q, du, ddu, loads=loads)
        return found | {"tau": tau, "tau_with_force": tau, "lam": needed.lam}
    tau = np.atleast_1d(np.asarray(given["tau"], dtype=float))
    dq = rates(linkage, q, du)
    twice = Mechanism(linkage.chains, [*linkage.closures, *linkage.closures], linkage.inputs, linkage.name)
    caused, doubled = (with_multipliers(each, q, dq, tau, loads=loads) for each in (linkage, twice))
    halves = doubled.lam.reshape(2, -1)
    return found | {
        "qdd": loop.absolute(caused.ddq),
        "qdd_twice": loop.absolute(doubled.ddq),
        "qdd_cranks": forward_dynamics(linkage, q, du, tau, loads=loads),
        "lam": caused.lam,
        "lam_sum": halves.sum(axis=0),
        "lam_least_norm": doubled.lam,
        "redundant": "; ".join(doubled.redundant),
    }


def _loads(loop: Loop, given: dict) -> list[Wrench]:
    """Return the forces of the surroundings on the tip, the pin, or the slider; a single number acts along x."""
    loads = []
    for name in given:
        if re.fullmatch(r"F|force|F_on_(tip|P|pin|slider)", name):
            force = np.zeros(3)
            force[: np.size(given[name])] = given[name]
            loads.append(Wrench.at(loop.loaded, force))
    return loads


def _run(loop: Loop, q: np.ndarray, du: np.ndarray, given: dict) -> dict:
    """Return how a motion ends, if a case has a time."""
    times = [np.atleast_1d(given[name]) for name in ("t", "times", "t_end", "duration") if name in given]
    if not times:
        return {}
    t = np.union1d([0.0], times[0])
    tau = np.atleast_1d(np.asarray(given.get("tau", np.zeros(loop.linkage.m)), dtype=float))
    try:
        motion = simulate(loop.linkage, q, du, t, tau, loads=_loads(loop, given))
    except SimulationError as error:
        return {"refused": str(error)}
    found = {"q_end": loop.absolute(motion.q[-1]), "qd_end": loop.absolute(motion.dq[-1]), "gap": motion.gap.max()}
    for time, row in zip(t, motion.q, strict=True):
        found[f"q_{time:g}"] = loop.absolute(row)
    return found | {"energy_end": motion.energy[-1], "imbalance": np.abs(motion.imbalance).max()}


def crank_range(model: dict) -> dict:
    """Return between which angles the crank of a four-bar turns, and whether it turns fully."""
    ground, crank, coupler, rocker = (model[name] for name in ("ground", "crank", "coupler", "rocker"))
    shortest, *middle, longest = sorted((ground, crank, coupler, rocker))

    def angle(distance: float) -> float:
        """Return the crank's angle at which its end is that far from the base of the rocker."""
        return np.arccos(np.clip((ground**2 + crank**2 - distance**2) / (2 * ground * crank), -1, 1))

    hair = 1e-12 * longest
    beyond = ground + crank > coupler + rocker + hair, abs(ground - crank) < abs(coupler - rocker) - hair
    low, high = angle(abs(coupler - rocker)) if beyond[1] else 0.0, angle(coupler + rocker) if beyond[0] else np.pi
    found = {"crank_turns_fully": not any(beyond), "grashof": shortest + longest <= sum(middle) + hair}
    around = [low, high] if all(beyond) else [low, 2 * np.pi - low] if beyond[1] else [-high, high]
    found["crank_range"] = np.array(around)  # of two ranges, mirrored at the x axis, the upper one
    found["crank_range_deg"] = np.degrees(around)
    return found | {"full_turn": found["crank_turns_fully"], "crank_limits": [low, high]}


# ---- Two links, and a pendulum in x and y ----------------------------------------------------------


def two_links(model: dict, given: dict) -> dict:
    """Return all angles with which two links reach each target, that with the positive second angle first."""
    found = {}
    for name in (name for name in given if name.startswith("target") or name == "P"):
        suffix = name.removeprefix("target").removeprefix("P")
        try:
            both = [two_link_angles(model["L1"], model["L2"], given[name], side) for side in (-1, 1)]
        except ClosureError as error:
            found["refused" + suffix] = str(error)
            continue
        found["solutions" + suffix] = both[:1] if np.allclose(*both, rtol=0, atol=1e-12) else both
    return found


def pendulum(length: float, mass: float, g: float, input_joint: int = 1) -> Mechanism:
    """Return a point mass that slides along x and y, tied to the origin by a rod; one of both is the input."""
    slides = [Link("prismatic", AXES, Body(0)), Link("prismatic", AXES, Body(mass))]
    return Mechanism(
        [Robot(slides, [0, -g, 0], name="x and y")], [Rod(Point(1), Point(0), length)], [(1, input_joint)], "pendulum"
    )


def swing(model: dict, given: dict, t: np.ndarray, **options) -> ClosedMotion:
    """Return the motion of a pendulum whose start is an angle from the downward vertical."""
    length, angle, rate = model["L"], given["theta0"], given.get("omega0", 0)
    along = np.array([np.cos(angle), np.sin(angle)])
    joint = int(np.abs(along).argmax())  # the input: that of x and y that moves more
    mechanism = pendulum(length, model.get("m", 1), model["g"], joint + 1)
    start = length * np.array([np.sin(angle), -np.cos(angle)])
    return simulate(mechanism, start, [length * along[joint] * rate], t, **options)


def pendulum_motion(model: dict, given: dict) -> dict:
    """Return the angle after each whole second of 50, or as long as a case says, and what ought not to change."""
    times = [given[name] for name in ("t", "times", "t_end", "duration") if name in given] or [50.0]
    end = float(np.max(times[0]))
    wanted = np.union1d(times[0], np.arange(int(end) + 1))
    t = np.union1d(np.arange(0, end, 0.025), wanted)  # so close that no half turn passes unseen
    motion = swing(model, given, t)
    x, y = motion.q.T
    angle = np.unwrap(np.arctan2(x, -y))
    angle += given["theta0"] - angle[0]
    found = {f"theta_{time:g}": angle[t == time][0] for time in wanted}
    found |= {"energy": motion.energy[0], "energy_end": motion.energy[-1], "energy_error": np.ptp(motion.energy)}
    return found | {"length_error": np.abs(np.hypot(x, y) - model["L"]).max()}
