"""Statements made from the instruction table: valid ones for each form, and broken ones by mutation.

`enumerate_form` walks the values of the slots of a form, `statements` is the hypothesis strategy on the same
ground, `mutations` breaks a statement. `module` wraps statements into a kernel that declares what they name,
one statement a line.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from ptxcheck.isa import forms_of, rows_by_mnemonic
from ptxcheck.isa.count import vector_length
from ptxcheck.isa.types import type_width
from ptxcheck.opcodes.spec import (
    Form,
    OperandKind,
    OperandSpec,
    Slot,
)
from ptxcheck.opcodes.target import Target, Version

_DECLARED = (
    *(".pred", ".b8", ".b16", ".b32", ".b64", ".b128", ".u8", ".u16", ".u32", ".u64"),
    *(".s8", ".s16", ".s32", ".s64", ".f16", ".f16x2", ".f32", ".f64"),
)
"""Types that registers can be declared with."""

_SPACES = {".shared": "in_shared", ".global": "in_global", ".const": "in_const", ".local": "in_local"}
_REGISTERS = 160


def register(type_: str, index: int = 1) -> str:
    """Return the name of a register declared with a type."""
    return f"%{type_[1:]}_{index}"


def register_for(type_: str, index: int = 1) -> str:
    """Return a register that holds a type: declared with it, or with the bits of its width."""
    if type_ in _DECLARED:
        return register(type_, index)
    return register(f".b{type_width(type_) or 32}", index)


@dataclass(frozen=True, slots=True)
class Statement:
    """One instruction in parts, so that they can be changed one by one."""

    mnemonic: str
    modifiers: tuple[str, ...]
    operands: tuple[str, ...]
    form: Form | None = field(default=None, compare=False)
    change: str = ""
    """What was done to break it; "" for a valid one."""

    @property
    def text(self) -> str:
        return f"{self.mnemonic}{''.join(self.modifiers)} {', '.join(self.operands)};".replace(" ;", ";")


def fits(form: Form, version: Version, target: Target) -> bool:
    """Tell whether a form is there in a version and target, and every operand can be generated."""
    if form.requirement.problem(version, target) is not None:
        return False
    return all(_can_write(spec) for spec in form.operands)


def _can_write(spec: OperandSpec) -> bool:
    return spec.kind not in (OperandKind.SYMBOL,) and not (spec.kind is OperandKind.ANY and not spec.type)


def _values(slot: Slot, version: Version, target: Target) -> list[str]:
    return [v.text for v in slot.values.values() if v.requirement.problem(version, target) is None]


def slot_choices(
    form: Form, version: Version, target: Target, limit: int = 200, seed: int = 0
) -> Iterator[Mapping[str, str]]:
    """Yield fillings of the slots: all of them when there are at most `limit`, else a covering sample."""
    options: list[list[str | None]] = []
    for slot in form.slots:
        values: list[str | None] = [*_values(slot, version, target)]
        if slot.optional:
            values.insert(0, None)
        if not values:
            return
        options.append(values)
    total = 1
    for values in options:
        total *= len(values)
    if total <= limit:
        picked: Iterable[Sequence[str | None]] = itertools.product(*options)
    else:
        picked = _sample(options, limit, random.Random(f"{form.syntax}{seed}"))
    for choice in picked:
        if _groups_agree(form.slots, choice):
            yield {slot.name: word for slot, word in zip(form.slots, choice, strict=True) if word is not None}


def _sample(options: list[list[str | None]], limit: int, rng: random.Random) -> Iterator[list[str | None]]:
    """Yield every value of every slot at least once, then pairs at random."""
    longest = max(map(len, options))
    for index in range(longest):
        yield [values[index % len(values)] for values in options]
    for _ in range(limit - longest):
        yield [rng.choice(values) for values in options]


def _groups_agree(slots: Sequence[Slot], choice: Sequence[str | None]) -> bool:
    groups: dict[int, set[bool]] = {}
    for slot, word in zip(slots, choice, strict=True):
        if slot.group >= 0:
            groups.setdefault(slot.group, set()).add(word is not None)
    return all(len(states) == 1 for states in groups.values())


def fill(form: Form, slots: Mapping[str, str], optional: bool = True) -> Statement:
    """Return the statement of a form with filled slots; `optional` operands are there or not."""
    operands = [
        _operand(spec, slots, index)
        for index, spec in enumerate(form.operands)
        if (spec.present_with in slots if spec.present_with else optional or not spec.optional)
    ]
    return Statement(form.mnemonic, tuple(slots.values()), tuple(operands), form)


def _operand(spec: OperandSpec, slots: Mapping[str, str], index: int) -> str:
    if spec.kind is OperandKind.ADDRESS:
        return f"[{', '.join(_address_parts(spec, slots, index))}]"
    first = _value(spec, slots, index)
    if spec.second is not None:
        return f"{first}|{_value(spec.second, slots, index + 20)}"
    return first


def _address_parts(spec: OperandSpec, slots: Mapping[str, str], index: int) -> Iterator[str]:
    yield register(".b64", index + 1) if spec.kind is OperandKind.ADDRESS else _value(spec, slots, index)
    if spec.second is not None:
        yield from _address_parts(spec.second, slots, index + 10)


def _value(spec: OperandSpec, slots: Mapping[str, str], index: int) -> str:
    match spec.kind:
        case OperandKind.PREDICATE:
            return register(".pred", index + 1)
        case OperandKind.IMMEDIATE:
            return str(spec.limits[0].start if spec.limits else 1)
        case OperandKind.LABEL:
            return "done"
        case OperandKind.SINK:
            return "_"
        case _:
            return _typed(spec, slots, index)


def _typed(spec: OperandSpec, slots: Mapping[str, str], index: int) -> str:
    type_ = spec.type if spec.type.startswith(".") else slots.get(spec.type, ".b32")
    length = vector_length(spec.count, slots) or 1
    first = 1 + index * 4 if length <= 8 else 1
    names = [register_for(type_, first + at) for at in range(length)]
    braces = length > 1 or spec.kind is OperandKind.VECTOR
    return "{" + ", ".join(names) + "}" if braces else names[0]


def enumerate_form(
    form: Form, version: Version, target: Target, limit: int = 200, seed: int = 0
) -> Iterator[Statement]:
    """Yield valid statements of a form."""
    if not fits(form, version, target):
        return
    has_optional = any(spec.optional and not spec.present_with for spec in form.operands)
    for slots in slot_choices(form, version, target, limit, seed):
        yield fill(form, slots)
        if has_optional:
            yield fill(form, slots, optional=False)


def all_forms() -> Iterator[Form]:
    """Yield every form of the table."""
    for mnemonic in rows_by_mnemonic():
        yield from forms_of(mnemonic)


def statements(version: Version, target: Target) -> st.SearchStrategy[Statement]:
    """Return a strategy for valid statements."""
    forms = [form for form in all_forms() if fits(form, version, target)]

    @st.composite
    def draw_statement(draw: st.DrawFn) -> Statement:
        form = draw(st.sampled_from(forms))
        choices = list(slot_choices(form, version, target, limit=60))
        if not choices:
            return Statement("exit", (), ())
        return fill(form, draw(st.sampled_from(choices)), optional=draw(st.booleans()))

    return draw_statement()


_WRONG_OPERANDS = (
    *(register(type_, 3) for type_ in _DECLARED if type_ != ".f16x2"),
    "1",
    "-1",
    "1.5",
    "0f3F800000",
    "_",
    "!%pred_3",
    "[%b64_3]",
    "{%b32_1, %b32_2}",
    "{%b16_1, %b16_2}",
    "{%f32_1, %f32_2, %f32_3, %f32_4}",
    "in_shared",
    "%tid.x",
)
"""What an operand is changed to. `.f16x2` registers are left out: ptxas takes them for many integers."""


def mutations(statement: Statement, rng: random.Random, words: Sequence[str]) -> Iterator[Statement]:
    """Yield one broken neighbour of each sort; `words` are modifiers to put in. Some may still be valid."""
    modifiers, operands = statement.modifiers, statement.operands
    if modifiers:
        at = rng.randrange(len(modifiers))
        yield _changed(statement, "drop modifier", modifiers[:at] + modifiers[at + 1 :])
        yield _changed(statement, "duplicate modifier", (*modifiers[: at + 1], *modifiers[at:]))
        yield _changed(
            statement, "change modifier", (*modifiers[:at], rng.choice(words), *modifiers[at + 1 :])
        )
        yield _changed(statement, "add modifier", (*modifiers[:at], rng.choice(words), *modifiers[at:]))
    if len(modifiers) > 1:
        first, second = sorted(rng.sample(range(len(modifiers)), 2))
        swapped = list(modifiers)
        swapped[first], swapped[second] = swapped[second], swapped[first]
        yield _changed(statement, "swap modifiers", tuple(swapped))
    if operands:
        at = rng.randrange(len(operands))
        yield replace(statement, operands=operands[:at] + operands[at + 1 :], change="drop operand")
        yield replace(statement, operands=(*operands, operands[-1]), change="add operand")
        for _ in range(2):
            at = rng.randrange(len(operands))
            wrong = rng.choice(_WRONG_OPERANDS)
            yield replace(
                statement, operands=(*operands[:at], wrong, *operands[at + 1 :]), change="change operand"
            )


def _changed(statement: Statement, change: str, modifiers: tuple[str, ...]) -> Statement:
    return replace(statement, modifiers=modifiers, change=change)


def modifier_words(mnemonic: str) -> tuple[str, ...]:
    """Return every modifier of a mnemonic, and a few foreign ones."""
    own = {value for form in forms_of(mnemonic) for slot in form.slots for value in slot.values}
    return (*sorted(own), ".u32", ".f32", ".b64", ".sat", ".global", ".v2")


_KERNEL = """.version {version}
.target {target}
.address_size 64
.const .align 16 .b8 in_const[256];
.global .align 16 .b8 in_global[256];
.visible .entry generated(.param .u64 parameter)
{{
{registers}
.shared .align 16 .b8 in_shared[256];
.local .align 16 .b8 in_local[256];
{body}
done:
ret;
}}
"""
_REGISTER_LINES = " ".join(f".reg {type_} %{type_[1:]}_<{_REGISTERS}>;" for type_ in _DECLARED)
FIRST_LINE = _KERNEL.partition("{body}")[0].count("\n") + 1
"""Line of the first statement in a module."""


def module(lines: Iterable[str], version: Version, target: Target) -> str:
    """Return a module whose kernel has the given statements, one a line from `FIRST_LINE` on."""
    return _KERNEL.format(version=version, target=target, registers=_REGISTER_LINES, body="\n".join(lines))
