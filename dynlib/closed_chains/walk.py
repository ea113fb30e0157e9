r"""A mechanism in one state: each chain is walked once, however many points are asked for.

Public functions read a state and take one walk; what they call takes the walk.
"""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from dynlib import acceleration
from dynlib.algebra.arrays import Array, apply, as_exact, cross, transpose
from dynlib.frames import compose, position, rotation, transform
from dynlib.model.closures import Carried, Point
from dynlib.model.links import exact_identity
from dynlib.model.mechanism import Mechanism
from dynlib.velocity import Wrench, at_rest, columns


class Walk:
    r"""The poses of all links of a mechanism, and what its closures ask for there.

    Attributes:
        mechanism: chains and closures.
        q: all joint values, read, shape (..., n), in rad or m; they need not close the chains.
    """

    def __init__(self, mechanism: Mechanism, q: Array):
        self.mechanism, self.q = mechanism, q

    @cached_property
    def poses(self) -> list[list[Array]]:
        """Poses of the links 1 to N and of the tip in the world, chain by chain."""
        found = []
        for chain, part in zip(self.mechanism.chains, self.mechanism.parts(self.q), strict=True):
            T, along = chain.base, []
            for step in chain.transforms_at(part):
                along.append(T := compose(T, step))
            found.append(along)
        return found

    def pose(self, point: Point) -> Array:
        """Return the axes of a point's link at that point, in the world, shape (..., 4, 4), in m."""
        here = transform(exact_identity(self.mechanism.gravity)[:3, :3], point.at)
        if not point.chain:
            return np.broadcast_to(here, (*self.q.shape[:-1], 4, 4))
        number = -1 if point.link is None else point.link - 1
        return compose(self.poses[point.chain - 1][number], here)

    def point_jacobian(self, point: Point) -> Array:
        """Return velocity and angular velocity of a point by the rates of all joints, shape (..., 6, n)."""
        J = np.zeros((*self.q.shape[:-1], 6, self.mechanism.n))
        J = as_exact(J).copy() if self.mechanism.is_symbolic else J
        if point.chain:
            k = point.chain - 1
            chain, first = self.mechanism.chains[k], self.mechanism.first[k]
            number = chain.n if point.link is None else point.link
            of_chain = columns(chain.links, self.poses[k][:-1], number, position(self.pose(point)))
            J[..., first : first + chain.n] = np.stack(np.broadcast_arrays(*of_chain), axis=-1)
        return J

    def push(self, load: Wrench) -> Array:
        """Return force and moment of a load in world axes, shape (..., 6), in N and N m."""
        chain = load.chain - 1
        if load.axes == "link":
            R = rotation(self.pose(load.place))
        elif load.axes == "world" or not load.chain:
            R = exact_identity(self.mechanism.gravity)[:3, :3]
        else:
            R = rotation(self.poses[chain][-1] if load.axes == "tip" else self.mechanism.chains[chain].base)
        return np.concatenate(np.broadcast_arrays(apply(R, load.force), apply(R, load.moment)), axis=-1)

    def joint_forces(self, load: Wrench) -> Array:
        r"""Return what a load does at all joints, :math:`J_P^\top F`, shape (..., n), in N m or N."""
        return np.asarray((transpose(self.point_jacobian(load.place)) @ self.push(load)[..., None])[..., 0])

    def _at(self, point: Point, jacobian: bool = False) -> Carried:
        return Carried(self.pose(point), self.point_jacobian(point) if jacobian else None)

    @cached_property
    def gap(self) -> Array:
        r"""How far the chains are from closing, :math:`\phi`, shape (..., rows), in m."""
        parts = [closure.gap(self._at(closure.a), self._at(closure.b)) for closure in self.mechanism.closures]
        return _joined(parts, self.q, -1)

    @cached_property
    def J(self) -> Array:
        r"""The constraint Jacobian: the rates of the gaps are :math:`J\dot q`; shape (..., rows, n)."""
        parts = [
            c.jacobian(self._at(c.a, jacobian=True), self._at(c.b, jacobian=True)) for c in self.mechanism.closures
        ]
        return _joined(parts, self.q[..., None, :], -2)

    def moving(self, dq: Array) -> Callable[[Point], Carried]:
        r"""Return a function of points that knows their motion, while no joint is accelerated.

        Args:
            dq: joint rates that were read, shape (..., n).
        """
        chains = zip(self.mechanism.chains, self.mechanism.parts(self.q), self.mechanism.parts(dq), strict=True)
        links = [
            acceleration.propagate(chain, q, rates, 0 * rates, acceleration.Steps(), at_rest(chain.is_symbolic))
            for chain, q, rates in chains
        ]

        def at(point: Point) -> Carried:
            pose = self.pose(point)
            if not point.chain:
                still = np.concatenate([0 * dq[..., :1]] * 6, axis=-1)
                return Carried(pose, None, still, still)
            k, number = point.chain - 1, -1 if point.link is None else point.link - 1
            link = links[k][number]
            R = rotation(self.poses[k][:-1][number])
            tool = self.mechanism.chains[k].tool if point.link is None else exact_identity(self.mechanism.gravity)
            r = apply(rotation(tool), point.at) + position(tool)
            v = link.v + cross(link.omega, r)
            a = acceleration.com_acceleration(link.domega, link.omega, r, link.dv)
            v, omega, a, domega = (apply(R, vector) for vector in (v, link.omega, a, link.domega))
            return Carried(pose, None, np.concatenate([v, omega], axis=-1), np.concatenate([a, domega], axis=-1))

        return at

    def bias(self, dq: Array) -> Array:
        r"""Return :math:`\dot J\dot q` for rates that were read, shape (..., n); shape (..., rows), in m/s²."""
        at = self.moving(dq)
        parts = [closure.bias(at(closure.a), at(closure.b)) for closure in self.mechanism.closures]
        return _joined(parts, dq, -1)


def _joined(parts: Sequence[Array], q: Array, axis: int) -> Array:
    """Join the equations of all closures; without any, an array of no rows."""
    nothing = (0 * q)[..., :0] if axis == -1 else (0 * q)[..., :0, :]
    return np.concatenate([nothing, *parts], axis=axis)
