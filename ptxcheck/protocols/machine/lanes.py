"""Integer instructions on values of the SIMT machine: numbers, one number per thread, or symbols.

Numbers are unsigned, masked to the width of the operation. An operation on symbols that is not linear gives
an opaque atom, so equal computations stay equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...op import Op
from .symbol import Form, Lanes, Value, atom, plus, times

_ALL64 = (1 << 64) - 1


def mask_of(width: int) -> int:
    return (1 << width) - 1


def as_lanes(value: int | Lanes, threads: int) -> Lanes:
    """Return a number for each thread."""
    if isinstance(value, int):
        return np.full(threads, value & _ALL64, dtype=np.uint64)
    return value


def settle(value: Value) -> Value:
    """Return the uniform number when all threads hold the same one."""
    if isinstance(value, np.ndarray) and len(value) and bool((value == value[0]).all()):
        return int(value[0])
    return value


def signed(value: int | Lanes, width: int) -> Any:
    """Return the two's complement reading of an unsigned number."""
    if isinstance(value, int):
        return value - (1 << width) if value >> (width - 1) & 1 else value
    if width == 64:
        return value.astype(np.int64)
    half = 1 << (width - 1)
    return (value ^ np.uint64(half)).astype(np.int64) - half


def unsigned(value: Any, width: int) -> int | Lanes:
    """Return a number masked to a width."""
    if isinstance(value, np.ndarray):
        return value.astype(np.uint64) & np.uint64(mask_of(width))
    return int(value) & mask_of(width)


def _each(function: Callable[..., int], *values: int | Lanes) -> int | Lanes:
    """Apply a function of Python integers to uniform numbers or lane by lane."""
    if all(isinstance(value, int) for value in values):
        return function(*values)
    length = next(len(value) for value in values if not isinstance(value, int))
    columns = [[value] * length if isinstance(value, int) else value.tolist() for value in values]
    return np.array([function(*row) & _ALL64 for row in zip(*columns, strict=True)], dtype=np.uint64)


def add(a: Value, b: Value, width: int) -> Value:
    """a + b."""
    if isinstance(a, Form) or isinstance(b, Form):
        return _linear(a, b, 1, width)
    if isinstance(a, int) and isinstance(b, int):
        return (a + b) & mask_of(width)
    return unsigned(np.add(a, b, dtype=np.uint64), width)


def subtract(a: Value, b: Value, width: int) -> Value:
    """a - b."""
    if isinstance(a, Form) or isinstance(b, Form):
        return _linear(a, b, -1, width)
    if isinstance(a, int) and isinstance(b, int):
        return (a - b) & mask_of(width)
    return unsigned(np.subtract(a, b, dtype=np.uint64), width)


def _linear(a: Value, b: Value, factor: int, width: int) -> Value:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return _opaque("add" if factor == 1 else "sub", a, b)
    left = a if isinstance(a, Form) else signed(a & mask_of(width), width)
    right = b if isinstance(b, Form) else signed(b & mask_of(width), width)
    total = plus(left, right, factor)
    return total if isinstance(total, Form) else total & mask_of(width)


def multiply(a: Value, b: Value, width: int) -> Value:
    """The low `width` bits of a × b."""
    if isinstance(a, Form) and isinstance(b, int):
        product = times(a, signed(b & mask_of(width), width))
        return product if isinstance(product, Form) else product & mask_of(width)
    if isinstance(b, Form) and isinstance(a, int):
        return multiply(b, a, width)
    if isinstance(a, Form) or isinstance(b, Form):
        return _opaque("mul", a, b)
    if isinstance(a, int) and isinstance(b, int):
        return (a * b) & mask_of(width)
    return unsigned(np.multiply(a, b, dtype=np.uint64), width)


def _opaque(name: str, *arguments: Value | str) -> Form:
    return atom(name, *(_key(argument) for argument in arguments))


def _key(argument: Value | str) -> object:
    """Return something hashable and printable that stands for a value in an atom."""
    if isinstance(argument, np.ndarray):
        return ("lanes", argument.tobytes())
    if isinstance(argument, Form):
        return (
            argument.terms[0][0]
            if len(argument.terms) == 1 and argument.terms[0][1] == 1 and not (argument.constant)
            else ("sum", argument.terms, argument.constant)
        )
    return argument


def opaque(name: str, *arguments: Value | str) -> Form:
    """Return the symbol of a computation that the machine does not follow."""
    return _opaque(name, *arguments)


def shift_left(a: Value, n: Value, width: int) -> Value:
    """a << n, zero when n reaches the width."""
    if isinstance(a, Form):
        return multiply(a, 1 << n, width) if isinstance(n, int) and n < width else _opaque("shl", a, n)
    if isinstance(n, Form):
        return _opaque("shl", a, n)
    return _each(lambda x, k: (x << k) & mask_of(width) if k < width else 0, a, n)


def shift_right(a: Value, n: Value, width: int, *, arithmetic: bool) -> Value:
    """a >> n."""
    if isinstance(a, Form) or isinstance(n, Form):
        return _opaque("sar" if arithmetic else "shr", a, n)
    if arithmetic:
        return _each(lambda x, k: (signed(x, width) >> min(k, width)) & mask_of(width), a, n)
    return _each(lambda x, k: x >> k if k < width else 0, a, n)


def bitwise(op: Op, a: Value, b: Value) -> Value:
    """and, or, xor."""
    if isinstance(a, Form) or isinstance(b, Form):
        return _symbolic_bitwise(op, a, b)
    if op is Op.AND:
        return a & b if isinstance(a, int) and isinstance(b, int) else np.bitwise_and(a, b, dtype=np.uint64)
    if op is Op.OR:
        return a | b if isinstance(a, int) and isinstance(b, int) else np.bitwise_or(a, b, dtype=np.uint64)
    return a ^ b if isinstance(a, int) and isinstance(b, int) else np.bitwise_xor(a, b, dtype=np.uint64)


def _symbolic_bitwise(op: Op, a: Value, b: Value) -> Value:
    for one, other in ((a, b), (b, a)):
        if isinstance(one, int) and one == 0:
            return 0 if op is Op.AND else other
    first, second = sorted((a, b), key=lambda value: repr(_key(value)))
    return _opaque(op.name.lower(), first, second)


def pure(op: Op, function: Callable[..., int], arguments: Sequence[Value]) -> Value:
    """Apply a function of integers, or give the symbol of its result."""
    if any(isinstance(argument, Form) for argument in arguments):
        return _opaque(op.name.lower(), *arguments)
    return _each(function, *(a for a in arguments if not isinstance(a, Form)))


def choose(condition: Value, a: Value, b: Value, threads: int) -> Value:
    """condition ? a : b, for each thread."""
    if isinstance(condition, int):
        return a if condition else b
    if isinstance(condition, Form) or isinstance(a, Form) or isinstance(b, Form):
        if not isinstance(a, np.ndarray) and not isinstance(b, np.ndarray) and a == b:
            return a
        return _opaque("selp", condition, a, b)
    return np.where(condition != 0, as_lanes(a, threads), as_lanes(b, threads))


_RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    ".eq": lambda a, b: a == b,
    ".ne": lambda a, b: a != b,
    ".lt": lambda a, b: a < b,
    ".lo": lambda a, b: a < b,
    ".le": lambda a, b: a <= b,
    ".ls": lambda a, b: a <= b,
    ".gt": lambda a, b: a > b,
    ".hi": lambda a, b: a > b,
    ".ge": lambda a, b: a >= b,
    ".hs": lambda a, b: a >= b,
}


def compare(relation: str, a: Value, b: Value, width: int, *, signed_operands: bool) -> Value:
    """Return 1 or 0, for each thread, or the symbol `("cmp", relation, a - b)`."""
    if isinstance(a, Form) or isinstance(b, Form):
        return symbolic_comparison(relation, a, b, width)
    left, right = (signed(a, width), signed(b, width)) if signed_operands else (a, b)
    result = _RELATIONS[relation](left, right)
    return result.astype(np.uint64) if isinstance(result, np.ndarray) else int(result)


def symbolic_comparison(relation: str, a: Value, b: Value, width: int) -> Value:
    """Return the truth of `a relation b` as a symbol, or a number when both sides cancel."""
    difference = _linear(a, b, -1, width)
    if isinstance(difference, Form) and any(name[0] in ("add", "sub") for name, _ in difference.terms):
        return _opaque("compare", relation, a, b)
    if not isinstance(difference, Form):
        return compare(relation, difference, 0, width, signed_operands=True)
    return Form(((("cmp", relation, difference.terms, difference.constant), 1),))
