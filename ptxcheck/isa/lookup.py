"""From opcode text and operands to a row of the table: `resolve` gives the shared `Operation`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from ..ir import (
    Address,
    Arguments,
    Operand,
    Pair,
    Sink,
    Vector,
)
from ..opcodes.op import Op
from ..opcodes.spec import (
    Form,
    OperandKind,
    OperandSpec,
    Operation,
    Slot,
    SlotValue,
    Trait,
)
from ..opcodes.target import Target, Version
from .row import Row, compile_row
from .table import ROWS

_MAX_MNEMONIC_WORDS = 6
_PLAIN = ("a", "_", "{")
_SHAPES = {OperandKind.SINK: ("_",), OperandKind.VECTOR: ("{",), OperandKind.IMMEDIATE: ("a",)}
"""Shapes (see `shape_of`) that operands of these kinds may have; the others take any plain one."""

_LISTS = frozenset({"returns", "arguments"})
"""Operands of calls that are lists in parentheses, and nothing else."""


@cache
def rows_by_mnemonic() -> Mapping[str, tuple[Row, ...]]:
    """Return the rows of each mnemonic, in table order."""
    found: dict[str, tuple[Row, ...]] = {}
    for row in ROWS:
        found[row.mnemonic] = (*found.get(row.mnemonic, ()), row)
    return found


@cache
def forms_of(mnemonic: str) -> tuple[Form, ...]:
    """Return all forms of a mnemonic, compiled on first use."""
    return tuple(form for row in rows_by_mnemonic()[mnemonic] for form in compile_row(row))


def split_opcode(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each known mnemonic that `text` starts with, longest first, with the modifiers left over."""
    words = text.split(".")
    known = rows_by_mnemonic()
    for length in range(min(len(words), _MAX_MNEMONIC_WORDS), 0, -1):
        mnemonic = ".".join(words[:length])
        if mnemonic in known:
            yield mnemonic, tuple("." + word for word in words[length:])


@dataclass(frozen=True, slots=True)
class _Candidate:
    form: Form
    slots: Mapping[str, str]
    modifiers: tuple[str, ...]


@lru_cache(maxsize=4096)
def _candidates(text: str) -> tuple[_Candidate, ...]:
    found: list[_Candidate] = []
    for mnemonic, modifiers in split_opcode(text):
        for form in forms_of(mnemonic):
            filled = fill_slots(form.slots, modifiers)
            if filled is not None:
                found.append(_Candidate(form, filled, modifiers))
        if found:
            break
    return tuple(found)


def fill_slots(slots: Sequence[Slot], modifiers: Sequence[str]) -> Mapping[str, str] | None:
    """Assign each modifier to a slot that accepts it, leftmost first; None when that cannot be done.

    Modifiers may come in any order, but types keep theirs among themselves, and so do state spaces.
    """
    filled: dict[int, str] = {}

    def in_order(position: int) -> bool:
        return all(other < position or not _keep_order(slots[position], slots[other]) for other in filled)

    def assign(index: int) -> bool:
        if index == len(modifiers):
            return _complete(slots, filled)
        word = modifiers[index]
        for position, slot in enumerate(slots):
            if position in filled or word not in slot.values or not in_order(position):
                continue
            if slot.leading and index > sum(1 for other in filled if slots[other].leading):
                continue
            filled[position] = word
            if assign(index + 1):
                return True
            del filled[position]
        return False

    if not assign(0):
        return None
    return {slots[position].name: word for position, word in sorted(filled.items())}


def _keep_order(one: Slot, other: Slot) -> bool:
    """Tell whether two slots must be written in their order: types, spaces, and what takes the same value."""
    kind = _ordered_kind(one.name)
    if kind and kind == _ordered_kind(other.name):
        return True
    return not one.values.keys().isdisjoint(other.values)


def _ordered_kind(name: str) -> str:
    return "type" if name.endswith("type") else "space" if name.endswith("space") else ""


def _complete(slots: Sequence[Slot], filled: Mapping[int, str]) -> bool:
    groups: dict[int, set[bool]] = {}
    for position, slot in enumerate(slots):
        present = position in filled
        if not present and not slot.optional:
            return False
        if slot.group >= 0:
            groups.setdefault(slot.group, set()).add(present)
    return all(len(states) == 1 for states in groups.values())


@lru_cache(maxsize=16384)
def resolve_shape(text: str, shape: tuple[str, ...]) -> Operation:
    """Resolve an opcode with operands of the given shapes (see `shape_of`)."""
    candidates = _candidates(text)
    for candidate in candidates:
        layout = _fit(candidate, shape)
        if layout is not None:
            return _operation(text, candidate, layout)
    return _unresolved(text, candidates)


def resolve(text: str, operands: Sequence[Operand]) -> Operation:
    """Return the operation of an opcode with these operands; never fails (see `Operation.problem`)."""
    return resolve_shape(text, tuple(shape_of(operand) for operand in operands))


CALL_PARAMETERS = ".param::func"
"""The space of parameters of calls; within a kernel, `.param` may mean it as well (PTX ISA 5.1.6)."""


@lru_cache(maxsize=256)
def of_call(operation: Operation) -> Operation:
    """Return an access of `.param` as one of a parameter of a call, `.param::func`: it is the thread's own."""
    return replace(operation, slots={**operation.slots, "space": CALL_PARAMETERS})


def shape_of(operand: Operand) -> str:
    """Return what the table can see of an operand: `[` and a comma for each further part of an address,
    `|` for a pair, `_` for the sink, `{` for a vector, `(` for a list of a call, else `a`."""
    if isinstance(operand, Address):
        return "[" + "," * len(operand.extra)
    if isinstance(operand, Sink):
        return "_"
    if isinstance(operand, Vector):
        return "{"
    if isinstance(operand, Arguments):
        return "("
    return "|" if isinstance(operand, Pair) else "a"


def _fit(candidate: _Candidate, shape: tuple[str, ...]) -> tuple[OperandSpec, ...] | None:
    """Return the operand specs that are present, or None when the shape does not fit the form."""
    specs = candidate.form.operands

    def fit(spec_index: int, shape_index: int) -> tuple[OperandSpec, ...] | None:
        if spec_index == len(specs):
            return () if shape_index == len(shape) else None
        spec = specs[spec_index]
        may_be_here = not spec.present_with or spec.present_with in candidate.slots
        must_be_here = not spec.optional or (spec.present_with and may_be_here)
        if may_be_here and shape_index < len(shape) and _accepts(spec, shape[shape_index]):
            rest = fit(spec_index + 1, shape_index + 1)
            if rest is not None:
                return (spec, *rest)
        return None if must_be_here else fit(spec_index + 1, shape_index)

    return fit(0, 0)


def _accepts(spec: OperandSpec, shape: str) -> bool:
    if (shape == "(") is not (spec.name in _LISTS):
        return False
    if spec.kind is OperandKind.ANY:
        return True
    if spec.kind is OperandKind.ADDRESS:
        return shape == "[" + "," * _further_parts(spec)
    if shape == "|":
        return spec.second is not None
    if spec.second is not None and not spec.second.optional:
        return False
    return shape in _SHAPES.get(spec.kind, _PLAIN)


def _further_parts(spec: OperandSpec) -> int:
    return 0 if spec.second is None else 1 + _further_parts(spec.second)


def _operation(text: str, candidate: _Candidate, layout: tuple[OperandSpec, ...]) -> Operation:
    form = candidate.form
    traits = form.traits
    if ".aligned" in candidate.modifiers:
        traits |= {Trait.ALIGNED}
    return Operation(
        text=text,
        op=form.op,
        form=form,
        modifiers=_name_words(form) + candidate.modifiers,
        slots=candidate.slots,
        traits=traits,
        operand_index={spec.name: index for index, spec in enumerate(layout)},
        operand_specs=layout,
    )


@cache
def _mnemonic_of(op: Op) -> str:
    """Return the shortest mnemonic of an operation: `mbarrier.arrive` for `mbarrier.arrive.expect_tx`."""
    return min((row.mnemonic for row in ROWS if row.op is op), key=len)


def _name_words(form: Form) -> tuple[str, ...]:
    """Return the modifiers that are part of this form's mnemonic, because they must follow it at once."""
    base = _mnemonic_of(form.op)
    if form.mnemonic == base or not form.mnemonic.startswith(base + "."):
        return ()
    return tuple("." + word for word in form.mnemonic[len(base) + 1 :].split("."))


def _unresolved(text: str, candidates: tuple[_Candidate, ...]) -> Operation:
    known = next(split_opcode(text), None)
    return Operation(
        text=text,
        op=Op.OPAQUE,
        form=None,
        modifiers=tuple("." + word for word in text.split(".")[1:]) if known is None else known[1],
        slots={},
        traits=frozenset({Trait.ANYTHING}),
        operand_index={},
        operand_specs=(),
        problem=_explain(text, candidates),
        is_mnemonic_known=known is not None,
    )


def _explain(text: str, candidates: tuple[_Candidate, ...]) -> str:
    known = next(split_opcode(text), None)
    if known is None:
        return f"unknown instruction '{text}'"
    if candidates:
        return f"operands do not fit '{text}': the forms are " + "; ".join(
            sorted({candidate.form.syntax.partition(" @")[0] for candidate in candidates})[:3]
        )
    mnemonic, modifiers = known
    legal = {value for form in forms_of(mnemonic) for slot in form.slots for value in slot.values}
    illegal = [modifier for modifier in modifiers if modifier not in legal]
    if illegal:
        return f"illegal modifier '{illegal[0]}' for '{mnemonic}'"
    return f"'{text}' is not a legal combination of modifiers of '{mnemonic}'"


def requirement_problems(operation: Operation, version: Version, target: Target | None) -> Iterator[str]:
    """Yield what an operation needs and the module does not offer, for people."""
    if operation.form is None:
        return
    missing = operation.form.requirement.problem(version, target)
    if missing:
        yield f"'{operation.form.mnemonic}' in this form needs {missing}"
    for value in written_values(operation):
        missing = value.requirement.problem(version, target)
        if missing:
            yield f"modifier '{value.text}' of '{operation.form.mnemonic}' needs {missing}"


def written_values(operation: Operation) -> Iterator[SlotValue]:
    """Yield the values of slots that are written, less what only the operands say (see `of_call`)."""
    for slot in () if operation.form is None else operation.form.slots:
        word = operation.slots.get(slot.name)
        if word is not None and operation.has(word):
            yield slot.values[word]
