"""What floating-point instructions leave in the registers of many lanes at once.

Property: for an instruction that `float_meaning` has a meaning of, the function gives in each lane what the PTX ISA
says, for `.approx` a number within its error bounds.

Argument: numbers are decoded by their type, computed in it by IEEE 754 (round to nearest even), and encoded again;
half-precision types are computed in single precision and rounded once. `.ftz` flushes operands and results.

Not covered: other roundings than to nearest of everything but conversions to integers; `fma` of single precision
rounds by way of double precision, and of double precision twice; packed types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from ...cfg.compare import relation_of
from ...cfg.optypes import Typing, typing_of
from ...ir import Instruction
from ...opcodes.op import Op
from .lane_integers import Lanes, Meaning, combined, compared, number, signed, truth, unsigned

Floats = npt.NDArray[np.floating]

_WIDTHS: Mapping[str, int] = {".f16": 16, ".bf16": 16, ".f32": 32, ".f64": 64}
_OTHER_ROUNDINGS = (".rz", ".rm", ".rp", ".rs", ".rna")
_TO_INTEGERS: Mapping[str, Callable[[Floats], Floats]] = {
    ".rni": np.rint, ".rzi": np.trunc, ".rmi": np.floor, ".rpi": np.ceil,
}  # fmt: skip
_UNORDERED: Mapping[str, str] = {
    ".equ": ".eq", ".neu": ".ne", ".ltu": ".lt", ".leu": ".le", ".gtu": ".gt", ".geu": ".ge",
}  # fmt: skip
_LEAST = np.float32(2.0**-126)


def decoded(a: Lanes, type_: str, *, flush: bool = False) -> Floats:
    """Return the numbers that patterns of bits stand for; half precision as single."""
    a = np.ascontiguousarray(a)
    match type_:
        case ".f64":
            return a.view(np.float64)
        case ".f32":
            found = a.astype(np.uint32).view(np.float32)
            return _flushed(found) if flush else found
        case ".f16":
            return a.astype(np.uint16).view(np.float16).astype(np.float32)
        case _:
            return (a.astype(np.uint32) << np.uint32(16)).view(np.float32)


def encoded(a: Floats, type_: str, *, flush: bool = False) -> Lanes:
    """Return the patterns of numbers."""
    a = np.ascontiguousarray(a)
    match type_:
        case ".f64":
            return a.astype(np.float64).view(np.uint64)
        case ".f32":
            found = a.astype(np.float32)
            return (_flushed(found) if flush else found).view(np.uint32).astype(np.uint64)
        case ".f16":
            return a.astype(np.float16).view(np.uint16).astype(np.uint64)
        case _:
            bits = a.astype(np.float32).view(np.uint32).astype(np.uint64)
            odd = bits >> number(16) & number(1)
            rounded: Lanes = (bits + number(0x7FFF) + odd) >> number(16) & number(0xFFFF)
            found_half: Lanes = np.where(np.isnan(a), number(0x7FFF), rounded)
            return found_half


def _flushed(a: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.where(np.abs(a) < _LEAST, np.copysign(np.float32(0), a), a)


def _computed(function: Callable[..., Floats], count: int) -> Callable[[Typing], Meaning | None]:
    def made(typing: Typing) -> Meaning | None:
        type_, flush = typing.types[0], typing.has(".ftz")

        def run(*sources: Lanes) -> Lanes:
            found = encoded(
                function(*(decoded(each, type_, flush=flush) for each in sources)), type_, flush=flush
            )
            if typing.has(".sat"):
                held = np.clip(np.nan_to_num(decoded(found, type_)), 0, 1)
                return encoded(held, type_)
            return found

        return Meaning((_WIDTHS[type_],) * count, run)

    return made


def _fused(a: Floats, b: Floats, c: Floats) -> Floats:
    if a.dtype == np.float64:
        return a * b + c
    wide = a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)
    return wide.astype(np.float32)


def _sign(change: int) -> Callable[[Typing], Meaning]:
    def made(typing: Typing) -> Meaning:
        width = _WIDTHS[typing.types[0]]
        top = number(1 << (width - 1))
        if change:
            return Meaning((width,), lambda a: a ^ top)
        return Meaning((width,), lambda a: a & ~top)

    return made


def _compare(typing: Typing, instruction: Instruction) -> Meaning | None:
    type_, flush = typing.types[-1], typing.has(".ftz")
    unordered = next((each for each in _UNORDERED if typing.has(each)), None)
    words = {_UNORDERED[unordered]} if unordered else typing.modifiers
    relation = relation_of(words)
    is_number, is_nan = typing.has(".num"), typing.has(".nan")
    if relation is None and not (is_number or is_nan):
        return None

    def holds(a: Lanes, b: Lanes) -> Lanes:
        x, y = decoded(a, type_, flush=flush), decoded(b, type_, flush=flush)
        nan = truth(np.isnan(x) | np.isnan(y))
        if relation is None:
            return nan if is_nan else number(1) - nan
        found = compared(relation, x, y)
        return found | nan if unordered else found & (number(1) - nan)

    return combined(typing, len(instruction.operands), _WIDTHS[type_], holds)


def _convert(typing: Typing) -> Meaning | None:
    if len(typing.types) != 2:
        return None
    to, source = typing.types
    width = typing.width
    if source not in _WIDTHS:
        if to not in _WIDTHS:
            return None
        read = typing.source_width

        def from_integer(a: Lanes) -> Lanes:
            whole = signed(a, read) if typing.source_signed else a
            return encoded(whole.astype(np.float64 if to == ".f64" else np.float32), to)

        return Meaning((read,), from_integer)
    flush = typing.has(".ftz")
    rounding = next((_TO_INTEGERS[each] for each in _TO_INTEGERS if typing.has(each)), None)
    if to in _WIDTHS:

        def to_float(a: Lanes) -> Lanes:
            found = decoded(a, source, flush=flush)
            found = found if rounding is None else rounding(found)
            found = np.clip(np.nan_to_num(found), 0, 1) if typing.has(".sat") else found
            return encoded(found, to, flush=flush)

        return Meaning((_WIDTHS[source],), to_float)
    if rounding is None:
        return None
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if typing.signed else (0, (1 << width) - 1)

    def to_integer(a: Lanes) -> Lanes:
        whole = np.nan_to_num(rounding(decoded(a, source, flush=flush).astype(np.float64)))
        inside = np.clip(whole, float(low), float(high))
        if typing.signed:
            held = np.where(whole >= float(high), high, inside.astype(np.int64))
            return unsigned(held, max(width, 32))
        return np.where(whole >= float(high), number(high), inside.astype(np.uint64))

    return Meaning((_WIDTHS[source],), to_integer)


_FUNCTIONS: Mapping[Op, tuple[Callable[..., Floats], int]] = {
    Op.ADD: (np.add, 2), Op.SUB: (np.subtract, 2), Op.MUL: (np.multiply, 2), Op.DIV: (np.divide, 2),
    Op.FMA: (_fused, 3), Op.MAD: (_fused, 3), Op.SQRT: (np.sqrt, 1), Op.EX2: (np.exp2, 1), Op.LG2: (np.log2, 1),
    Op.SIN: (np.sin, 1), Op.COS: (np.cos, 1), Op.TANH: (np.tanh, 1),
    Op.RCP: (lambda a: 1 / a, 1), Op.RSQRT: (lambda a: 1 / np.sqrt(a), 1),
}  # fmt: skip


def float_meaning(instruction: Instruction) -> Meaning | None:
    """Return what a floating-point instruction computes, None where that is not known here."""
    operation = instruction.operation
    typing, op = typing_of(operation), operation.op
    types = typing.types
    if not types or all(each not in _WIDTHS for each in types):
        return None
    if op is Op.CVT:
        return None if any(typing.has(each) for each in _OTHER_ROUNDINGS) else _convert(typing)
    if any(each not in _WIDTHS for each in types) or any(typing.has(each) for each in _OTHER_ROUNDINGS):
        return None
    if op is Op.SETP:
        return _compare(typing, instruction)
    if op in (Op.MIN, Op.MAX):
        if len(instruction.operands) != 3 or typing.has(".xorsign"):
            return None
        nan, plain = (np.minimum, np.fmin) if op is Op.MIN else (np.maximum, np.fmax)
        return _computed(nan if typing.has(".NaN") else plain, 2)(typing)
    if op in (Op.NEG, Op.ABS):
        return _sign(int(op is Op.NEG))(typing)
    found = _FUNCTIONS.get(op)
    if found is None or typing.has(".relu"):
        return None
    function, count = found
    return _computed(function, count)(typing) if len(instruction.operands) == count + 1 else None
