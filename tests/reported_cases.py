"""Answers to the cases in `cases/share.json`: faults reported of other packages, textbook results, real arms.

`solve` reads a case's `model` and `input` alone, by their shape. It never looks at the id, the title or the expected
values, so that it answers any case of the same form. Conventions are those at the head of the file. Every field of a
case must have been read for its answer; a case that says more than is known here is not answered at all.

`python tests/reported_cases.py cases.json answers.json` writes the answers to a whole file.
"""

import json
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import sympy
from case_fields import Fields, UnknownField
from reported_linkages import answer as closed_chain

from dynlib import robots
from dynlib.algebra import apply
from dynlib.algebra.notation import tidy
from dynlib.frames import compose, inverse, position, rotation
from dynlib.model import Body, Motor, Robot
from dynlib.motion import forward_dynamics
from dynlib.newton_euler import inverse_dynamics
from dynlib.structure import coriolis_matrix, gravity_torque, mass_matrix, velocity_torque
from dynlib.velocity import Wrench, jacobian, point_velocity, static_torques

JOINTS = {"R": "revolute", "P": "prismatic", "F": "fixed"}
CONVENTIONS = {"DH": "standard", "MDH": "modified"}


def solve(case: dict) -> dict:
    """Return everything that can be computed from a case, under the names of the file.

    Args:
        case: has `model` and `input`, either of which may be missing or None.

    Returns:
        Lists, numbers and strings. `refused` is the reason why there is no dynamics, if there is none.

    Raises:
        UnknownField: the case has a field that none of these answers has read.
    """
    model, given = Fields(case.get("model") or {}, "model."), Fields(case.get("input") or {}, "input.")
    _refuse_degrees_of_slides(case, model)
    whole = model | {key: given[key] for key in ("gravity", "base", "tool", "motors", "links") if key in given}
    answer: dict = {}
    for part in (_arm, _two_conventions, _parts, _turned_tensor, _angles, _one_joint, _textbook, closed_chain):
        answer |= part(whole, given)
    if unread := [*model.unread(), *given.unread()]:
        raise UnknownField(f"nothing here reads {', '.join(unread)}; the answer may be another one")
    return {key: _plain(value) for key, value in answer.items()}


def _refuse_degrees_of_slides(case: dict, model: Fields) -> None:
    """Refuse joint values in degrees of an arm that also slides: which of them are lengths?"""
    given = case.get("input") or {}
    slides = any(row.get("type") == "P" for row in model.unseen().get("joints") or [] if isinstance(row, dict))
    if slides and (names := [name for name in given if re.fullmatch(r"q\w*_deg", name)]):
        raise UnknownField(f"input.{names[0]} is in degrees, but a joint of the arm slides")


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return value if isinstance(value, str) else np.asarray(value, dtype=float).tolist()


# ---- The arm of a model ----------------------------------------------------------------------------


def body_of(data: dict) -> Body:
    """Return a body from `m` and either `com`, `I_com` or `first_moment`, `I_origin`; what is missing is 0."""
    if "first_moment" in data or "I_origin" in data:
        if "com" in data or "I_com" in data:
            raise ValueError(f"{data} mixes data about the mass centre and about the origin.")
        moment, inertia = data.get("first_moment", [0] * 3), data.get("I_origin", np.zeros((3, 3)))
        return Body.about_origin(data["m"], moment, inertia) if data["m"] else Body(0, inertia=inertia)
    return Body(data.get("m", 0), data.get("com", [0] * 3), data.get("I_com", [0] * 3), allow_impossible=True)


def motor_of(data: dict | None) -> Motor | None:
    """Return a motor from `Jm`, `G`, `B` and `Tc`; what is missing is 0, a missing gear 1."""
    return Motor(data.get("Jm", 0), data.get("G", 1), data.get("B", 0), data.get("Tc", 0)) if data else None


def rows_of(joints: list[dict]) -> list[dict]:
    """Return the rows of a table as dynlib reads them."""
    numbers = ("a", "alpha", "d", "theta", "offset")
    return [
        {key: row.get(key, 0) for key in numbers} | {"joint": JOINTS.get(kind := row.get("type", "R"), kind)}
        for row in joints
    ]


def robot_of(model: dict) -> Robot:
    """Return the arm of a model."""
    rows = rows_of(model["joints"])
    for row, link in zip(rows, model.get("links") or [], strict=bool(model.get("links"))):
        row["body"] = body_of(link)
    for row, motor in zip(rows, model.get("motors") or [], strict=bool(model.get("motors"))):
        row["motor"] = motor_of(motor)
    return Robot.from_dh(
        rows,
        convention=CONVENTIONS[model["convention"]],
        gravity=model.get("gravity", [0, 0, 0]),
        base=model.get("base", np.eye(4)),
        tool=model.get("tool", np.eye(4)),
        name="the arm",
    )


# ---- Cases with an arm -----------------------------------------------------------------------------


def _arm(model: dict, given: dict) -> dict:
    if "joints" not in model or "convention" not in model:
        return {}
    if "link_data" in given:  # the same bodies once more, in another form
        bodies = [*map(body_of, model["links"])], [*map(body_of, given["link_data"])]
        for one, other in zip(*bodies, strict=True):
            if abs(one.mass - other.mass) > 1e-9 or not np.allclose(one.com, other.com, atol=1e-9):
                raise UnknownField("input.link_data and model.links are different bodies")
        model = model | {"links": given["link_data"]}
    if "vector" in given:
        model = model | {"links": _with_tensor(model["links"], given)}
    robot = robot_of(model)
    answer: dict = {}
    for q, suffixes in _poses(robot, given):
        found = _kinematics(model, robot, q, given)
        try:
            found |= _dynamics(model, robot, q, given)
        except ValueError as error:
            if not re.search("has a mass|no mass data|mass matrix", str(error)):
                raise
            found["refused"] = str(error)
        answer |= {key + suffix: value for key, value in found.items() for suffix in suffixes}
    if "l1" in given and abs(np.linalg.norm(robot.links[0].com) - given["l1"]) > 1e-12:  # said once more, in words of
        raise UnknownField("input.l1 is not the distance of the first mass centre")  # the textbook
    return answer | _absolute_angles(robot, given)


def _poses(robot: Robot, given: dict) -> Iterator[tuple[np.ndarray, tuple[str, ...]]]:
    """Yield each pose with the endings of its results: `q` none, `qn` "_qn" and "_n", `q_rows` "_rows", and so on."""
    names = [name for name in given if re.fullmatch(r"q(|[A-Za-ce-z]|_?\d+|_rows)", name)]
    for name in names:
        suffix = name[1:] if name.startswith("q_") else f"_{name[1:]}"
        yield np.atleast_1d(np.asarray(given[name], dtype=float)), ("",) if name == "q" else (f"_{name}", suffix)
    if not names and "p_abs" not in given:
        yield np.zeros(robot.n), ("",)


def _rates(robot: Robot, given: dict) -> tuple[np.ndarray, np.ndarray]:
    qd, qdd = (np.asarray(given.get(name, 0), dtype=float) for name in ("qd", "qdd"))
    return tuple(np.full(robot.n, each) if each.ndim == 0 else each for each in (qd, qdd))


def _kinematics(model: dict, robot: Robot, q: np.ndarray, given: dict) -> dict:
    qd, _ = _rates(robot, given)
    T = compose(robot.base, robot.pose(q))
    found = {"T": T, "p_tip": position(T)}
    found |= {f"J_tip_{axes}": jacobian(robot, q, axes=axes) for axes in ("world", "base")}
    found["J_tip_tool"] = jacobian(robot, q, axes="link")
    shown = _rows_shown(model)
    found |= {f"J_{name}_axes": found[f"J_tip_{name}"][..., shown, :] for name in ("tool", "base", "world")}
    for name, axes in (("tool", "link"), ("base", "base"), ("world", "world")):
        found[f"v_{name}_axes"], found[f"omega_{name}_axes"] = point_velocity(robot, q, qd, axes=axes)
    found["omega"] = found["omega_world_axes"]
    if robot.links[-1].body is not None:
        last = compose(robot.base, robot.pose(q, link=robot.n))
        found["tip_com"] = apply(rotation(last), robot.links[-1].com) + position(last)
    if (wrist := _wrist(robot, q)) is not None:
        found |= {"wrist_position": wrist, "wrist_position_mdh": wrist}
    if "f_tool_axes" in given:  # the force of the arm on its surroundings
        force = np.zeros(3)
        force[: len(given["f_tool_axes"])] = given["f_tool_axes"]
        found["tau_static"] = static_torques(robot, q, [Wrench(-force, axes="link")])
    return found


def _rows_shown(model: dict) -> list[int]:
    """Return the rows of a Jacobian that say something: of a planar arm vx, vy and, from 3 joints on, omega z."""
    rows = rows_of(model["joints"])
    planar = all(row["alpha"] == 0 and row["joint"] != "prismatic" for row in rows)
    return [0, 1, 5][: max(2, min(len(rows), 3))] if planar else list(range(6))


def _wrist(robot: Robot, q: np.ndarray) -> np.ndarray | None:
    """Return the point in which the last three axes meet, in world axes, if there is one."""
    if robot.n < 3 or q.ndim > 1 or any(link.joint != "revolute" for link in robot.links[-3:]):
        return None
    poses = [compose(robot.base, robot.pose(q, link=number)) for number in range(robot.n - 2, robot.n + 1)]
    across = [np.eye(3) - np.outer(T[:3, 2], T[:3, 2]) for T in poses]  # |across (x - p)|: the distance from an axis
    right = np.concatenate([A @ position(T) for A, T in zip(across, poses, strict=True)])
    matrix = np.concatenate(across)
    point, _, rank, _ = np.linalg.lstsq(matrix, right, rcond=1e-9)
    return point if rank == 3 and np.abs(matrix @ point - right).max() < 1e-9 else None


def _dynamics(model: dict, robot: Robot, q: np.ndarray, given: dict) -> dict:
    qd, qdd = _rates(robot, given)
    found = {}
    M = found["M"] = mass_matrix(robot, q)
    loads = [*_wrenches(given)]
    found["g"] = gravity_torque(robot, q)
    found["det"] = found["det_M"] = np.linalg.det(M)
    found["smallest_eigenvalue"] = np.linalg.eigvalsh(M)[..., 0]
    found["C_qd"] = velocity_torque(robot, q, qd)
    found["h"] = found["C_qd"] + found["g"]
    still = inverse_dynamics(robot, q, qd, np.zeros(robot.n))
    found["friction"] = found["tau_friction"] = still - found["h"]
    found["kinetic_energy"] = (qd * apply_matrix(M, qd)).sum(axis=-1) / 2
    if q.ndim == 1 and qd.ndim == 1:
        found["C_christoffel"] = coriolis_matrix(robot, q, qd)
        units = np.eye(robot.n)
        found["bias"] = {f"joint{i + 1}": velocity_torque(robot, q, unit) for i, unit in enumerate(units)}
        found["bias"]["both" if robot.n == 2 else "all"] = velocity_torque(robot, q, units.sum(axis=0))
    moving = q, qd, qdd
    if "tau" in given:  # the torques are known: they move the arm, and it is they that give power
        found["qdd"] = forward_dynamics(robot, q, qd, given["tau"], loads=loads)
        if "qdd" not in given:
            return found | {"power": (np.asarray(given["tau"]) * qd).sum(axis=-1)}
    found["tau"] = inverse_dynamics(robot, *moving, loads=loads)
    found["tau_no_wrench"] = inverse_dynamics(robot, *moving)
    if "force" in given or "moment" in given:
        found |= _tip_wrench(robot, moving, given)
    if "tau" not in given:
        found["power"] = (found["tau"] * qd).sum(axis=-1)
    if "payload" in given:
        found |= _payload(model, robot, moving, given["payload"])
    return found


WRENCH = re.compile(r"wrench(?:_(?P<axes>world|base|tip|tool))?(?:_axes)?(?:_(?P<sense>on|by)_arm)?")


def _wrenches(given: dict) -> Iterator[Wrench]:
    """Yield the loads at the tip: `wrench`, `wrench_tip_by_arm` and so on, or `force` and `moment`.

    As the head of the file has it, what is not said is in world axes and put on the arm by its surroundings.
    """
    for name in given:
        if found := WRENCH.fullmatch(name):
            value = given[name]
            parts = (value.get("force", [0] * 3), value.get("moment", [0] * 3)) if isinstance(value, dict) else value
            force, moment = np.reshape(np.asarray(parts, dtype=float), (2, 3)) * (-1 if found["sense"] == "by" else 1)
            axes = {"tip": "link", "tool": "link", None: "world"}.get(found["axes"], found["axes"])
            yield Wrench(force, moment, axes=axes)
    if "force" in given or "moment" in given:
        yield Wrench(given.get("force", [0] * 3), given.get("moment", [0] * 3), axes="world")


def apply_matrix(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return matrix times vector, for batches of either."""
    return (matrix @ vector[..., None])[..., 0]


def _tip_wrench(robot: Robot, moving: tuple, given: dict) -> dict:
    """Return the torques for the four readings of a wrench: in which axes, and on whom."""
    found = {}
    for axes in ("world", "tip"):
        for sense, sign in (("on_arm", 1), ("by_arm", -1)):
            force, moment = (sign * np.asarray(given.get(key, [0] * 3), dtype=float) for key in ("force", "moment"))
            load = Wrench(force, moment, axes="link" if axes == "tip" else axes)
            found[f"tau_{axes}_axes_{sense}"] = inverse_dynamics(robot, *moving, loads=[load])
    return found


def _payload(model: dict, robot: Robot, moving: tuple, data: dict) -> dict:
    """Return the torques without a payload, with it, with one of no mass, and after it was taken off."""
    given = Body(data["m"], data.get("p", data.get("com", [0] * 3)), data.get("I_com", [0] * 3))
    load = given.moved(inverse(np.asarray(model.get("tool", np.eye(4)), dtype=float)))  # from the last link to the tip
    loaded = robot.with_payload(load.mass, load.com, load.inertia)
    arms = {
        "none": robot,
        "payload": loaded,
        "zero_payload": robot.with_payload(0),
        "removed": loaded.without_payload(),
    }
    found = {f"tau_{name}": inverse_dynamics(arm, *moving) for name, arm in arms.items()}
    return found | {"M_payload": mass_matrix(loaded, moving[0]), "tau_after_zero_payload": found["tau_zero_payload"]}


def _with_tensor(links: list[dict], given: dict) -> list[dict]:
    """Return the links with a tensor that is given as six named numbers, in the link that has it (else the last)."""
    entries = {frozenset(name): value for name, value in zip(given["order"], given["vector"], strict=True)}
    tensor = [[entries[frozenset(row + column)] for column in "xyz"] for row in "xyz"]
    same = [link.get("I_com") is not None and np.allclose(link["I_com"], tensor) for link in links]
    place = same.index(True) if any(same) else len(links) - 1
    return [link | {"I_com": tensor} if i == place else link for i, link in enumerate(links)]


def _absolute_angles(robot: Robot, given: dict) -> dict:
    """Return the equations of a planar arm in absolute angles: q = P p, so that tau_abs = P^T tau_rel."""
    if "p_abs" not in given:
        return {}
    P = np.eye(robot.n) - np.eye(robot.n, k=-1)
    p, pd, pdd = (np.asarray(given.get(key, np.zeros(robot.n)), dtype=float) for key in ("p_abs", "pd_abs", "pdd_abs"))
    relative = inverse_dynamics(robot, P @ p, P @ pd, P @ pdd)
    D = P.T @ mass_matrix(robot, P @ p) @ P
    g = P.T @ gravity_torque(robot, P @ p)
    bias = P.T @ velocity_torque(robot, P @ p, P @ pd)
    return {"tau_rel": relative, "tau_abs": P.T @ relative, "D_abs": D, "M_abs": D, "g_abs": g, "bias_abs": bias}


# ---- Cases without an arm --------------------------------------------------------------------------


def _two_conventions(model: dict, given: dict) -> dict:
    """Return the pose of the last frame of one table read in both conventions."""
    if "rows" not in model or "q" not in given:
        return {}
    read = {
        name: Robot.from_dh(rows_of(model["rows"]), convention=name, gravity=[0] * 3) for name in CONVENTIONS.values()
    }
    return {f"T_{name}": robot.pose(given["q"]) for name, robot in read.items()}


def _parts(model: dict, given: dict) -> dict:
    """Return one body for several."""
    if not (parts := model.get("parts", given.get("parts"))):
        return {}
    merged = body_of(parts[0])
    for part in parts[1:]:
        merged = merged + body_of(part)
    return {"m": merged.mass, "com": merged.com, "I_com": merged.inertia}


def _turned_tensor(model: dict, given: dict) -> dict:
    """Return a tensor in link axes that is given in turned axes, such as `Rz(90 deg) Rx(0.3)`."""
    if "I_in_inertia_axes" not in given:
        return {}
    turn = np.eye(4)
    if isinstance(given.get("turn"), str):
        for axis, number, unit in re.findall(r"R([xyz])\(\s*([-+.\de]+)\s*(deg)?\s*\)", given["turn"]):
            turn = turn @ _about(axis, math.radians(float(number)) if unit else float(number))
    elif "turn" in given:
        turn[:3, :3] = given["turn"]
    return {"I_link": Body(1, inertia=given["I_in_inertia_axes"], allow_impossible=True).moved(turn).inertia}


def _about(axis: str, angle: float) -> np.ndarray:
    turn, (c, s) = np.eye(4), (math.cos(angle), math.sin(angle))
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    turn[[i, i, j, j], [i, j, i, j]] = c, -s, s, c
    return turn


def _angles(model: dict, given: dict) -> dict:
    """Return the shortest difference of two angles, and a path of angles without jumps; slides are not wrapped."""
    slides = "P" in (model.get("type"), given.get("type"))
    found = {}
    if {"wanted", "actual"} <= set(given):
        gap = given["wanted"] - given["actual"]
        found["difference"] = gap if slides else math.remainder(gap, 2 * math.pi)
    if "path" in given:
        found["unwrapped"] = given["path"] if slides else np.unwrap(given["path"])
    return found


def _one_joint(model: dict, given: dict) -> dict:
    """Return the acceleration of a single joint of inertia I with friction."""
    if "I" not in model or not {"tau", "qd"} <= set(given) or np.ndim(model["I"]):
        return {}
    row = {"body": Body(0, inertia=[0, 0, model["I"]], allow_impossible=True)}
    row["motor"] = Motor(model.get("Jm", 0), model.get("G", 1), model.get("b", model.get("B", 0)), model.get("Tc", 0))
    robot = Robot.from_dh([row], convention="modified", gravity=[0, 0, 0])
    return {"qdd": forward_dynamics(robot, [given.get("q", 0)], [given["qd"]], [given["tau"]])[0]}


def _textbook(model: dict, given: dict) -> dict:
    """Return the torques of the planar 2R with masses at the link ends, exactly and as text, if no number is given."""
    exact = [key for key, value in given.unseen().items() if isinstance(value, str) and "sympy" in value]
    if model or not exact:
        return {}
    assert all("exact" in given[key] for key in exact)
    arm = robots.planar_2r()
    tau = inverse_dynamics(arm, *arm.motion_symbols())
    old = {"theta": "q", "dtheta": "qd", "ddtheta": "qdd", "L": "l"}
    names = {symbol: re.sub(r"^(d*theta|L)", lambda part: old[part[0]], str(symbol)) for symbol in _symbols(tau)}
    return {f"tau{i}": str(_grouped(tidy(entry).subs(names))) for i, entry in enumerate(tau, start=1)}


def _symbols(entries) -> set:
    return set().union(*(entry.free_symbols for entry in entries))


def _grouped(expression: sympy.Expr) -> sympy.Expr:
    """Return a sum with the terms of one effect joined: the same lengths, rates, angle and gravity."""
    groups: dict = {}
    for term in sympy.Add.make_args(sympy.expand(expression)):
        effect, rest = term.as_independent(*(s for s in term.free_symbols if re.match(r"m\d|qdd\d", str(s))))
        number, effect = effect.as_coeff_Mul()
        groups[effect] = groups.get(effect, 0) + number * rest
    return sympy.Add(*(effect * sympy.factor(rest) for effect, rest in groups.items()))


def main(cases: str, answers: str) -> None:
    """Answer the cases of one file into another."""
    solved: dict = {}
    for case in json.loads(Path(cases).read_text(encoding="utf-8"))["cases"]:
        try:
            solved[case["id"]] = solve({"model": case["model"], "input": case["input"]})
        except UnknownField as error:
            print(f"{case['id']}: left open, for {error}.", file=sys.stderr)
    Path(answers).write_text(json.dumps(solved, ensure_ascii=False, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
