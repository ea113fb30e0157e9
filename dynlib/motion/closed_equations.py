r"""The equations of motion of closed chains as functions of floats that are fast to call many times.

.. math:: \begin{bmatrix} M & J^\top \\ J & 0 \end{bmatrix}\begin{bmatrix} \ddot q \\ -\lambda \end{bmatrix}
    = \begin{bmatrix} S\tau - h \\ -\dot J\dot q \end{bmatrix}

With other right sides the same matrix moves a position back until it closes, or rates until they fit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sympy

from dynlib.algebra.arrays import Array, exact_array
from dynlib.algebra.notation import tidy
from dynlib.closed_chains import constraints, dynamics
from dynlib.closed_chains.constraints import constraint_jacobian
from dynlib.closed_chains.dynamics import has_inertia, tree_mass_matrix, tree_reference
from dynlib.closed_chains.singular import mobility
from dynlib.closed_chains.walk import Walk
from dynlib.model.mechanism import Mechanism
from dynlib.motion import equations
from dynlib.velocity import Wrench

_COMPILED_UP_TO = 3  # joints of a chain; the formulas of longer ones take long to derive
_DEFINITE = 1e-6  # least inertia of the cut mechanism with which equations are solved without a look at the pivots


@dataclass(frozen=True)
class Equations:
    """What the integration asks for; all lists of floats.

    Attributes:
        kept: places of the closure equations that are solved for; the redundant ones are left out.
        accelerate: (q, dq, forces of the inputs in all n places) to ddq, lam of the kept equations, power of the loads.
        closing: q to the change that closes it, phi, and the rows of J.
        steadying: (q, dq) to the change of the rates that fits.
    """

    kept: tuple[int, ...]
    accelerate: Callable[[list[float], list[float], list[float]], tuple[list[float], list[float], float]]
    closing: Callable[[list[float]], tuple[list[float], list[float], list[list[float]]]]
    steadying: Callable[[list[float], list[float]], list[float]]


def equations_of(
    mechanism: Mechanism,
    *,
    loads: Sequence[Wrench] = (),
    q0: Any = None,
    baumgarte: float = 0.0,
    compiled: bool | None = None,
) -> Equations:
    r"""Return the equations of motion of a closed chain as functions of floats that are fast to call many times.

    Args:
        mechanism: chains and closures, of numbers; every link needs a mass. Joints may have viscous friction.
        loads: constant forces that the surroundings put *on* the mechanism.
        q0: a closed position, shape (n,), in rad or m. As many equations are kept there as are independent, those that
            hold best; redundant ones are left out. Without it all equations count, and redundant ones make the
            accelerations fail.
        baumgarte: as in :func:`~dynlib.motion.simulation.simulate`.
        compiled: whether closed formulas are derived once, so that a call takes microseconds; otherwise each call runs
            the recursion, which takes milliseconds. By default for chains of up to 3 joints.

    Returns:
        The :class:`Equations`.

    Raises:
        ClosureError: q0 does not close the chains.
        ValueError: symbols, a wrong length, shape or number, dry friction, or a link without mass data.

    >>> from dynlib.linkages import four_bar
    >>> bars = four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[1, 1, 1])
    >>> q = bars.positions([0.5], mode=[1]).tolist()  # crank and rocker turn, the coupler shifts: 1/3 + 1/3 + 1 kg m^2
    >>> ddq, *_ = equations_of(bars).accelerate(q, [0.0, 0.0, 0.0], [5.0, 0.0, 0.0])
    >>> np.round(ddq, 12)
    array([ 3., -3.,  3.])
    """
    refuse_unfit(mechanism)
    dynamics.refuse_batched(loads)
    kept = tuple(range(len(mechanism.rows))) if q0 is None else independent_rows(mechanism, q0)
    if compiled is None:
        compiled = all(chain.n <= _COMPILED_UP_TO for chain in mechanism.chains)
    if not compiled:
        return _by_recursion(mechanism, kept, tuple(loads), baumgarte)
    definite = _is_definite(mechanism, np.zeros(mechanism.n) if q0 is None else q0)
    return (_compiled if definite else _compiled_with_pivots)(mechanism, kept, tuple(loads), baumgarte)


def independent_rows(mechanism: Mechanism, q: Any) -> tuple[int, ...]:
    """Return the places of closure equations that are independent, those that hold best in a position.

    Args:
        mechanism: chains and closures, of numbers.
        q: a closed position, shape (n,), in rad or m.

    Returns:
        As many places as there are independent equations, in order.

    Raises:
        ClosureError: q does not close the chains.

    >>> from dynlib.linkages import four_bar
    >>> bars = four_bar(ground=2, crank=1, coupler=2, rocker=1, masses=[1, 1, 1])
    >>> independent_rows(bars, bars.positions([0.5], mode=[1]))
    (0, 1)
    """
    from scipy.linalg import qr

    rank = mobility(mechanism, q).rank
    _, _, order = qr(constraint_jacobian(mechanism, q).T, mode="economic", pivoting=True)
    return tuple(sorted(order[:rank].tolist()))


class _Tape:
    """Assignments, one after the other, for a function without loops and pivots."""

    def __init__(self, formulas: Sequence[sympy.Expr]):
        self.lines, self.formulas = equations.in_pieces(formulas)

    def put(self, value: sympy.Expr) -> sympy.Expr:
        """Give a value a name, if it is more than a name or a number, and return that."""
        if value.is_Atom:
            return value
        name = sympy.Symbol(f"s_{len(self.lines)}")
        self.lines.append((name, value))
        return name

    def solved(self, K: list[list[sympy.Expr]], right: list[sympy.Expr]) -> tuple[list[sympy.Expr], list[sympy.Expr]]:
        """Solve K x = right by elimination without a look at the pivots, and return x and the pivots.

        K is symmetric, first a positive definite block and then zeros: then no pivot vanishes unless K is singular.
        """
        K, right, size = [list(row) for row in K], list(right), len(right)
        factors: list[dict[int, sympy.Expr]] = []
        for k in range(size):
            inverse = self.put(1 / K[k][k])
            below = [i for i in range(k + 1, size) if K[i][k] != 0]
            factors.append({i: self.put(K[i][k] * inverse) for i in below})
            for place, i in enumerate(below):
                for j in below[place:]:
                    K[j][i] = K[i][j] = self.put(K[j][i] - factors[k][i] * K[j][k])
                right[i] = self.put(right[i] - factors[k][i] * right[k])
            right[k] = self.put(right[k] * inverse)
        for k in reversed(range(size)):
            for i, factor in factors[k].items():
                right[k] = self.put(right[k] - factor * right[i])
        return right, [K[k][k] for k in range(size)]

    def function(self, arguments: Sequence[Any], results: Any) -> Callable[..., Any]:
        """Return a function of floats."""
        used = self._needed(results)
        lines = [line for line in self.lines if line[0] in used]
        groups = [list(group) for group in arguments]
        return sympy.lambdify(groups, results, modules="math", cse=lambda _: (lines, results))

    def _needed(self, results: Any) -> set[sympy.Expr]:
        needed = set().union(*(sympy.sympify(each).free_symbols for each in _flat(results)))
        for name, value in reversed(self.lines):
            if name in needed:
                needed |= value.free_symbols
        return needed


def _flat(nested: Any) -> list[Any]:
    return [leaf for part in nested for leaf in _flat(part)] if isinstance(nested, list | tuple) else [nested]


@dataclass(frozen=True)
class _Formulas:
    """The equations of a mechanism, its numbers in them: names of values on a tape, and the symbols they depend on."""

    tape: _Tape
    q: Array
    dq: Array
    u: tuple[sympy.Symbol, ...]
    K: list[list[sympy.Expr]]
    right: list[sympy.Expr]
    phi: list[sympy.Expr]
    J: list[list[sympy.Expr]]
    rates: list[sympy.Expr]
    power: sympy.Expr


@lru_cache(maxsize=16)
def _formulas(mechanism: Mechanism, kept: tuple[int, ...], loads: tuple[Wrench, ...], baumgarte: float) -> _Formulas:
    """Derive everything once."""
    exact = mechanism.exact(round_angles=False)
    q, dq, _ = exact.motion_symbols()
    n, r = mechanism.n, len(kept)
    u, omega = sympy.symbols(f"u_:{n}"), sympy.Rational(repr(float(baumgarte)))
    M, h = np.full((n, n), sympy.S.Zero), np.full(n, sympy.S.Zero)
    for first, chain in zip(mechanism.first, mechanism.chains, strict=True):
        if not has_inertia(chain):
            continue
        mine = slice(first, first + chain.n)
        _, _, M[mine, mine], h[mine] = equations.formulas(chain, (q[mine], dq[mine]))
    h = h + exact_array(viscous_friction(mechanism)) * dq
    pushes, walk = np.full(n, sympy.S.Zero), Walk(exact, q)
    for load in loads:
        pushes = pushes + walk.joint_forces(load.mapped(lambda array: exact_array(array.astype(float))))
    written = _as_sums if all(chain.n <= equations.EXPANDED_UP_TO for chain in mechanism.chains) else np.asarray
    phi, J, bias = (
        written(formulas[list(kept)])
        for formulas in (
            walk.gap,
            walk.J,
            walk.bias(dq),
        )
    )
    tape = _Tape([sympy.sympify(e) for e in (*M.flat, *h, *pushes, *phi, *J.flat, *bias)])
    named = iter(tape.formulas)
    M, h, pushes, phi, J, bias = (
        np.array([tape.put(next(named)) for _ in range(array.size)], dtype=object).reshape(array.shape)
        for array in (M, h, pushes, phi, J, bias)
    )
    K = np.block([[M, J.T], [J, np.full((r, r), sympy.S.Zero)]]).tolist()
    rates = J @ dq
    pull = [bias[i] + 2 * omega * rates[i] + omega**2 * phi[i] for i in range(r)]
    right = [tape.put(u[k] + pushes[k] - h[k]) for k in range(n)] + [tape.put(-each) for each in pull]
    power = tape.put(sympy.Add(*(push * rate for push, rate in zip(pushes, dq, strict=True))))
    return _Formulas(tape, q, dq, u, K, right, list(phi), J.tolist(), list(rates), power)


@lru_cache(maxsize=16)
def _compiled(mechanism: Mechanism, kept: tuple[int, ...], loads: tuple[Wrench, ...], baumgarte: float) -> Equations:
    """Return the equations as functions without loops, for a mass matrix that is positive definite nearly everywhere.

    Where it is not, as in a straight leg of massless links with one point mass, they are solved with pivots.
    """
    f, n = _formulas(mechanism, kept, loads, baumgarte), mechanism.n
    careful = _compiled_with_pivots(mechanism, kept, loads, baumgarte)
    tape, nothing = f.tape, [sympy.S.Zero] * n
    found, pivots = tape.solved(f.K, f.right)
    accelerate = tape.function([f.q, f.dq, f.u], [[found[:n], [-each for each in found[n:]], f.power], pivots[:n]])
    closed, pivots = tape.solved(f.K, nothing + [tape.put(-each) for each in f.phi])
    closing = tape.function([f.q], [[closed[:n], f.phi, f.J], pivots[:n]])
    steady, pivots = tape.solved(f.K, nothing + [tape.put(-each) for each in f.rates])
    steadying = tape.function([f.q, f.dq], [steady[:n], pivots[:n]])
    least = (_DEFINITE * tree_reference(mechanism, mechanism.in_metres(np.ones(n)))).tolist()

    def guarded(quick: Callable[..., Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
        def solve(*state: list[float]) -> Any:
            try:
                result, pivots = quick(*state)
            except ZeroDivisionError:
                return otherwise(*state)
            return (
                result
                if all(pivot > enough for pivot, enough in zip(pivots, least, strict=True))
                else otherwise(*state)
            )

        return solve

    return Equations(
        kept,
        guarded(accelerate, careful.accelerate),
        guarded(closing, careful.closing),
        guarded(steadying, careful.steadying),
    )


def _compiled_with_pivots(
    mechanism: Mechanism, kept: tuple[int, ...], loads: tuple[Wrench, ...], baumgarte: float
) -> Equations:
    """Return the equations with closed formulas in them, solved with pivots, for links without mass."""
    f, n = _formulas(mechanism, kept, loads, baumgarte), mechanism.n
    system = f.tape.function([f.q, f.dq, f.u], [f.K, f.right, f.power])
    gaps = f.tape.function([f.q], [f.K, f.phi, f.J])
    moving = f.tape.function([f.q, f.dq], [f.K, f.rates])

    def accelerate(q: list[float], dq: list[float], forces: list[float]) -> Any:
        K, right, power = system(q, dq, forces)
        found = np.linalg.solve(K, right)
        return found[:n].tolist(), (-found[n:]).tolist(), power

    def closing(q: list[float]) -> tuple[list[float], list[float], list[list[float]]]:
        K, phi, J = gaps(q)
        return _smallest(K, phi, n), phi, J

    def steadying(q: list[float], dq: list[float]) -> list[float]:
        K, rates = moving(q, dq)
        return _smallest(K, rates, n)

    return Equations(kept, accelerate, closing, steadying)


def _smallest(K: Any, gaps: Any, n: int) -> list[float]:
    """Return the smallest change, in the measure of the masses, that takes gaps or their rates away."""
    return np.linalg.solve(K, [*np.zeros(n), *(-gap for gap in gaps)])[:n].tolist()


def _as_sums(formulas: Array) -> Array:
    """Return formulas with sines and cosines of sums of angles, as M and h have them; roots are left as they are."""

    def written(formula: sympy.Expr) -> sympy.Expr:
        rooted = any(not power.exp.is_Integer or power.exp < 0 for power in formula.atoms(sympy.Pow))
        return formula if rooted else tidy(formula)

    return np.asarray(np.frompyfunc(written, 1, 1)(formulas))


def _by_recursion(mechanism: Mechanism, kept: tuple[int, ...], loads: tuple[Wrench, ...], omega: float) -> Equations:
    """Return the equations by the recursion of each chain, for chains of any length."""
    n, rows = mechanism.n, list(kept)
    pieces = zip(mechanism.first, mechanism.chains, strict=True)
    chains = [
        (slice(first, first + chain.n), equations.equations_of(chain, compiled=None if has_inertia(chain) else False))
        for first, chain in pieces
    ]
    viscous = viscous_friction(mechanism)

    def less_turns(q: list[float]) -> list[float]:
        return less_turns_of(mechanism, np.array(q)).tolist()

    def matrix(q: list[float], dq: list[float]) -> tuple[Array, Walk, Array]:
        M, h = np.zeros((n, n)), viscous * dq
        for mine, arm in chains:
            M[mine, mine], of_chain = arm(q[mine], dq[mine])
            h[mine] += of_chain
        walk = Walk(mechanism, np.array(q))
        J = walk.J[rows]
        return np.block([[M, J.T], [J, np.zeros((len(rows), len(rows)))]]), walk, h

    def accelerate(q: list[float], dq: list[float], forces: list[float]) -> Any:
        q = less_turns(q)
        K, walk, h = matrix(q, dq)
        phi, J, pushes = walk.gap[rows], walk.J[rows], np.zeros(n)
        for load in loads:
            pushes += walk.joint_forces(load)
        bias = walk.bias(np.array(dq))[rows] + 2 * omega * (J @ dq) + omega**2 * phi
        found = np.linalg.solve(K, [*(np.array(forces) + pushes - h), *-bias])
        return found[:n].tolist(), (-found[n:]).tolist(), float(pushes @ dq)

    def closing(q: list[float]) -> tuple[list[float], list[float], list[list[float]]]:
        q = less_turns(q)
        K, walk, _ = matrix(q, [0.0] * n)
        phi, J = walk.gap[rows], walk.J[rows]
        return _smallest(K, phi, n), phi.tolist(), J.tolist()

    def steadying(q: list[float], dq: list[float]) -> list[float]:
        K, walk, _ = matrix(less_turns(q), dq)
        return _smallest(K, walk.J[rows] @ dq, n)

    return Equations(kept, accelerate, closing, steadying)


def viscous_friction(mechanism: Mechanism) -> Array:
    """Return the viscous friction of all joints, seen at the joints, shape (n,), in N m s or N s/m.

    Args:
        mechanism: chains and closures.
    """
    motors = [link.motor for chain in mechanism.chains for link in chain.links]
    return np.array([0.0 if motor is None else float(motor.viscous * motor.gear**2) for motor in motors])


def _is_definite(mechanism: Mechanism, q: Array) -> bool:
    """Say whether the mass matrix of the cut mechanism is safely positive definite."""
    size = np.sqrt(tree_reference(mechanism, q))
    return bool(np.linalg.eigvalsh(tree_mass_matrix(mechanism, q) / size[:, None] / size)[0] > _DEFINITE)


def refuse_unfit(mechanism: Mechanism) -> None:
    """Raise an error for symbols, for dry friction, and if nothing has a mass.

    Args:
        mechanism: that is to be simulated.

    Raises:
        ValueError: it cannot be.
    """
    constraints.refuse_symbols(mechanism, "simulate")
    if not any(map(has_inertia, mechanism.chains)):
        raise ValueError(f"no link of {mechanism.name} has a mass or an inertia; no motion follows from torques.")
    for number, chain in enumerate(mechanism.chains, start=1):
        for joint, link in enumerate(chain.links, start=1):
            if link.motor is not None and link.motor.coulomb.any():
                raise ValueError(
                    f"joint {joint} of chain {number} has dry friction, which switches the equations where it "
                    "sticks; closed chains are simulated with viscous friction only. inverse_dynamics and "
                    "forward_dynamics know both."
                )


def less_turns_of(mechanism: Mechanism, q: Array) -> Array:
    """Return joint values with full turns taken off; after many turns they are large, and no mistake for degrees.

    Args:
        mechanism: chains and closures.
        q: all joint values, shape (..., n).
    """
    turning = np.array([link.turn for chain in mechanism.chains for link in chain.links], dtype=bool)
    return np.where(turning, np.remainder(q, 2 * np.pi), q)
