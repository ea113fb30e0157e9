"""The closed form of the planar 2R by dynlib, beside SymPy's LagrangesMethod followed by `simplify`.

Run it as `python -m benchmarks.lagrange`. Both derive the same two torques of the same arm, which is checked first.
Their rounds alternate, so that a busy machine slows both; SymPy's cache is emptied before every measurement, so that
nothing is remembered from the round before. Shown are the medians of the CPU time.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy
from sympy.core.cache import clear_cache
from sympy.physics import mechanics

from benchmarks import versions
from dynlib import check, lagrange, robots
from dynlib.model import Robot

ROUNDS = 15


@dataclass(frozen=True)
class Comparison:
    """CPU times of the two.

    Attributes:
        part: what was measured.
        dynlib: median CPU time, in s.
        sympy: the same for LagrangesMethod and `simplify`.
    """

    part: str
    dynlib: float
    sympy: float

    @property
    def ratio(self) -> float:
        """Return how many times as long SymPy takes."""
        return self.sympy / self.dynlib


def dynlib_model() -> Robot:
    """Return the arm in dynlib."""
    return robots.planar_2r()


def by_dynlib(arm: Robot) -> list[sympy.Expr]:
    """Return the torques as sums of products."""
    return [coordinate.tau for coordinate in lagrange.of_robot(arm)]


def sympy_model() -> tuple[sympy.Expr, list[sympy.Expr]]:
    """Return the Lagrangian of the same arm, built from frames, points and particles, and its coordinates."""
    L1, L2, m1, m2, g = sympy.symbols("L1 L2 m1 m2 g")
    theta1, theta2 = mechanics.dynamicsymbols("theta1 theta2")
    fixed = mechanics.ReferenceFrame("N")
    link1 = fixed.orientnew("A", "Axis", [theta1, fixed.z])
    link2 = link1.orientnew("B", "Axis", [theta2, link1.z])
    base = mechanics.Point("O")
    base.set_vel(fixed, 0)
    elbow = base.locatenew("P", L1 * link1.x)
    elbow.v2pt_theory(base, fixed, link1)
    tip = elbow.locatenew("Q", L2 * link2.x)
    tip.v2pt_theory(elbow, fixed, link2)
    particles = []
    for name, point, mass in (("1", elbow, m1), ("2", tip, m2)):
        particle = mechanics.Particle(name, point, mass)
        particle.potential_energy = mass * g * point.pos_from(base).dot(fixed.y)
        particles.append(particle)
    return mechanics.Lagrangian(fixed, *particles), [theta1, theta2]


def by_sympy(model: tuple[sympy.Expr, list[sympy.Expr]]) -> list[sympy.Expr]:
    """Return the torques, simplified."""
    method = mechanics.LagrangesMethod(*model)
    return list(sympy.simplify(method.form_lagranges_equations()))


def in_symbols(expression: sympy.Expr) -> sympy.Expr:
    """Return an expression in functions of time in the symbols of dynlib."""
    t = mechanics.dynamicsymbols._t
    for order, dots in ((2, "dd"), (1, "d"), (0, "")):
        for name in ("theta1", "theta2"):
            way = sympy.Function(name)(t)
            expression = expression.subs(way.diff(t, order) if order else way, sympy.Symbol(dots + name))
    return expression


def cpu_time(compute: Callable[[], object]) -> float:
    """Return the CPU time of a computation with an empty cache, in s."""
    clear_cache()
    start = time.process_time()
    compute()
    return time.process_time() - start


def compare(rounds: int = ROUNDS) -> list[Comparison]:
    """Measure both, in turns: from the model to the closed form, and the same with the making of the model.

    Raises:
        AssertionError: the two closed forms differ.
    """
    arm, model = dynlib_model(), sympy_model()
    found = check.difference(by_dynlib(arm), [in_symbols(each) for each in by_sympy(model)])
    assert not found, f"the closed forms differ: {found}"

    parts: list[tuple[str, Callable[[], Any], Callable[[], Any]]] = [
        ("closed form", lambda: by_dynlib(arm), lambda: by_sympy(model)),
        ("model and closed form", lambda: by_dynlib(dynlib_model()), lambda: by_sympy(sympy_model())),
    ]
    times: dict[str, list[tuple[float, float]]] = {part: [] for part, *_ in parts}
    for _ in range(rounds):
        for part, ours, theirs in parts:
            times[part].append((cpu_time(ours), cpu_time(theirs)))
    return [Comparison(part, *map(statistics.median, zip(*pairs, strict=True))) for part, pairs in times.items()]


def table(comparisons: list[Comparison]) -> str:
    """Return the comparisons as a Markdown table."""
    lines = ["| Part | dynlib, ms | SymPy, ms | Ratio |", "| :--- | ---: | ---: | ---: |"]
    lines += [f"| {c.part} | {c.dynlib * 1e3:.1f} | {c.sympy * 1e3:.0f} | {c.ratio:.0f} |" for c in comparisons]
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lagrange", description="Closed form of the planar 2R.")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds, of which the median counts")
    options = parser.parse_args(arguments)
    print(table(compare(options.rounds)))
    print("\n" + versions("sympy"))


if __name__ == "__main__":
    main(sys.argv[1:])
