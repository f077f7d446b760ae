"""Floating-point numbers that are known: comparisons, and products and sums of scales.

Property: a result that is given is the one that the hardware gives, bit by bit.

Argument: Python computes with 64 bits and rounds once to the format; only operations for which that is exact are
done.

Not covered: other roundings, fused operations and formats of less than 16 bits: nothing is known of them.

Only what a run with numbers of the host needs to tell whether a scale is zero; everything else stays a symbol.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Mapping, Sequence

from ....cfg.optypes import Typing
from ....opcodes.op import Op

_FORMATS = {".f16": ("<H", "<e", 2.0**-14), ".f32": ("<I", "<f", 2.0**-126), ".f64": ("<Q", "<d", 2.0**-1022)}
"""Formats of the bits and of the number, and the smallest normal number."""
_RELATIONS: Mapping[str, Callable[[float, float], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
_COMPUTED: Mapping[Op, Callable[[float, float], float]] = {
    Op.ADD: operator.add,
    Op.SUB: operator.sub,
    Op.MUL: operator.mul,
}
_EXACT = frozenset({".rn", ".ftz", ".f32"})
"""Modifiers of operations on 32 bits that round to the nearest number, as Python does with more bits before."""


def compared(relation: str, types: Typing, left: object, right: object) -> int | None:
    """Return whether one number has a relation to another, None when they are not known."""
    one, other = (_number(each, types) for each in (left, right))
    if one is None or other is None:
        return None
    are_numbers = one == one and other == other
    name = relation[1:]
    if name in ("num", "nan"):
        return int(are_numbers == (name == "num"))
    if name in _RELATIONS:
        return int(are_numbers and _RELATIONS[name](one, other))
    known = _RELATIONS.get(name.removesuffix("u"))
    return None if known is None else int(not are_numbers or known(one, other))


def computed(op: Op, types: Typing, sources: Sequence[object]) -> int | None:
    """Return the bits of a product or a sum, None when they are not known."""
    function = _COMPUTED.get(op)
    numbers = [_number(each, types) for each in sources]
    if function is None or not types.modifiers <= _EXACT or len(numbers) != 2:
        return None
    one, other = numbers
    if one is None or other is None:
        return None
    bits, number, _ = _FORMATS[types.types[0]]
    try:
        return int(struct.unpack(bits, struct.pack(number, _flushed(function(one, other), types)))[0])
    except OverflowError:
        return None


def _number(part: object, types: Typing) -> float | None:
    if not isinstance(part, int) or len(types.types) != 1 or types.types[0] not in _FORMATS:
        return None
    bits, number, _ = _FORMATS[types.types[0]]
    mask = (1 << 8 * struct.calcsize(bits)) - 1
    return _flushed(float(struct.unpack(number, struct.pack(bits, part & mask))[0]), types)


def _flushed(number: float, types: Typing) -> float:
    """Return zero in place of a subnormal number where the operation does."""
    return 0.0 if types.has(".ftz") and abs(number) < _FORMATS[types.types[0]][2] else number
