r"""Frames: rotations, transforms, and the two Denavit-Hartenberg conventions.

A transform :math:`{}^{i}_{j}T` is an array ``(..., 4, 4)``; it turns components in :math:`\{j\}` into components in
:math:`\{i\}`. Frame :math:`\{i\}` sits on joint axis i, with z along the axis.
"""

import numpy as np

from dynlib.algebra.arrays import Array, apply, cos, is_symbolic, matrix, nought, sin, transpose, vector
from dynlib.algebra.equation import equation

Z = np.array([0, 0, 1])
r""":math:`\hat z`, the joint axis in the link's own frame (dimensionless)."""


def rotation_x(angle: Array) -> Array:
    r"""Return the rotation about x by an angle.

    Args:
        angle: in rad, shape ``(...,)``.

    Returns:
        R, shape ``(..., 3, 3)``.

    >>> rotation_x(np.array(np.pi / 2)).round(12) @ [0, 1, 0]
    array([0., 0., 1.])
    """
    c, s, zero, one = _entries(angle)
    return matrix([[one, zero, zero], [zero, c, -s], [zero, s, c]])


def rotation_z(angle: Array) -> Array:
    r"""Return the rotation about z by an angle, the rotation part of A5.2.6-1.

    Args:
        angle: in rad, shape ``(...,)``.

    Returns:
        R, shape ``(..., 3, 3)``.

    >>> rotation_z(np.array(np.pi / 2)).round(12) @ [1, 0, 0]
    array([0., 1., 0.])
    """
    c, s, zero, one = _entries(angle)
    return matrix([[c, -s, zero], [s, c, zero], [zero, zero, one]])


def rotation_of_rpy(rpy: Array) -> Array:
    r"""Return the rotation of roll, pitch and yaw, :math:`R_z(\text{yaw})\,R_y(\text{pitch})\,R_x(\text{roll})`.

    Args:
        rpy: turns about the fixed axes x, then y, then z, shape (3,), in rad.

    Returns:
        R, shape (3, 3).

    >>> rotation_of_rpy(np.array([0, np.pi / 2, 0])).round(12) @ [0, 0, 1]
    array([1., 0., 0.])
    """
    roll, pitch, yaw = (np.asarray(angle) for angle in rpy)
    c, s = cos(pitch), sin(pitch)
    zero = 0 * pitch
    R_y = matrix([[c, zero, s], [zero, zero + 1, zero], [-s, zero, c]])
    return np.asarray(rotation_z(yaw) @ R_y @ rotation_x(roll))


def turned_to(axis: Array) -> Array:
    """Return the shortest turn that brings z onto an axis.

    Args:
        axis: any vector of floats but 0, shape (3,), in the axes of the frame that is turned.

    Returns:
        The turn as a transform, shape (4, 4); the third column of its rotation is the axis at length 1.

    >>> turned_to(np.array([0.0, 2.0, 0.0]))[:3, 2]
    array([0., 1., 0.])
    """
    axis = axis / np.abs(axis).max()  # so that no square is too large or too small for a float
    x, y, z = axis / np.linalg.norm(axis)
    if z <= -1 + 1e-12:  # half a turn, about x
        half = np.diag([1.0, -1.0, -1.0])
        oblique = rotation(turned_to(half @ axis)) if x or y else np.eye(3)
        return transform(half @ oblique, np.zeros(3))
    R = [[1 - x * x / (1 + z), -x * y / (1 + z), x], [-x * y / (1 + z), 1 - y * y / (1 + z), y], [-x, -y, z]]
    return transform(np.array(R) + 0.0, np.zeros(3))


def _entries(angle: Array) -> tuple[Array, Array, Array, Array]:
    """Return cosine, sine, 0 and 1 in the shape of the angle."""
    zero = nought(angle)
    return cos(angle), sin(angle), zero, zero + 1


def transform(R: Array, p: Array) -> Array:
    r"""Join a rotation and a position into a transform.

    Args:
        R: rotation :math:`{}^{i}_{j}R`, shape ``(..., 3, 3)``.
        p: position of the origin of :math:`\{j\}` in :math:`\{i\}`, in m, shape ``(..., 3)``.

    Returns:
        :math:`{}^{i}_{j}T`, shape ``(..., 4, 4)``.

    >>> transform(np.eye(3), np.array([1.0, 2.0, 3.0]))[:3, 3]
    array([1., 2., 3.])
    """
    zero = nought(p[..., 0])
    rows = [[R[..., i, 0], R[..., i, 1], R[..., i, 2], p[..., i]] for i in range(3)]
    return matrix([*rows, [zero, zero, zero, zero + 1]])


def rotation(T: Array) -> Array:
    """Return the rotation part R of a transform, ``(..., 4, 4)`` to ``(..., 3, 3)``.

    >>> rotation(np.eye(4)).shape
    (3, 3)
    """
    return T[..., :3, :3]


def position(T: Array) -> Array:
    """Return the position part p of a transform, in m, ``(..., 4, 4)`` to ``(..., 3)``.

    >>> position(np.eye(4))
    array([0., 0., 0.])
    """
    return T[..., :3, 3]


def compose(first: Array, second: Array) -> Array:
    r"""Return the product of two transforms, :math:`{}^{i}_{k}T={}^{i}_{j}T\,{}^{j}_{k}T`, shape ``(..., 4, 4)``.

    >>> T = transform(np.eye(3), np.array([1.0, 2.0, 3.0]))
    >>> position(compose(T, T))
    array([2., 4., 6.])
    """
    R = rotation(first)
    columns = [apply(R, rotation(second)[..., k]) for k in range(3)]
    p = apply(R, position(second)) + position(first)
    return transform(matrix([[column[..., i] for column in columns] for i in range(3)]), p)


def inverse(T: Array) -> Array:
    r"""Return the inverse transform, :math:`{}^{i}_{j}T \to {}^{j}_{i}T`, shape ``(..., 4, 4)``.

    >>> T = transform(np.eye(3), np.array([1.0, 2.0, 3.0]))
    >>> position(inverse(T))
    array([-1., -2., -3.])
    """
    R_inverse = transpose(rotation(T))
    return transform(R_inverse, -apply(R_inverse, position(T)))


@equation(
    "T",
    r"{}^{i-1}_{i}T",
    r"{}^{i-1}_{i}T(0)\,\mathrm{Rot}_z(\theta_{i})",
    source="A5.2.6-1, -2",
    prismatic=r"{}^{i-1}_{i}T(0)\,\mathrm{Trans}_z(d_{i})",
    prismatic_source="E7",
)
def joint_transform(fixed: Array, angle: Array, distance: Array) -> Array:
    """Pose of link i in its parent: the fixed pose of the joint, then a turn about z or a slide along z."""
    motion = transform(rotation_z(angle), vector(nought(distance), nought(distance), distance))
    return compose(fixed, motion)


def dh_modified(a: Array, alpha: Array, d: Array, theta: Array) -> Array:
    r"""Return the transform of one row of a *modified* DH table (document A, Craig).

    :math:`{}^{i-1}_{i}T = \mathrm{Rot}_x(\alpha)\,\mathrm{Trans}_x(a)`
    :math:`\mathrm{Rot}_z(\theta)\,\mathrm{Trans}_z(d)`;
    frame i sits on axis i, at the near end of link i.

    Args:
        a: along x, in m, shape ``()``.
        alpha: about x, in rad.
        d: along z, in m.
        theta: about z, in rad.

    Returns:
        T, shape ``(4, 4)``.

    >>> row = np.array([1, 0, 0, np.pi / 2])  # first along x, then turned
    >>> (dh_modified(*row).round(12) @ [1, 0, 0, 1])[:2]
    array([1., 1.])
    """
    return along_x(a, alpha) @ along_z(d, theta)


def dh_standard(a: Array, alpha: Array, d: Array, theta: Array) -> Array:
    r"""Return the transform of one row of a *standard* DH table (document B, B1.1).

    :math:`{}^{i-1}_{i}T = \mathrm{Rot}_z(\theta)\,\mathrm{Trans}_z(d)`
    :math:`\mathrm{Trans}_x(a)\,\mathrm{Rot}_x(\alpha)`;
    frame i sits at the far end of link i, on axis i+1.

    Args:
        a: along x, in m, shape ``()``.
        alpha: about x, in rad.
        d: along z, in m.
        theta: about z, in rad.

    Returns:
        T, shape ``(4, 4)``.

    >>> row = np.array([1, 0, 0, np.pi / 2])  # first turned, then along x
    >>> (dh_standard(*row).round(12) @ [1, 0, 0, 1])[:2]
    array([0., 2.])
    """
    return along_z(d, theta) @ along_x(a, alpha)


def along_x(a: Array, alpha: Array) -> Array:
    r"""Return :math:`\mathrm{Rot}_x(\alpha)\,\mathrm{Trans}_x(a)` of a DH row; a in m, alpha in rad, shapes ().

    >>> (along_x(np.array(2.0), np.array(np.pi / 2)) @ [0, 1, 0, 1])[:3]
    array([2., 0., 1.])
    """
    return transform(_exact_right_angle(rotation_x(alpha), alpha), np.array([1, 0, 0]) * a)


def along_z(d: Array, theta: Array) -> Array:
    r"""Return :math:`\mathrm{Rot}_z(\theta)\,\mathrm{Trans}_z(d)` of a DH row; d in m, theta in rad, shapes ().

    >>> (along_z(np.array(2.0), np.array(np.pi / 2)) @ [1, 0, 0, 1])[:3]
    array([0., 1., 2.])
    """
    return transform(_exact_right_angle(rotation_z(theta), theta), Z * d)


def _exact_right_angle(R: Array, angle: Array) -> Array:
    """Round the entries of R if the angle is, as a float, a whole multiple of pi/2 (else 0 would be 6e-17)."""
    return R if is_symbolic(R) or angle % (np.pi / 2) else R.round()
