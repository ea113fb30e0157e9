"""Arrays of numbers or of symbols, and the few vector operations that the chapters use.

Every quantity is a NumPy array whose last axes are those of the vector ``(..., 3)`` or of the matrix ``(..., 3, 3)``.
Its entries are either floats (then the leading axes may hold a batch of states) or exact SymPy expressions (dtype
``object``). The two kinds do not mix: a float beside a symbol would spoil every exact result that follows.
"""

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import lru_cache
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import sympy

Array = np.ndarray[Any, Any]


def as_array(value: Any, name: str, shape: tuple[int | None, ...], batch: bool = False) -> Array:
    """Read numbers or exact expressions into an array of floats or of SymPy expressions.

    Integers become floats among floats and exact integers among symbols, so there is never integer arithmetic.

    Args:
        value: number, list, NumPy array or SymPy matrix; any unit.
        name: what the value is, for the error message.
        shape: the axes that are expected; ``None`` stands for any length.
        batch: allow more axes before these.

    Returns:
        A new read-only array of that shape (or ``(..., *shape)`` for a batch); its dtype is ``float64`` (numbers) or
        ``object`` (exact SymPy expressions).

    Raises:
        TypeError: an entry is neither a real number nor a SymPy expression, or floats and symbols are mixed.
        ValueError: the shape is wrong, or a number is not finite.

    >>> as_array([1, 2], "q", (2,))
    array([1., 2.])
    >>> as_array([1, sympy.pi], "q", (2,))
    array([1, pi], dtype=object)
    """
    if isinstance(value, sympy.MatrixBase) and len(shape) == 1 and 1 in value.shape:
        value = list(value)  # a column or a row
    _refuse_masked(value, name)
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "mM":  # as objects, some are whole numbers
        raise TypeError(f"{name} holds times ({value.dtype}); expected numbers.")
    if isinstance(value, np.ndarray):
        value = np.asarray(value)  # without a mask, and no np.matrix
    if not (isinstance(value, np.ndarray) and value.dtype == float):
        value = _read_entries(value, name)
    wanted = len(shape)
    last = value.shape[value.ndim - wanted :] if value.ndim >= wanted else None
    fits = last is not None and all(w in (None, n) for w, n in zip(shape, last, strict=True))
    if not fits or (value.ndim > wanted and not batch):
        expected = "(" + ", ".join("n" if w is None else str(w) for w in shape) + ("," if wanted == 1 else "") + ")"
        expected = "one number" if not wanted else expected
        more = ", or a batch of these in leading axes" if batch else ""
        raise ValueError(f"{name} has the shape {value.shape}; expected {expected}{more}.")
    if value.dtype == float and not np.isfinite(value).all():
        raise ValueError(f"{name} holds {value[~np.isfinite(value)].flat[0]}; expected finite numbers.")
    return _read_only(value.copy())


def as_vectors(value: Any, name: str, n: int) -> Array:
    """Read vectors, shape (..., n); of one entry they may be given as a plain number.

    Args:
        value: list or NumPy array; any unit.
        name: what the value is, for the error message.
        n: number of entries that is expected; whether they are as many is left to the caller.

    Raises:
        TypeError, ValueError: as :func:`as_array`.

    >>> as_vectors(0.5, "q", 1)
    array([0.5])
    """
    return as_array([value] if n == 1 and np.ndim(value) == 0 else value, name, (None,), batch=True)


def _refuse_masked(value: Any, name: str) -> None:
    """Raise an error for an array with masked entries, or for a list that holds one: what they hide is no datum."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(f"{name} has masked entries, {value}; expected numbers in all places.")
    if isinstance(value, list | tuple):
        for part in value:
            _refuse_masked(part, name)


def _read_entries(value: Any, name: str) -> Array:
    try:
        entries = np.array(value, dtype=object)
    except ValueError:
        raise ValueError(f"{name} has rows of different length: {value!r}.") from None
    flat = [_entry(entry, name) for entry in entries.flat]
    exact = [entry for entry in flat if isinstance(entry, sympy.Basic)]
    symbols = [entry for entry in exact if entry.free_symbols]
    floats = [entry for entry in flat if isinstance(entry, float)]
    if symbols and floats:
        raise mixing_error(f"{name} holds", floats[0], symbols[0])
    keep = bool(exact) and not floats  # exact numbers without symbols may stand beside floats: they become floats
    result: Array = np.empty(len(flat), dtype=object if keep else float)
    try:
        result[:] = [sympy.Integer(e) if isinstance(e, int) else e for e in flat] if keep else flat
    except OverflowError:
        raise ValueError(f"{name} holds a whole number too large for a float, which ends at 1.8e308.") from None
    return result.reshape(entries.shape)


def _entry(entry: Any, name: str) -> Any:
    """Return an entry as int, float or exact SymPy expression."""
    if isinstance(entry, sympy.Expr):
        if entry.is_Float:
            return float(entry)
        if entry.has(sympy.Float):
            raise mixing_error(f"{name} holds", float(min(entry.atoms(sympy.Float))), entry)
        if entry.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
            raise ValueError(f"{name} holds {entry}; expected finite numbers.")
        return entry
    if isinstance(entry, bool | np.bool_) or not isinstance(entry, Real):
        kind = type(entry).__name__
        hint = " Is one row longer than another?" if isinstance(entry, Sequence) and not isinstance(entry, str) else ""
        raise TypeError(f"{name} holds {entry!r} ({kind}); expected real numbers or SymPy expressions.{hint}")
    return int(entry) if isinstance(entry, Integral) else float(entry)


def mixing_error(where: str, number: float, symbol: sympy.Basic) -> TypeError:
    """Return the error for a float beside a symbol, with the ways out.

    >>> str(mixing_error("q holds", 0.5, sympy.Symbol("theta1")))[:48]
    'q holds the float 0.5 beside the symbolic theta1'
    """
    return TypeError(
        f"{where} the float {number} beside the symbolic {symbol}; a float would make exact results inexact. "
        f"Write the number exactly, as sympy.Rational('{number}') (or sympy.pi/2 for a right angle), "
        "or use numbers everywhere."
    )


def refuse_mixture(arrays: Mapping[str, Array]) -> None:
    """Raise an error if a symbol and a float that is not a whole number occur in arrays that belong together.

    Args:
        arrays: arrays by the words that name them in the message.

    Raises:
        TypeError: both occur; the message names the float and the symbol.

    >>> refuse_mixture({"a": np.array([0.5]), "b": np.array([2.0])})
    """
    symbols = set().union(*map(free_symbols, arrays.values()))
    if symbols and (found := first_fraction(arrays)):
        raise mixing_error(f"{found[0]} holds", found[1], min(symbols, key=str))


def one_kind(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Make arrays that belong together all exact or all floats.

    Args:
        arrays: arrays by the words that name them in a message.

    Returns:
        The same names: exact expressions if there is a symbol or if all were exact already, else floats.

    Raises:
        TypeError: a symbol and a float that is not a whole number both occur.

    >>> L1 = sympy.Symbol("L1")
    >>> one_kind({"a": as_array([L1], "a", (1,)), "b": np.array([2.0])})["b"]
    array([2], dtype=object)
    """
    refuse_mixture(arrays)
    exact = any(map(free_symbols, arrays.values())) or all(map(is_symbolic, arrays.values()))
    return {name: (as_exact if exact else as_floats)(array) for name, array in arrays.items()}


@dataclass(frozen=True, eq=False)
class Data:
    """A frozen record of arrays and of other such records."""

    def named_arrays(self, of: str = "") -> dict[str, Array]:
        """Return every array in the record by the words that name it in a message.

        Args:
            of: what the record is, such as ``"link 2"``.
        """
        named: dict[str, Array] = {}
        for entry in fields(self):
            value = getattr(self, entry.name)
            if isinstance(value, np.ndarray):
                named[f"{entry.name} of {of}" if of else entry.name] = value
            elif isinstance(value, Data):
                kind = f"{entry.name} " if of and entry.name != "body" else ""  # a motor has an inertia too
                named |= {kind + name: array for name, array in value.named_arrays(of or entry.name).items()}
            elif isinstance(value, tuple):
                word = entry.name.removesuffix("s")
                for number, part in enumerate(value, start=1):
                    named |= part.named_arrays(f"{word} {number}") if isinstance(part, Data) else {}
        return named

    def mapped(self, change: Callable[[Array], Array]) -> Self:
        """Return the record with a function applied to every array in it.

        Args:
            change: takes an array and returns one of the same shape.
        """
        return replace(self, **self.changed_fields(change))

    def changed_fields(self, change: Callable[[Array], Array]) -> dict[str, Any]:
        """Return the fields that hold arrays, with a function applied to every array in them.

        Args:
            change: takes an array and returns one of the same shape.
        """
        changed: dict[str, Any] = {}
        for entry in fields(self):
            value = getattr(self, entry.name)
            if isinstance(value, np.ndarray):
                changed[entry.name] = change(value)
            elif isinstance(value, Data):
                changed[entry.name] = value.mapped(change)
            elif isinstance(value, tuple) and any(isinstance(part, Data) for part in value):
                changed[entry.name] = tuple(part.mapped(change) for part in value)
        return changed


def batches_together(**arrays: Array) -> tuple[Array, ...]:
    """Give vectors the same leading axes, so that each state of a batch has its own values.

    Args:
        **arrays: vectors of shape (..., n), each with an n of its own, by their names for the message.

    Returns:
        The same vectors, in the order given; those that were repeated are read-only views.

    Raises:
        ValueError: the leading axes do not fit together.

    >>> [array.shape for array in batches_together(q=np.zeros((5, 3)), du=np.zeros(2))]
    [(5, 3), (5, 2)]
    """
    batches = {array.shape[:-1] for array in arrays.values()}
    if len(batches) <= 1:
        return tuple(arrays.values())
    try:
        batch = np.broadcast_shapes(*batches)
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"the batches do not fit together: {shapes}; expected equal leading axes.") from None
    return tuple(np.broadcast_to(array, (*batch, array.shape[-1])) for array in arrays.values())


def is_symbolic(array: Array) -> bool:
    """Say whether an array holds expressions (True) or floats (False).

    >>> is_symbolic(as_array([0, 1], "q", (2,)))
    False
    """
    return array.dtype.hasobject


def as_exact(array: Array) -> Array:
    """Return an array with whole floats as exact integers; other floats are left for the caller to refuse first.

    >>> as_exact(np.array([1.0, -2.0]))
    array([1, -2], dtype=object)
    """
    return array if is_symbolic(array) else _read_only(np.asarray(_WHOLE(array), dtype=object))


def as_floats(array: Array) -> Array:
    """Return an array of numbers, exact or not, as floats.

    >>> as_floats(np.array([sympy.Rational(1, 2)]))
    array([0.5])
    """
    try:
        found = array.astype(float)
    except OverflowError:
        found = np.array([np.inf])
    if is_symbolic(array) and not np.isfinite(found).all():
        worst = max((sympy.sympify(entry) for entry in array.flat), key=abs)
        raise ValueError(f"the exact number {sympy.N(worst, 3)} is too large for a float, which ends at 1.8e308.")
    return _read_only(found)


def finite(result: Array, what: str, data: Data, **inputs: Any) -> Array:
    """Return a result of floats or expressions; refuse infinity and what is no number: an input was out of range.

    Args:
        result: any shape and unit.
        what: what it is, for the message.
        data: the arm or mechanism that it was computed from.
        **inputs: what else it was computed from: numbers, arrays, records or lists of records.

    Raises:
        ValueError: the message names the input whose size is furthest from 1.

    >>> body = Data()
    >>> finite(np.array([np.inf]), "the torque", body, q=np.array([0.5]), dq=np.array([1e200]))
    Traceback (most recent call last):
    ValueError: the torque is no finite number: dq holds 1e+200, which is too large, for floats end at 1.8e308...
    """
    if is_symbolic(result) or np.isfinite(result).all():
        return result
    named = data.named_arrays()
    for name, value in inputs.items():
        named |= _arrays_in(value, name)
    ends = []
    for name, array in named.items():
        sizes = np.abs(array[array != 0].astype(float))
        ends += [(abs(np.log10(size)), size, name) for size in (sizes.max(initial=1.0), sizes.min(initial=1.0))]
    _, size, name = max(ends)
    raise ValueError(
        f"{what} is no finite number: {name} holds {size:g}, which is too {'large' if size > 1 else 'small'}, for "
        "floats end at 1.8e308 and products of inputs go beyond. Look at its unit and its digits."
    )


def _arrays_in(value: Any, name: str) -> dict[str, Array]:
    """Return the arrays of numbers in an input by their names for a message."""
    if isinstance(value, Data):
        return value.named_arrays(name)
    if isinstance(value, list | tuple) and any(isinstance(part, Data) for part in value):
        return {
            key: array for k, part in enumerate(value, 1) for key, array in part.named_arrays(f"{name} {k}").items()
        }
    array = np.asarray(value)
    return {name: array} if array.dtype.kind in "if" else {}


def _read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array


def free_symbols(array: Array) -> set[sympy.Symbol]:
    """Return the symbols that occur in an array; none in an array of numbers.

    >>> free_symbols(np.array([sympy.Symbol("m1") + 1, sympy.pi]))
    {m1}
    """
    return {s for entry in array.flat for s in entry.free_symbols} if is_symbolic(array) else set()


def exact_array(array: Array) -> Array:
    """Return an array with every float read as the decimal number that was typed.

    A float of 16 or 17 digits was computed, not typed: it is read as the shorter decimal or the short fraction that it
    equals up to rounding (of the array's largest entry), and only if there is none as it is.

    >>> exact_array(np.array([0.4318, 0.1 + 0.2, 1 / 12, 6e-17]))
    array([2159/5000, 3/10, 1/12, 0], dtype=object)
    """
    if is_symbolic(array):
        return array
    slack = 4 * math.ulp(float(np.abs(array).max(initial=0)))
    return _read_only(np.asarray(_DECIMAL(array, slack), dtype=object))


def _decimal(number: float, slack: float) -> sympy.Rational:
    shown = sympy.Rational(repr(float(number)))
    if abs(number) <= slack:
        return sympy.S.Zero
    if float(f"{number:.15g}") == number:
        return shown
    share = Fraction(float(number)).limit_denominator(_LARGEST_DENOMINATOR)
    if abs(float(share) - number) <= slack:
        return sympy.Rational(share.numerator, share.denominator)
    short = float(f"{number:.12g}")
    return sympy.Rational(repr(short)) if abs(short - number) <= slack else shown


_LARGEST_DENOMINATOR = 1000  # of a fraction that a float is taken for; a float is such by chance once in 10^10
_DECIMAL = np.frompyfunc(_decimal, 2, 1)


def level_of_caller() -> int:
    """Return the ``stacklevel`` with which a warning points at the first line outside dynlib.

    >>> level_of_caller() >= 1
    True
    """
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals["__name__"].partition(".")[0] == "dynlib":
        frame, level = frame.f_back, level + 1
    return level


def first_fraction(arrays: Mapping[str, Array]) -> tuple[str, float] | None:
    """Return the first float that is not a whole number, with the name of its array; None if there is none.

    >>> first_fraction({"a": np.array([1.0]), "b": np.array([2.0, 0.5])})
    ('b', 0.5)
    """
    for name, array in arrays.items():
        broken = np.array([]) if is_symbolic(array) else array[array != np.round(array)]
        if broken.size:
            return name, float(broken.flat[0])
    return None


def zeros(like: Array) -> Array:
    """Return the zero vector, shape (3,): exact zeros beside symbols, 0.0 beside numbers.

    >>> zeros(like=as_array([sympy.Symbol("theta1")], "q", (1,)))
    array([0, 0, 0], dtype=object)
    """
    return _zeros(is_symbolic(like))


@lru_cache(maxsize=2)
def _zeros(exact: bool) -> Array:
    return as_array([sympy.S.Zero] * 3 if exact else [0.0] * 3, "zeros", (3,))


def cos(angle: Array) -> Array:
    """Return the cosine, entry by entry; ``angle`` in rad, any shape.

    >>> cos(as_array([sympy.pi, 0], "angle", (2,)))
    array([-1, 1], dtype=object)
    """
    return _COS(angle) if is_symbolic(angle) else np.cos(angle)


def sin(angle: Array) -> Array:
    """Return the sine, entry by entry; ``angle`` in rad, any shape.

    >>> sin(as_array([sympy.pi / 2, 0], "angle", (2,)))
    array([1, 0], dtype=object)
    """
    return _SIN(angle) if is_symbolic(angle) else np.sin(angle)


def sign(value: Array) -> Array:
    """Return -1, 0 or 1, entry by entry; any unit, any shape.

    >>> sign(np.array([2.0, 0.0, -1.0]))
    array([ 1.,  0., -1.])
    """
    return _SIGN(value) if is_symbolic(value) else np.sign(value)


def sqrt(value: Array) -> Array:
    """Return the square root, entry by entry; any shape.

    >>> sqrt(as_array([4, 2], "value", (2,))).round(4)
    array([2.    , 1.4142])
    """
    return np.asarray(_SQRT(value) if is_symbolic(value) else np.sqrt(value))


def arctan2(y: Array, x: Array) -> Array:
    """Return the angle of the direction (x, y) against the x axis in rad, from -pi to pi, entry by entry.

    >>> arctan2(as_array([1, 0], "y", (2,)), as_array([0, -1], "x", (2,)))
    array([1.57079633, 3.14159265])
    """
    return np.asarray(_ARCTAN2(y, x) if is_symbolic(y) or is_symbolic(x) else np.arctan2(y, x))


_SIGN = np.frompyfunc(sympy.sign, 1, 1)
_SQRT, _ARCTAN2 = np.frompyfunc(sympy.sqrt, 1, 1), np.frompyfunc(sympy.atan2, 2, 1)


def _wave(wave: Any, angle: Any) -> Any:
    """Return a sine or cosine; that of an angle which is given by its tangent is a fraction."""
    value = wave(angle)
    return sympy.expand(sympy.expand_trig(value)) if angle.is_number and angle.has(sympy.atan) else value


_COS = np.frompyfunc(lambda angle: _wave(sympy.cos, angle), 1, 1)
_SIN = np.frompyfunc(lambda angle: _wave(sympy.sin, angle), 1, 1)
_WHOLE = np.frompyfunc(lambda number: sympy.Integer(round(number)), 1, 1)


def vector(x: Any, y: Any, z: Any) -> Array:
    """Join three components, each of shape (...,), into vectors ``(..., 3)``.

    In memory each component of a batch lies in one piece, which makes the operations on components fast.

    >>> vector(1.0, np.array([2.0, 3.0]), 4.0)
    array([[1., 2., 4.],
           [1., 3., 4.]])
    """
    joined = _joined([x, y, z])
    return joined.transpose(*range(1, joined.ndim), 0)


def matrix(rows: Sequence[Sequence[Any]]) -> Array:
    """Join the entries of a square matrix, each of shape (...,), into matrices ``(..., n, n)``; memory as in vectors.

    >>> matrix([[1.0, 2.0], [3.0, 4.0]])
    array([[1., 2.],
           [3., 4.]])
    """
    joined = _joined([entry for row in rows for entry in row])
    joined = joined.reshape(len(rows), len(rows), *joined.shape[1:])
    return joined.transpose(*range(2, joined.ndim), 0, 1)


def _joined(entries: Sequence[Any]) -> Array:
    """Stack entries of shape (...,) along a new first axis."""
    arrays = [np.asarray(entry) for entry in entries]
    if not any(array.ndim for array in arrays):
        return np.array([array.item() for array in arrays], dtype=np.result_type(*arrays))
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    joined: Array = np.empty((len(arrays), *shape), dtype=np.result_type(*arrays))
    for place, array in enumerate(arrays):
        joined[place, ...] = array
    return joined


def nought(array: Array) -> Array:
    """Return 0 times an array: exact zeros for expressions, without a look at them.

    >>> nought(np.array([1.0, 2.0]))
    array([0., 0.])
    """
    return np.asarray(_NOUGHT(array) if is_symbolic(array) else 0 * array)


def apply(matrix: Array, vector_: Array) -> Array:
    """Return matrix times vector, ``(..., 3, 3)`` and ``(..., 3)`` to ``(..., 3)``.

    >>> apply(np.diag([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 1.0]))
    array([1., 2., 3.])
    """
    if is_symbolic(matrix) or is_symbolic(vector_):
        return vector(*(dot(matrix[..., i, :], vector_) for i in range(3)))
    if matrix.ndim == 2 and vector_.ndim == 1:  # one state, in floats of Python: several times as fast
        x, y, z = vector_.tolist()
        return np.array([a * x + b * y + c * z for a, b, c in matrix.tolist()])
    x, y, z = (vector_[..., i] for i in range(3))
    return vector(*(matrix[..., i, 0] * x + matrix[..., i, 1] * y + matrix[..., i, 2] * z for i in range(3)))


def cross(a: Array, b: Array) -> Array:
    """Return the cross product a × b of vectors ``(..., 3)``.

    >>> cross(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    array([0., 0., 1.])
    """
    if a.ndim == b.ndim == 1 and not (is_symbolic(a) or is_symbolic(b)):
        (a_x, a_y, a_z), (b_x, b_y, b_z) = a.tolist(), b.tolist()
        return np.array([a_y * b_z - a_z * b_y, a_z * b_x - a_x * b_z, a_x * b_y - a_y * b_x])
    (a_x, a_y, a_z), (b_x, b_y, b_z) = ([each[..., i] for i in range(3)] for each in (a, b))
    times = _TIMES if is_symbolic(a) or is_symbolic(b) else np.multiply
    x, y = times(a_y, b_z) - times(a_z, b_y), times(a_z, b_x) - times(a_x, b_z)
    return vector(x, y, times(a_x, b_y) - times(a_y, b_x))


def dot(a: Array, b: Array) -> Array:
    """Return the scalar product aᵀb of vectors ``(..., 3)``, shape ``(...,)``.

    >>> float(dot(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0])))
    3.0
    """
    if a.ndim == b.ndim == 1 and not (is_symbolic(a) or is_symbolic(b)):
        (a_x, a_y, a_z), (b_x, b_y, b_z) = a.tolist(), b.tolist()
        return np.array(a_x * b_x + a_y * b_y + a_z * b_z)
    parts = [each[..., i] for i in range(3) for each in (a, b)]
    if is_symbolic(a) or is_symbolic(b):
        return np.asarray(_SUM_OF_PRODUCTS(*parts))
    a_x, b_x, a_y, b_y, a_z, b_z = parts
    return np.asarray(a_x * b_x + a_y * b_y + a_z * b_z)


# SymPy takes longer for 0 times an expression than for other products: it asks whether the expression is finite. Most
# entries of an arm are 0, so that this took most of the time of a derivation.


def _times(a: Any, b: Any) -> Any:
    return sympy.S.Zero if a is sympy.S.Zero or b is sympy.S.Zero else a * b


def _sum_of_products(*factors: Any) -> Any:
    products = [a * b for a, b in zip(factors[::2], factors[1::2], strict=True)
                if a is not sympy.S.Zero and b is not sympy.S.Zero]  # fmt: skip
    return sum(products[1:], start=products[0]) if products else sympy.S.Zero


_TIMES, _SUM_OF_PRODUCTS = np.frompyfunc(_times, 2, 1), np.frompyfunc(_sum_of_products, 6, 1)
_NOUGHT = np.frompyfunc(lambda entry: sympy.S.Zero, 1, 1)


def transpose(matrix: Array) -> Array:
    """Return the transpose of a matrix or of each matrix of a batch, ``(..., 3, 3)``.

    >>> transpose(np.array([[0.0, 1.0], [2.0, 3.0]]))
    array([[0., 2.],
           [1., 3.]])
    """
    return np.swapaxes(matrix, -1, -2)
