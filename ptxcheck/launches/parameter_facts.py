"""What is known of kernel parameters besides values: conditions of the user, and what Triton compiled a kernel for.

Triton's JIT compiles a kernel anew for each combination of properties of the arguments (`tt.divisibility = 16` where
an integer or pointer is a multiple of 16), keeps it under that combination, and launches it only with arguments that
have it (`runtime/jit.py`, `create_function_from_signature` and `JITFunction.run`). What it compiled a kernel for is
therefore so in every launch. The PTX does not say it; the `.ttir` of the same compilation does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..ir import Function, Variable
from ..launch import FactOrigin, ParameterFact

_CONDITION = re.compile(
    r"(?P<place>\S+?)\s*(?:%\s*(?P<modulus>-?\w+)\s*==\s*(?P<residue>-?\w+)"
    r"|(?P<relation><=|>=|<|>)\s*(?P<number>-?\w+))\s*\Z"
)
_SIGNED = re.compile(r"\.s(?:8|16|32|64)\Z")
_INTEGER = re.compile(r"i(\d+)\Z")
_FLOAT_BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
_POINTER = "!tt.ptr"
_TENSOR_MAP = "!tt.tensordesc"
_TENSOR_MAP_BYTES = 128
MAX_SCRATCH = 2
"""Pointers to workspaces that Triton appends to the arguments: of the kernel, and of its profiler."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A congruence or bound that the user states of a parameter."""

    place: str
    """`param+640`, `n`, `n.s32`."""
    text: str
    modulus: int = 1
    residue: int = 0
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a kernel that Triton compiled."""

    name: str
    type: str
    """As MLIR spells it: `i32`, `!tt.ptr<f16>`."""
    multiple_of: int = 1
    """What the kernel is specialised for."""
    low: int | None = None
    """Bounds that the kernel's source assumes (`tl.assume`), of the number read as signed."""
    high: int | None = None
    assumed_multiple_of: int = 1


@dataclass(frozen=True, slots=True)
class Specialisation:
    """What Triton compiled one kernel for; constants are no arguments any more."""

    kernel: str
    arguments: tuple[Argument, ...]


def parse_condition(text: str) -> Condition | None:
    """Parse `n % 16 == 0`, `param+640 >= 1`; None for anything else. Raises ValueError for numbers that are none."""
    match = _CONDITION.match(text.strip())
    if match is None:
        return None
    place, shown = match["place"], " ".join(text.split())
    if match["modulus"] is not None:
        modulus, residue = int(match["modulus"], 0), int(match["residue"], 0)
        if not 0 <= residue < modulus < 1 << 32:
            raise ValueError(f"{shown}: no number has this remainder")
        return Condition(place, shown, modulus, residue)
    number = int(match["number"], 0)
    match match["relation"]:
        case ">=":
            return Condition(place, shown, low=number)
        case ">":
            return Condition(place, shown, low=number + 1)
        case "<=":
            return Condition(place, shown, high=number)
        case _:
            return Condition(place, shown, high=number - 1)


def fact_of(condition: Condition, offset: int, size: int) -> ParameterFact | None:
    """Return a condition of the user as a fact about bytes; None where their unsigned numbers are no one interval.

    Without `.s32` or `.s64` at the place the number counts as unsigned, which says least.
    """
    bounds = _unsigned(
        condition.low, condition.high, size, signed=_SIGNED.search(condition.place) is not None
    )
    if bounds is None:
        return None
    low, high = bounds
    return ParameterFact(
        condition.place, offset, size, FactOrigin.GIVEN, condition.text,
        condition.modulus, condition.residue, low, high,
    )  # fmt: skip


def _unsigned(low: int | None, high: int | None, size: int, *, signed: bool) -> tuple[int, int | None] | None:
    """Return bounds of a number as bounds of its bytes."""
    most = (1 << (8 * size - 1)) - 1 if signed else (1 << 8 * size) - 1
    if signed and (low is None or low < 0) and (low, high) != (None, None):
        return None
    first, last = max(low or 0, 0), most if high is None else min(high, most)
    if (low, high) == (None, None):
        return 0, None
    return (first, last) if first <= last else None


def specialised_facts(function: Function, specialisation: Specialisation) -> tuple[ParameterFact, ...]:
    """Return what a specialisation says of the parameters of its kernel; nothing where the two do not fit.

    Arguments keep their order; behind them come workspaces.
    """
    places = function.parameter_places
    arguments = specialisation.arguments
    extra = len(places) - len(arguments)
    if specialisation.kernel != function.name or not 0 <= extra <= MAX_SCRATCH:
        return ()
    marked = any(_is_marked(parameter) for _, _, parameter in places)
    pairs = tuple(zip(arguments, places, strict=False))
    if not all(_fits(argument, size, parameter, marked=marked) for argument, (_, size, parameter) in pairs):
        return ()
    if not all(
        size == 8 and _is_marked(parameter) == marked for _, size, parameter in places[len(arguments) :]
    ):
        return ()
    return tuple(
        fact
        for index, (argument, (offset, size, _)) in enumerate(pairs)
        for fact in _facts(index, argument, offset, size)
    )


def _fits(argument: Argument, size: int, parameter: Variable, *, marked: bool) -> bool:
    """Tell whether a parameter has the type of an argument; older compilers do not mark pointers."""
    kind = argument.type.partition("<")[0]
    if kind == _POINTER:
        return size == 8 and _is_marked(parameter) == marked
    if kind == _TENSOR_MAP:
        return size == _TENSOR_MAP_BYTES
    integer = _INTEGER.match(argument.type)
    bits = int(integer[1]) if integer is not None else _FLOAT_BITS.get(argument.type)
    return bits is not None and size == max(bits // 8, 1) and not _is_marked(parameter)


def _is_marked(parameter: Variable) -> bool:
    """Tell whether a parameter is declared to be a pointer."""
    return any(text.startswith(".ptr") for text in parameter.attributes)


def _facts(index: int, argument: Argument, offset: int, size: int) -> Iterator[ParameterFact]:
    name = f"{index} ({argument.name})"
    if argument.multiple_of > 1:
        text = f"{argument.name} % {argument.multiple_of} == 0"
        yield ParameterFact(name, offset, size, FactOrigin.SPECIALISATION, text, argument.multiple_of)
    if argument.assumed_multiple_of > 1:
        text = f"{argument.name} % {argument.assumed_multiple_of} == 0"
        yield ParameterFact(name, offset, size, FactOrigin.ASSUMPTION, text, argument.assumed_multiple_of)
    bounds = _unsigned(argument.low, argument.high, size, signed=True)
    if bounds is not None and bounds[1] is not None:
        low, high = bounds
        text = f"{low} <= {argument.name}" + ("" if argument.high is None else f" <= {high}")
        yield ParameterFact(name, offset, size, FactOrigin.ASSUMPTION, text, low=low, high=high)


def contradiction(facts: Sequence[ParameterFact], values: Iterable[tuple[int, int, int]]) -> str | None:
    """Return two facts about one place that no number meets, or a fact that a given (offset, size, value) breaks."""
    from ..cfg.values import (
        Value,
        meet,
        reduced,
        top,
    )

    known = {(offset, size): value for offset, size, value in values}
    numbers: dict[tuple[int, int], Value] = {}
    for fact in facts:
        place = (fact.offset, fact.size)
        mask = (1 << 8 * fact.size) - 1
        one = reduced(
            8 * fact.size,
            fact.low,
            mask if fact.high is None else fact.high,
            0,
            mask,
            fact.modulus,
            fact.residue,
        )
        both = None if one is None else meet(numbers.get(place, top(8 * fact.size)), one)
        if both is None:
            return f"{fact.text} cannot hold together with what else is known"
        numbers[place] = both
        if place in known and not both.may_be(known[place]):
            return f"{fact.text} contradicts the given value {known[place]}"
    return None


def fact_lines(facts: Sequence[ParameterFact]) -> tuple[str, ...]:
    """Return what is known of parameters as lines to read; what the user gave is not repeated."""
    lines: list[str] = []
    by_multiple: dict[int, list[str]] = {}
    for fact in facts:
        if fact.origin is FactOrigin.SPECIALISATION:
            by_multiple.setdefault(fact.modulus, []).append(fact.name)
    for multiple, names in by_multiple.items():
        word = "argument" if len(names) == 1 else "arguments"
        lines.append(f"Triton specialised {word} {', '.join(names)} for multiples of {multiple}")
    assumed = [fact.text for fact in facts if fact.origin is FactOrigin.ASSUMPTION]
    if assumed:
        lines.append(f"the kernel's source assumes (tl.assume) {', '.join(assumed)}")
    return tuple(lines)
