"""Rows of the instruction table, and the notation that their syntax lines are written in.

A syntax line follows the PTX manual: `mnemonic.literal.slot{.optional}{.sem.scope} operands @requirement`.

* `.word` is a slot when the row defines `word` in `slots`, else a literal modifier.
* `{.a.b}` are optional together. The order of modifiers is free, as in ptxas; slots that accept the
  same value (`cvt.dtype.atype`) are filled from left to right.
* `.type(.s32,.u32@8.0)` narrows a slot to these values on this form; they need not be in `slots`.
* `.half!` must come right after the mnemonic: it is part of the name of the instruction.
* Slots whose names end in `type`, or in `space`, keep their order, as in ptxas.
* Operands: `a`, `[addr]`, `[map, coords]` (any number of parts), `d|p`, `d{|p}`, an optional tail `{, c}`,
  a tail that is there exactly when a slot is filled `{, mask}@multicast`.
* `mask=mask32` is the operand `mask`, described by the entry `mask32` of `operands` and `limits`.
* A trailing ` @8.6+sm_100a|sm_100f` adds a requirement of that form (see `Requirement.parse`).

`slots` maps a slot to its values: `".ca .cg@7.4 .x@8.6+sm_100f"`. `operands` maps an operand to
`[r|w|w_|rw] [pred|imm|label|symbol|any|addr|sink|vec] [type][+][*count] [in space]`, where type, count and
space are literals (`.b32`, `4`, `.global`) or names of slots; `type+` lets a register be wider than the type,
`w_` lets a destination be the sink `_` (elements of a vector always may). What is not said follows from the
name: `d` is written, others are read; the type is that of the slot `<name>type`, else of `type`; the space
of an address is slot `space`.

A count may compute from a slot: `num*2` and `dim-2` from the number in its value (`.x4`, `.3d`), `shape.n/4`
from the number after a letter of it (`.m64n96k16`); `any` is any number; see `count.py`.

`limits` maps an operand to the integer literals that ptxas takes there: alternatives separated by commas,
each `32`, `0..15` or `16..1048560 step 16`. Registers are not limited.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..opcodes.op import Op
from ..opcodes.spec import (
    Direction,
    Form,
    OperandKind,
    OperandSpec,
    Slot,
    SlotValue,
    Trait,
)
from ..opcodes.target import Requirement

_HEAD_GROUP = re.compile(r"\{((?:\.[\w:]+!?(?:\([^)]*\))?)+)\}|(\.[\w:]+!?(?:\([^)]*\))?)")
_HEAD_WORD = re.compile(r"(\.[\w:]+)(!?)(?:\(([^)]*)\))?")
_LIMIT = re.compile(r"\s*(-?\w+)(?:\.\.(-?\w+)(?:\s+step\s+(\d+))?)?\s*\Z")
_OPERAND_TOKEN = re.compile(
    r"\s*(?:(?P<optional>\{\s*,\s*(?P<inner>[^{}]*)\}(?:@(?P<with>\w+))?)"
    r"|(?P<address>\[[^\]]*\])"
    r"|(?P<pair>\w+(?:=\w+)?(?:\{\|[\w=]+\}|\|[\w=]+))"
    r"|(?P<name>[\w=]+))\s*,?"
)
_SPEC = re.compile(
    r"(?:(?P<direction>rw|r|w)(?P<sink>_)?(?:\s+|$))?(?:(?P<kind>pred|imm|label|symbol|any|addr|sink|vec)(?:\s+|$))?"
    r"(?P<type>\.?[\w:]+)?(?P<wider>\+)?(?:\*(?P<count>\w+(?:\.[mnk])?(?:[-/*]\d+)?))?(?:\s*in\s+(?P<space>\.?[\w:]+))?\Z"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One instruction of the manual: its syntax lines and what holds for all of them."""

    mnemonic: str
    op: Op
    section: str
    forms: tuple[str, ...]
    since: str = "1.0"
    """Requirement of the whole row, for example `8.0+sm_90`."""
    slots: Mapping[str, str] = field(default_factory=dict)
    operands: Mapping[str, str] = field(default_factory=dict)
    traits: frozenset[Trait] = frozenset()
    limits: Mapping[str, str] = field(default_factory=dict)


def compile_row(row: Row) -> tuple[Form, ...]:
    """Return the forms of a row. Raises ValueError on a mistake in the table."""
    return tuple(_compile_form(row, line) for line in row.forms)


def _compile_form(row: Row, line: str) -> Form:
    syntax, _, requirement = line.partition(" @")
    head, _, operands = syntax.partition(" ")
    if head != row.mnemonic and not head.startswith((row.mnemonic + ".", row.mnemonic + "{")):
        raise ValueError(f"form does not start with its mnemonic: {line!r}")
    slots = tuple(_slots(row, head[len(row.mnemonic) :]))
    return Form(
        op=row.op,
        mnemonic=row.mnemonic,
        slots=slots,
        operands=tuple(_operands(row, operands, {slot.name for slot in slots})),
        traits=row.traits | _traits_of(slots),
        requirement=_both(Requirement.parse(row.since), Requirement.parse(requirement.strip())),
        section=row.section,
        syntax=line,
    )


def _traits_of(slots: tuple[Slot, ...]) -> frozenset[Trait]:
    aligned = any(slot.name == ".aligned" and not slot.optional for slot in slots)
    return frozenset({Trait.ALIGNED}) if aligned else frozenset()


def _both(row: Requirement, form: Requirement) -> Requirement:
    version = max(row.version, form.version)
    return Requirement(version, form.targets or row.targets, form.removed or row.removed)


def _slots(row: Row, text: str) -> Iterator[Slot]:
    consumed = 0
    for group, match in enumerate(_HEAD_GROUP.finditer(text)):
        if match.start() != consumed:
            raise ValueError(f"{row.mnemonic}: cannot read {text[consumed:]!r}")
        consumed = match.end()
        words = _HEAD_WORD.findall(match[1] or match[2])
        for word, leading, narrowed in words:
            together = group if len(words) > 1 else -1
            slot = _slot(row, word, narrowed, optional=match[1] is not None, group=together)
            yield replace(slot, leading=bool(leading))
    if consumed != len(text):
        raise ValueError(f"{row.mnemonic}: cannot read {text[consumed:]!r}")


def _slot(row: Row, word: str, narrowed: str, *, optional: bool, group: int) -> Slot:
    listed = _slot_values(row.slots.get(word[1:], "").split())
    if narrowed:
        given = _slot_values(narrowed.split(","))
        for text, value in given.items():
            if value.requirement == Requirement() and text in listed:
                given[text] = listed[text]
        return Slot(word[1:], given, optional, group)
    if not listed:
        return Slot(word, {word: SlotValue(word, Requirement())}, optional, group)
    return Slot(word[1:], listed, optional, group)


def _slot_values(items: Iterable[str]) -> dict[str, SlotValue]:
    values = {}
    for item in items:
        text, _, requirement = item.partition("@")
        values[text] = SlotValue(text, Requirement.parse(requirement))
    return values


def parse_limits(text: str) -> tuple[range, ...]:
    """Parse the notation of `Row.limits`. Raises ValueError on a mistake."""
    found = []
    for part in text.split(","):
        match = _LIMIT.match(part)
        if match is None:
            raise ValueError(f"cannot read limits {text!r}")
        first = int(match[1], 0)
        last = int(match[2], 0) if match[2] else first
        found.append(range(first, last + 1, int(match[3] or 1)))
    return tuple(found)


def _operands(row: Row, text: str, slots: set[str]) -> Iterator[OperandSpec]:
    at = 0
    while at < len(text):
        match = _OPERAND_TOKEN.match(text, at)
        if match is None or match.end() == at:
            raise ValueError(f"{row.mnemonic}: cannot read operands {text[at:]!r}")
        at = match.end()
        if match["optional"]:
            inner = match["inner"].strip()
            yield _operand(row, inner, slots, optional=True, present_with=match["with"] or "")
        else:
            yield _operand(row, match[0].strip().rstrip(",").strip(), slots)


def _operand(
    row: Row, text: str, slots: set[str], *, optional: bool = False, present_with: str = ""
) -> OperandSpec:
    second: OperandSpec | None = None
    bracketed = text.startswith("[")
    if bracketed:
        name, *parts = text[1:-1].split(",")
        for part in reversed(parts):
            second = replace(_operand(row, part.strip(), slots), second=second)
    else:
        name, bar, rest = text.partition("|")
        if bar:
            second = _operand(row, rest.strip("}"), slots, optional=name.endswith("{"))
            name = name.rstrip("{")
    name, _, key = name.strip().partition("=")
    key = key or name
    spec = _SPEC.match(row.operands.get(key, ""))
    if spec is None:
        raise ValueError(f"{row.mnemonic}: cannot read operand spec {row.operands[key]!r}")
    kind = OperandKind(spec["kind"]) if spec["kind"] else OperandKind.VALUE
    if bracketed:
        kind = OperandKind.ADDRESS
    direction = Direction(spec["direction"]) if spec["direction"] else _default_direction(name)
    return OperandSpec(
        name=name,
        kind=kind,
        direction=direction,
        type=spec["type"] or _default_type(name, kind, slots),
        wider=spec["wider"] is not None,
        sink=spec["sink"] is not None,
        count=spec["count"] or "",
        space=spec["space"] or ("space" if bracketed and "space" in slots else ""),
        optional=optional,
        present_with=present_with,
        second=second,
        limits=parse_limits(row.limits[key]) if key in row.limits else (),
    )


def _default_direction(name: str) -> Direction:
    return Direction.WRITE if name == "d" else Direction.READ


def _default_type(name: str, kind: OperandKind, slots: set[str]) -> str:
    if kind is not OperandKind.VALUE:
        return ""
    for candidate in (f"{name}type", "type"):
        if candidate in slots:
            return candidate
    return ""


__all__ = ["Row", "compile_row", "parse_limits"]
