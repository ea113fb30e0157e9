"""Random linkages in random states, and what is known of them without dynlib: plain trigonometry with many digits."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import hypothesis
import mpmath
import numpy as np
import pytest
from hypothesis import strategies as st

from dynlib import closed_chains, linkages
from dynlib.model import Body, Motor, Point
from dynlib.velocity import Wrench

KINDS = ("three legs", "five-bar", "four-bar", "slider-crank")
SEEDS = st.integers(0, 2**32 - 1)
DIGITS = 30
OFTEN = 6  # how many times as many linkages under the mark `slow`


def for_seeds(few: int) -> Callable:
    """Try a test on a few seeds, and on many under the mark `slow`; the same on every run."""

    def decorate(check: Callable) -> Callable:
        def test(times: int, **given) -> None:
            settings = hypothesis.settings(
                max_examples=times,
                derandomize=True,
                deadline=None,
                database=None,
                suppress_health_check=list(hypothesis.HealthCheck),
            )
            settings(hypothesis.given(seed=SEEDS)(lambda seed: check(seed=seed, **given)))()

        others = [each for each in inspect.signature(check).parameters.values() if each.name != "seed"]
        times = inspect.Parameter("times", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        test.__name__, test.__qualname__, test.__module__ = check.__name__, check.__qualname__, check.__module__
        test.__signature__ = inspect.Signature([*others, times])
        return pytest.mark.parametrize("times", [few, pytest.param(OFTEN * few, marks=pytest.mark.slow)])(test)

    return decorate


def difference(computed, expected, size: float = 0.0) -> float:
    """Return the largest difference, relative to the largest entry, or to the `size` of what was summed."""
    computed, expected = np.asarray(computed, dtype=float), np.asarray(expected, dtype=float)
    assert computed.shape == expected.shape
    return np.abs(computed - expected).max(initial=0.0) / max(np.abs(expected).max(initial=0.0), size, 1e-300)


# ---- The numbers of a linkage ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sketch:
    """A linkage in plain numbers.

    Attributes:
        kind: one of KINDS.
        bases: of each chain, (x, y).
        lengths: of the links of each chain.
        bodies: of each link, (mass, place of the mass centre along the link, and across it, moment about that).
        motors: of each link.
        gravity: (x, y).
        end: what the tip of chain 1 carries, (mass, place of the mass centre beyond the tip, moment about that).
        l_pc: how far P lies beyond C.
    """

    kind: str
    bases: Sequence[Sequence[float]]
    lengths: Sequence[Sequence[float]]
    bodies: Sequence[Sequence[tuple[float, float, float, float]]]
    motors: Sequence[Sequence[Motor]]
    gravity: tuple[float, float] = (0.0, 0.0)
    end: tuple[float, float, float] = (0.0, 0.0, 0.0)
    l_pc: float = 0.0

    @property
    def inputs(self) -> list[int]:
        """The places of the inputs."""
        return {"three legs": [2, 4], "five-bar": [0, 2]}.get(self.kind, [0])

    @property
    def friction(self) -> list[Callable]:
        """What each joint's friction takes at a rate."""

        def of(motor: Motor) -> Callable:
            gear, (ahead, back) = abs(float(motor.gear)), motor.coulomb.tolist()
            return lambda rate: gear * (float(motor.viscous) * gear * rate + (ahead if rate > 0 else back))

        return [of(motor) for chain in self.motors for motor in chain]

    @cached_property
    def linkage(self) -> linkages.Linkage:
        """The linkage in dynlib, with these bodies, motors and gravity."""
        bare = {"masses": [[1] * len(chain) for chain in self.bodies], "bases": self.bases, "lengths": self.lengths}
        if self.kind == "three legs":
            made = linkages.three_legged(**bare, l_pc=self.l_pc, m_pc=0)
        elif self.kind == "five-bar":
            made = linkages.five_bar(**bare)
        elif self.kind == "four-bar":
            (crank, coupler), (rocker,) = self.lengths
            sizes = {"ground": self.bases[1][0], "crank": crank, "coupler": coupler, "rocker": rocker}
            made = linkages.four_bar(**sizes, masses=[1, 1, 1])
        else:
            (crank, rod), _ = self.lengths
            made = linkages.slider_crank(crank=crank, rod=rod, offset=self.bases[1][1], masses=[1, 1, 1])
        chains = []
        for chain, bodies, motors in zip(made.chains, self.bodies, self.motors, strict=True):
            links = [
                replace(link, body=Body(m, [along, across, 0], [0, about, about]), motor=motor)
                for link, (m, along, across, about), motor in zip(chain.links, bodies, motors, strict=True)
            ]
            chains.append(replace(chain, links=links, gravity=[*self.gravity, 0]))
        m, beyond, about = self.end
        chains[0] = replace(chains[0], payload=Body(m, [beyond, 0, 0], [0, about, about]) if m else None)
        return replace(made, chains=chains)


def rod(mass: float, length: float) -> tuple[float, float, float, float]:
    """A thin uniform rod."""
    return mass, length / 2, 0.0, mass * length**2 / 12


def random_sketch(rng: np.random.Generator, kind: str, uniform: bool = False, dry: bool = True) -> Sketch:
    """A random linkage; with uniform rods and without motors, or with any bodies and motors at all joints."""
    counts = {"three legs": (2, 2, 2), "five-bar": (2, 2), "four-bar": (2, 1), "slider-crank": (2, 1)}[kind]
    if kind == "three legs":
        bases = [[0, 0], *rng.uniform([[0.2, -0.3], [0.0, 0.3]], [[0.7, 0.2], [0.5, 0.8]]).tolist()]
    elif kind == "five-bar":
        bases = rng.uniform([[-0.3, -0.2], [0.2, -0.2]], [[0.0, 0.2], [0.6, 0.2]]).tolist()
    elif kind == "four-bar":
        bases = [[0, 0], [rng.uniform(0.2, 1.0), 0]]
    else:
        bases = [[0, 0], [0, rng.uniform(-0.1, 0.1)]]
    lengths = [rng.uniform(0.2, 0.6, count).tolist() for count in counts]
    bodies, motors = [], []
    for chain in lengths:
        masses = rng.uniform(0.2, 2, len(chain)).tolist()
        rods = [rod(m, l) for m, l in zip(masses, chain, strict=True)]
        odd = [(m, *rng.uniform(-0.2, 0.3, 2).tolist(), rng.uniform(0.001, 0.05)) for m in masses]
        bodies.append(rods if uniform else odd)
        dry_friction = [(rng.uniform(0, 0.5), -rng.uniform(0, 0.5)) if dry else (0, 0) for _ in chain]
        driven = [Motor(rng.uniform(1e-4, 1e-2), rng.uniform(1, 5), rng.uniform(0, 0.1), each) for each in dry_friction]
        motors.append([Motor()] * len(chain) if uniform else driven)
    if kind == "slider-crank":  # the slider is a body without directions
        bodies[1] = [(bodies[1][0][0], 0.0, 0.0, 0.0)]
    end = (0.0, 0.0, 0.0) if kind != "three legs" else (rng.uniform(0.1, 1), *rng.uniform(0.01, 0.1, 2).tolist())
    gravity = tuple(rng.uniform(-10, 10, 2).tolist())
    return Sketch(kind, bases, lengths, bodies, motors, gravity, end, rng.uniform(0.05, 0.2))


@dataclass(frozen=True, eq=False)
class State:
    """A linkage in a state that is not close to a singular one, with loads on it."""

    sketch: Sketch
    mode: tuple[int, ...]
    u: np.ndarray
    du: np.ndarray
    ddu: np.ndarray
    loads: list[Wrench]

    @property
    def linkage(self) -> linkages.Linkage:
        return self.sketch.linkage

    @cached_property
    def q(self) -> np.ndarray:
        return self.linkage.positions(self.u, self.mode)

    @cached_property
    def by_hand(self) -> "ByHand":
        return ByHand(self.sketch, self.mode)

    @cached_property
    def moving(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All joint values, rates and accelerations, by hand."""
        with mpmath.workdps(DIGITS):
            at = self.by_hand.path(self.u, self.du, self.ddu)
            places = range(len(self.q))
            columns = [[mpmath.diff(lambda t, k=k: at(t)[k], 0, order) for k in places] for order in (0, 1, 2)]
        q, dq, ddq = np.array(columns, dtype=float)
        return q, dq, ddq


def random_state(seed: int, kind: str | None = None, **options) -> State:
    """A random linkage in a random state."""
    rng = np.random.default_rng([seed, 1])
    kind = kind or KINDS[rng.integers(len(KINDS))]
    while True:
        sketch = random_sketch(rng, kind, **options)
        u, du, ddu = rng.uniform(-3, 3, (3, len(sketch.inputs)))
        try:
            modes = sketch.linkage.assembly_modes(u)
        except closed_chains.ClosureError:  # lengths that close for no crank angle
            continue
        modes = {mode: q for mode, q in modes.items() if _regular(sketch.linkage, q)}
        if modes:
            break
    mode = list(modes)[rng.integers(len(modes))]
    return State(sketch, mode, u, du, ddu, random_loads(rng, sketch))


def _regular(linkage: linkages.Linkage, q: np.ndarray) -> bool:
    return closed_chains.singularity(linkage, q, Point(1)).forward > 0.05


def random_loads(rng: np.random.Generator, sketch: Sketch) -> list[Wrench]:
    """Up to three forces in the plane, with moments, on any links and tips."""
    loads = []
    for _ in range(rng.integers(4)):
        chain = int(rng.integers(len(sketch.bases)))
        link = [None, *range(1, len(sketch.bodies[chain]) + 1)][rng.integers(len(sketch.bodies[chain]) + 1)]
        at = [0, 0, 0] if sketch.kind == "slider-crank" and chain == 1 else [*rng.uniform(-0.3, 0.3, 2), 0]
        loads.append(Wrench.at(Point(chain + 1, link, at), [*rng.uniform(-5, 5, 2), 0], [0, 0, rng.uniform(-2, 2)]))
    return loads


# ---- The same by hand ------------------------------------------------------------------------------


class OutOfReachError(Exception):
    """A triangle whose sides do not meet."""


class ByHand:
    """A linkage in one assembly mode, by triangles and plain trigonometry in mpmath. Nothing here comes from dynlib.

    Points are pairs; the angles of second links are relative to the first ones.
    """

    def __init__(self, sketch: Sketch, mode: Sequence[int]):
        self.sketch, self.mode = sketch, mode

    # -- Positions

    @staticmethod
    def meet(A, a, B, b, side):
        """The corner over the side AB of a triangle with the other sides a and b, by the law of cosines."""
        x, y = B[0] - A[0], B[1] - A[1]
        d = mpmath.hypot(x, y)
        cosine = (d**2 + a**2 - b**2) / (2 * d * a)
        if abs(cosine) > 1:
            raise OutOfReachError
        angle = mpmath.atan2(y, x) + side * mpmath.acos(cosine)
        return A[0] + a * mpmath.cos(angle), A[1] + a * mpmath.sin(angle)

    def elbow(self, chain, angle):
        (x, y), l = self.sketch.bases[chain], self.sketch.lengths[chain][0]
        return x + l * mpmath.cos(angle), y + l * mpmath.sin(angle)

    def coordinates(self, u):
        """All joint values for values of the inputs."""
        kind, l, bases = self.sketch.kind, self.sketch.lengths, self.sketch.bases

        def relative(end, start, before):
            found = mpmath.atan2(end[1] - start[1], end[0] - start[0]) - before
            return found - 2 * mpmath.pi * mpmath.floor((found + mpmath.pi) / (2 * mpmath.pi))

        if kind == "three legs":
            B2, B3 = self.elbow(1, u[0]), self.elbow(2, u[1])
            C = self.meet(B2, l[1][1], B3, l[2][1], self.mode[0])
            B1 = self.meet(bases[0], l[0][0], C, l[0][1], self.mode[1])
            first = relative(B1, bases[0], 0)
            return [first, relative(C, B1, first), u[0], relative(C, B2, u[0]), u[1], relative(C, B3, u[1])]
        if kind == "five-bar":
            B1, B2 = self.elbow(0, u[0]), self.elbow(1, u[1])
            P = self.meet(B1, l[0][1], B2, l[1][1], self.mode[0])
            return [u[0], relative(P, B1, u[0]), u[1], relative(P, B2, u[1])]
        B = self.elbow(0, u[0])
        if kind == "four-bar":
            C = self.meet(B, l[0][1], bases[1], l[1][0], self.mode[0])
            return [u[0], relative(C, B, u[0]), relative(C, bases[1], 0)]
        height = bases[1][1]
        if abs(B[1] - height) > l[0][1]:
            raise OutOfReachError
        C = B[0] - self.mode[0] * mpmath.sqrt(l[0][1] ** 2 - (B[1] - height) ** 2), height
        return [u[0], relative(C, B, u[0]), C[0]]

    def place(self, q, chain, link):
        """Where a link (from 0), or the tip (None), has its origin, and the direction of its x axis."""
        (x, y), lengths = self.sketch.bases[chain], self.sketch.lengths[chain]
        if self.sketch.kind == "slider-crank" and chain == 1:
            return x + q[2], y, mpmath.pi / 2  # as dynlib has it; only points at its origin are looked at
        before = sum(len(each) for each in self.sketch.bodies[:chain])
        last, angle = len(lengths) if link is None else link, mpmath.mpf(0)
        for k in range(last):
            angle += q[before + k]
            x, y = x + lengths[k] * mpmath.cos(angle), y + lengths[k] * mpmath.sin(angle)
        return x, y, angle if link is None else angle + q[before + link]

    def point(self, q, chain, link, along, across):
        """A point of a link or the tip."""
        x, y, angle = self.place(q, chain, link)
        c, s = mpmath.cos(angle), mpmath.sin(angle)
        return x + along * c - across * s, y + along * s + across * c

    # -- Energies

    def bodies(self):
        """All bodies, as (chain, link, mass, along, across, moment)."""
        for chain, bodies in enumerate(self.sketch.bodies):
            for link, body in enumerate(bodies):
                yield chain, link, *body
        mass, beyond, moment = self.sketch.end
        yield 0, None, mass, beyond, 0, moment

    def kinetic(self, q, dq):
        total = mpmath.mpf(0)
        rotors = [motor.inertia * motor.gear**2 for chain in self.sketch.motors for motor in chain]
        for inertia, rate in zip(rotors, dq, strict=True):
            total += float(inertia) * rate**2 / 2
        for chain, link, mass, along, across, moment in self.bodies():

            def moved(t, chain=chain, link=link, along=along, across=across):
                there = [value + t * rate for value, rate in zip(q, dq, strict=True)]
                return *self.point(there, chain, link, along, across), self.place(there, chain, link)[2]

            vx, vy, spin = (mpmath.diff(lambda t, k=k, moved=moved: moved(t)[k], 0) for k in range(3))
            total += mass * (vx**2 + vy**2) / 2 + moment * spin**2 / 2
        return total

    def potential(self, q):
        gx, gy = self.sketch.gravity
        total = mpmath.mpf(0)
        for chain, link, mass, along, across, _ in self.bodies():
            x, y = self.point(q, chain, link, along, across)
            total -= mass * (gx * x + gy * y)
        return total

    # -- Motion

    def path(self, u, du, ddu):
        """All joint values as a function of time, while the inputs are evenly accelerated."""
        u, du, ddu = ([mpmath.mpf(float(value)) for value in each] for each in (u, du, ddu))
        return lambda t: self.coordinates([a + t * b + t * t * c / 2 for a, b, c in zip(u, du, ddu, strict=True)])

    def lagrangian(self, q, dq):
        return self.kinetic(q, dq) - self.potential(q)

    def torques(self, u, du, ddu, lagrangian=None):
        """Lagrange's equations of the inputs, all dependent angles replaced first (B3.12c); without friction."""
        lagrangian, inputs = lagrangian or self.lagrangian, range(len(u))
        u, du, ddu = ([mpmath.mpf(float(value)) for value in each] for each in (u, du, ddu))

        def reduced(u, du):
            dq = [mpmath.diff(lambda s, k=k: self._along(u, du, s)[k], 0) for k in range(len(self.coordinates(u)))]
            return lagrangian(self.coordinates(u), dq)

        def momentum(k, t):
            there = [a + t * b + t * t * c / 2 for a, b, c in zip(u, du, ddu, strict=True)]
            rates = [b + t * c for b, c in zip(du, ddu, strict=True)]
            return mpmath.diff(lambda s: reduced(there, [r + s * (i == k) for i, r in enumerate(rates)]), 0)

        def slope(k):
            return mpmath.diff(lambda s: reduced([a + s * (i == k) for i, a in enumerate(u)], du), 0)

        with mpmath.workdps(DIGITS):
            return np.array([float(mpmath.diff(lambda t, k=k: momentum(k, t), 0) - slope(k)) for k in inputs])

    def _along(self, u, du, s):
        return self.coordinates([a + s * b for a, b in zip(u, du, strict=True)])
