"""From an encode call with abstract arguments to the constraints that it breaks, or breaks for some values."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ptxcheck.descriptors.constraints import Constraint, Platform, load
from ptxcheck.descriptors.expression import Scope
from ptxcheck.descriptors.expression import value as constant_value
from ptxcheck.descriptors.fields import Kind
from ptxcheck.descriptors.guard import named as with_names
from ptxcheck.descriptors.legality import shown
from ptxcheck.descriptors.ranges import Range, Symbol
from ptxcheck.descriptors.symbolic import Judgement, Legality, judge
from ptxcheck.descriptors.tensor_map import (
    Im2colMap,
    Im2colWideMap,
    TensorMap,
    TiledMap,
)
from ptxcheck.hostcode import code as c
from ptxcheck.hostcode.arithmetic import Arithmetic
from ptxcheck.hostcode.interpret import Encode
from ptxcheck.hostcode.names import PARAMETERS
from ptxcheck.hostcode.types import (
    INT,
    UNKNOWN,
    UNSIGNED,
    UNSIGNED_LONG,
    Type,
    named,
)
from ptxcheck.hostcode.values import (
    ANYTHING,
    Anything,
    Array,
    Integer,
    NullPointer,
    Step,
    Symbols,
    Value,
    bounds,
    number,
)
from ptxcheck.source import Span

RANKS = range(1, 6)
_ARRAYS = {
    "globalDim": ("dim", UNSIGNED_LONG, 0),
    "globalStrides": ("stride", UNSIGNED_LONG, 1),
    "boxDim": ("box", UNSIGNED, 0),
    "elementStrides": ("element_stride", UNSIGNED, 0),
    "pixelBoxLowerCorner": ("lower", INT, 2),
    "pixelBoxUpperCorner": ("upper", INT, 2),
}
"""Fields of the constraint language, element type, and how many entries fewer than the rank each array has."""
_SCALARS = {
    "tensorDataType": ("data_type", named("CUtensorMapDataType")),
    "globalAddress": ("address", Type("void", is_pointer=True)),
    "channelsPerPixel": ("channels", UNSIGNED),
    "pixelsPerColumn": ("pixels", UNSIGNED),
    "interleave": ("interleave", named("CUtensorMapInterleave")),
    "swizzle": ("swizzle", named("CUtensorMapSwizzle")),
    "l2Promotion": ("l2_promotion", named("CUtensorMapL2promotion")),
    "oobFill": ("oob_fill", named("CUtensorMapFloatOOBfill")),
    "mode": ("mode", named("CUtensorMapIm2ColWideMode")),
}
_ARGUMENT_OF = {
    "device": "tensorMap",
    "driver version": "tensorMap",
    "pixelBox corners": "pixelBoxUpperCorner",
}


@dataclass(frozen=True, slots=True)
class NullArray:
    """An array argument that is a null pointer; the driver refuses it at every rank (observed)."""

    argument: str


@dataclass(frozen=True, slots=True)
class ShortArray:
    """An array argument with fewer entries than the call reads."""

    argument: str
    length: int
    needed: int


@dataclass(frozen=True, slots=True)
class Broken:
    """A constraint that no value of the unknown parts satisfies, or with `condition` only some do."""

    constraint: Constraint
    index: int | None
    values: tuple[tuple[str, str], ...]
    condition: str | None = None


@dataclass(frozen=True, slots=True)
class Issue:
    """What is wrong with one encode call: where its argument stands and how its value came to be."""

    fault: NullArray | ShortArray | Broken
    argument: str
    span: Span
    steps: tuple[Step, ...]
    encode: Encode

    @property
    def is_certain(self) -> bool:
        """Whether no value of the unknown parts avoids it."""
        return not (isinstance(self.fault, Broken) and self.fault.condition is not None)

    @property
    def identity(self) -> tuple[object, ...]:
        """Return what tells it from another issue of the same call."""
        if isinstance(self.fault, Broken):
            return self.argument, self.fault.constraint.id, self.fault.index
        return self.argument, type(self.fault)


class Judge:
    """Judges encode calls on all of `platforms`: what one of them accepts is no issue."""

    def __init__(self, platforms: Sequence[Platform], *, checks_lengths: bool, possible: bool) -> None:
        self._platforms = platforms
        self._checks_lengths = checks_lengths
        self._possible = possible

    def issues(self, encode: Encode) -> Iterator[Issue]:
        """Yield what is wrong with a call, in the order of the constraints."""
        arguments = _Arguments(encode)
        yield from self._shapes(encode, arguments)
        ranks = arguments.ranks()
        found: list[dict[tuple[str, int | None], Issue]] = []
        for rank in ranks:
            found.append(self._at_rank(encode, arguments, rank))
            if not found[-1]:
                return
        if not found:
            return
        for key, issue in found[0].items():
            others = [one.get(key) for one in found[1:]]
            if all(other is not None for other in others):
                certain = all(one.is_certain for one in (issue, *others) if one is not None)
                softer = next(
                    (one for one in (issue, *others) if one is not None and not one.is_certain), issue
                )
                yield issue if certain else softer

    def _shapes(self, encode: Encode, arguments: _Arguments) -> Iterator[Issue]:
        """Yield null and short arrays."""
        rank = arguments.rank
        for name in PARAMETERS[encode.kind]:
            if name not in _ARRAYS or (encode.kind is Kind.IM2COL_WIDE and name.startswith("pixelBox")):
                continue
            value = arguments.value(name)
            span = arguments.span(name)
            needed = 0 if rank is None else rank - _ARRAYS[name][2]
            is_zero = isinstance(value, Integer) and value.constant == 0
            if self._checks_lengths and (isinstance(value, NullPointer) or is_zero):
                yield Issue(NullArray(name), name, span, (), encode)
            elif self._checks_lengths and isinstance(value, Array) and _is_short(value, needed):
                steps = (Step(f"{len(value.items)} entries", value.span),) if value.span else ()
                yield Issue(ShortArray(name, len(value.items), needed), name, span, steps, encode)

    def _at_rank(
        self, encode: Encode, arguments: _Arguments, rank: int
    ) -> dict[tuple[str, int | None], Issue]:
        """Return the broken constraints at one rank, by rule and index; of all platforms the mildest."""
        fields = arguments.fields(rank)
        tensor_map = _map(encode.kind, rank, fields)
        found: list[dict[tuple[str, int | None], Issue]] = []
        for platform in self._platforms:
            only_never = not self._possible
            judged = judge(tensor_map, fields.terms, fields.known, platform, only_never=only_never)
            if not judged:
                return {}
            broken = {
                (_base(one.clause.constraint.id), one.clause.index): self._issue(
                    encode, arguments, fields, one
                )
                for one in judged
            }
            found.append(broken)
        first, *others = found
        agreed = {}
        for key, issue in first.items():
            same = [issue, *(one[key] for one in others if key in one)]
            if len(same) == len(found):
                agreed[key] = next((one for one in same if not one.is_certain), issue)
        return agreed

    def _issue(self, encode: Encode, arguments: _Arguments, fields: _Fields, judged: Judgement) -> Issue:
        clause = judged.clause
        read = fields.read(clause.constraint.expression, clause.index)
        condition = clause.python if judged.legality is Legality.CONDITIONAL else None
        argument = _ARGUMENT_OF.get(clause.constraint.field, clause.constraint.field)
        broken = Broken(
            clause.constraint, clause.index, tuple((name, text) for name, text, _ in read), condition
        )
        steps = tuple(dict.fromkeys(step for _, _, value in read for step in value.steps))
        return Issue(broken, argument, arguments.span(argument), steps[:8], encode)


def _is_short(array: Array, needed: int) -> bool:
    return array.rest is None and 0 < len(array.items) < needed <= max(RANKS)


def _base(constraint_id: str) -> str:
    """Return a constraint's id without the platform that a variant of it is for."""
    return constraint_id.removesuffix("-before-12.8").removesuffix("-blackwell")


@dataclass(frozen=True)
class _Fields:
    """Fields of the constraint language at one rank: numbers, and terms over symbols for the unknown ones."""

    numbers: dict[str, int]
    terms: dict[str, ast.expr]
    known: dict[str, Symbol]
    values: dict[str, Integer]

    def entry(self, name: str, count: int) -> tuple[int, ...]:
        """Return an array field; what is unknown is 0 there and has a term."""
        return tuple(self.numbers.get(f"{name}[{i}]", 0) for i in range(count))

    def read(self, expression: ast.expr, index: int | None) -> list[tuple[str, str, Integer]]:
        """Return the fields that a constraint reads: name, value as text, value."""
        found: dict[str, Integer] = {}
        pending: list[ast.AST] = [expression]
        while pending:
            node = pending.pop(0)
            if isinstance(node, ast.Name) and node.id in load().lets:
                pending.append(load().lets[node.id])
            elif isinstance(node, ast.Name) and node.id in self.values:
                found.setdefault(node.id, self.values[node.id])
            elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
                for key in self._entries(node.value.id, node.slice, index):
                    found.setdefault(key, self.values[key])
            else:
                pending.extend(ast.iter_child_nodes(node))
        return [(key, self._shown(key, value), value) for key, value in found.items()]

    def _entries(self, name: str, at: ast.expr, index: int | None) -> list[str]:
        loose = index is None and any(isinstance(node, ast.Name) for node in ast.walk(at))
        if loose:
            return [key for key in self.values if key.startswith(f"{name}[")]
        key = f"{name}[{constant_value(at, Scope({}, {}, {}), index)}]"
        return [key] if key in self.values else []

    def _shown(self, key: str, value: Integer) -> str:
        if value.constant is not None:
            return shown(key, value.constant)
        span = bounds(value, self.known)
        text = _source_name(value.term, self.known)
        multiple = f", a multiple of {span.step}" if span.step > 1 else ""
        limits = f"{_power(span.low)} to {_power(span.high)}{multiple}"
        return f"{text} ({limits})" if text else limits


def _source_name(term: ast.expr, known: dict[str, Symbol]) -> str:
    text = ast.unparse(with_names(term, known))
    return text if len(text) <= 40 else ""


def _power(value: int) -> str:
    """Return a large number as a power of two where it is next to one."""
    size = abs(value)
    for near, sign in ((size, ""), (size + 1, " - 1")):
        if near >= 1 << 20 and near & (near - 1) == 0:
            return f"{'-' if value < 0 else ''}2^{near.bit_length() - 1}{sign}"
    return str(value)


def arguments_of(encode: Encode) -> dict[str, Value]:
    """Return the arguments of a call by the parameter names of cuda.h, in their order."""
    names = PARAMETERS[encode.kind][1:] if encode.bare else PARAMETERS[encode.kind]
    return dict(zip(names, encode.arguments, strict=True))


class _Arguments:
    """The arguments of one call by the parameter names of cuda.h."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._values = arguments_of(encode)
        names = tuple(self._values)
        self._exprs = dict(zip(names, encode.call.arguments, strict=True))
        self._symbols = Symbols("argument")
        self._names = {name: position for position, name in enumerate(names)}

    def value(self, name: str) -> Value:
        """Return an argument's value."""
        return self._values.get(name, ANYTHING)

    def span(self, name: str) -> Span:
        """Return where an argument stands, or the call."""
        return self._exprs[name].span if name in self._exprs else self._encode.call.span

    @property
    def rank(self) -> int | None:
        """Return tensorRank where it is known."""
        value = self.value("tensorRank")
        return value.constant if isinstance(value, Integer) else None

    def ranks(self) -> list[int]:
        """Return the ranks that are possible."""
        if self.rank is not None:
            return [self.rank] if 0 < self.rank <= 2 * max(RANKS) else []
        value = self.value("tensorRank")
        if isinstance(value, Integer):
            span = bounds(value, self._encode.known)
            return [rank for rank in RANKS if span.low <= rank <= span.high]
        return list(RANKS)

    def fields(self, rank: int) -> _Fields:
        """Return all fields at a rank."""
        known = dict(self._encode.known)
        fields = _Fields({}, {}, known, {})
        arithmetic = Arithmetic(self._symbols)
        for name in self._names:
            if name in _SCALARS:
                key, type_ = _SCALARS[name]
                self._put(fields, arithmetic, key, self.value(name), type_, name)
            elif name in _ARRAYS:
                key, type_, fewer = _ARRAYS[name]
                if self._encode.kind is Kind.IM2COL_WIDE and name.startswith("pixelBox"):
                    self._put(fields, arithmetic, f"{key}[0]", self.value(name), INT, name)
                    continue
                for i in range(max(rank - fewer, 0)):
                    self._put(fields, arithmetic, f"{key}[{i}]", self._entry(name, i), type_, f"{name}[{i}]")
        fields.terms["map_address"] = ast.Constant(value=0)
        return fields

    def _entry(self, name: str, i: int) -> Value:
        value = self.value(name)
        if not isinstance(value, Array):
            return ANYTHING
        if i < len(value.items):
            return value.items[i]
        return ANYTHING if value.rest is None else value.rest

    def _put(
        self, fields: _Fields, arithmetic: Arithmetic, key: str, value: Value, type_: Type, text: str
    ) -> None:
        known = fields.known
        if isinstance(value, NullPointer):
            value = number(0)
        if isinstance(value, Array) and len(value.items) == 1 and value.rest is None:
            value = value.items[0]
        if isinstance(value, Integer):
            # an address is at most 2^57 on every machine that CUDA runs on; other values wrap to the parameter's type
            whole = value if type_.is_pointer else arithmetic.convert(value, type_, known, text)
            if type_.is_pointer and not value.type.is_pointer and value.constant is None:
                span = bounds(value, known)
                if span.low < 0 or span.high >= 1 << 57:
                    low = Range(max(span.low, 0), min(span.high, (1 << 57) - 1), max(span.step, 1))
                    whole = Integer(self._fresh(known, text, low), type_, value.steps)
        elif type_.is_pointer:
            whole = Integer(self._fresh(known, text, Range(0, (1 << 57) - 1, 1)), type_)
        else:
            high = type_.high
            whole = Integer(self._fresh(known, text, Range(type_.low, high, 1)), type_)
        fields.values[key] = whole
        if whole.constant is not None:
            fields.numbers[key] = whole.constant
        else:
            fields.terms[key] = whole.term

    def _fresh(self, known: dict[str, Symbol], text: str, span: Range) -> ast.expr:
        return self._symbols.fresh(known, text, span)


def described(encode: Encode) -> tuple[TensorMap, frozenset[str]] | None:
    """Return the map that a call encodes, fields that are not constant as 0, and the names of those that are.

    None where the rank is not known.
    """
    arguments = _Arguments(encode)
    rank = arguments.rank
    if rank is None or rank not in RANKS:
        return None
    fields = arguments.fields(rank)
    return _map(encode.kind, rank, fields), frozenset(fields.numbers)


def _map(kind: Kind, rank: int, fields: _Fields) -> TensorMap:
    common = {
        "data_type": fields.numbers.get("data_type", 0),
        "global_dim": fields.entry("dim", rank),
        "global_strides": fields.entry("stride", max(rank - 1, 0)),
        "element_strides": fields.entry("element_stride", rank),
        "interleave": fields.numbers.get("interleave", 0),
        "swizzle": fields.numbers.get("swizzle", 0),
        "l2_promotion": fields.numbers.get("l2_promotion", 0),
        "oob_fill": fields.numbers.get("oob_fill", 0),
        "global_address": fields.numbers.get("address", 0),
    }
    if kind is Kind.TILED:
        return TiledMap(**common, box_dim=fields.entry("box", rank))  # type: ignore[arg-type]
    column = {
        "channels_per_pixel": fields.numbers.get("channels", 0),
        "pixels_per_column": fields.numbers.get("pixels", 0),
    }
    if kind is Kind.IM2COL:
        count = max(rank - 2, 0)
        corners = {"lower_corner": fields.entry("lower", count), "upper_corner": fields.entry("upper", count)}
        return Im2colMap(**common, **column, **corners)  # type: ignore[arg-type]
    lower, upper = fields.numbers.get("lower[0]", 0), fields.numbers.get("upper[0]", 0)
    wide = {"lower_corner": lower, "upper_corner": upper, "mode": fields.numbers.get("mode", 0)}
    return Im2colWideMap(**common, **column, **wide)  # type: ignore[arg-type]


__all__ = ["UNKNOWN", "Anything", "Broken", "Issue", "Judge", "NullArray", "ShortArray", "c", "described"]
