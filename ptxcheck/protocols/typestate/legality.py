"""What the instruction table says against an instruction: unknown, no form that fits, version, target.

Operations are shared by instructions, so each is judged once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ...ir import Function, Module
from ...isa import forms_of
from ...isa.lookup import fill_slots, split_opcode, written_values
from ...opcodes.spec import Operation
from ...opcodes.target import Requirement, Target, Version
from ...source import Span

NEWEST_VERSION = Version(9, 5)
"""Newest PTX ISA that the table covers; an unknown instruction of a later one proves nothing."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A requirement that a module does not meet: what asks for it, and the requirement."""

    what: str
    requirement: Requirement


def is_unknown(operation: Operation) -> bool:
    """Tell whether the table does not know the instruction at all."""
    return not operation.is_mnemonic_known


@lru_cache(maxsize=4096)
def modifiers_fit(text: str) -> bool:
    """Tell whether some form takes the modifiers of an opcode, whatever its operands."""
    return any(
        fill_slots(form.slots, modifiers) is not None
        for mnemonic, modifiers in split_opcode(text)
        for form in forms_of(mnemonic)
    )


def newer_version_needed(operation: Operation, version: Version) -> Iterator[Missing]:
    """Yield what of an operation came with a later PTX ISA than `version`."""
    for what, requirement in _requirements(operation):
        if requirement.version > version:
            yield Missing(what, requirement)


def other_target_needed(operation: Operation, target: Target) -> Iterator[Missing]:
    """Yield what of an operation `target` does not have."""
    for what, requirement in _requirements(operation):
        if requirement.targets and not any(target.meets(one) for one in requirement.targets):
            yield Missing(what, requirement)


def _requirements(operation: Operation) -> Iterator[tuple[str, Requirement]]:
    form = operation.form
    if form is None:
        return
    yield f"'{operation.text}'", form.requirement
    for value in written_values(operation):
        yield f"'{value.text}' of '{form.mnemonic}'", value.requirement


_FIRST_VERSION = {
    "90a": Version(8, 0), "90": Version(7, 8), "89": Version(7, 8), "87": Version(7, 4), "86": Version(7, 1),
    "80": Version(7, 0), "100": Version(8, 6), "100a": Version(8, 6),
    "100f": Version(8, 8), "103": Version(8, 8), "103a": Version(8, 8), "103f": Version(8, 8),
    "107": Version(9, 4), "107a": Version(9, 4), "107f": Version(9, 4), "110": Version(9, 0),
    "110a": Version(9, 0), "110f": Version(9, 0), "120": Version(8, 7), "120a": Version(8, 7),
    "120f": Version(8, 8), "121": Version(8, 8), "121a": Version(8, 8), "121f": Version(8, 8),
}  # fmt: skip


def first_version_of(target: Target) -> Version | None:
    """Return the PTX ISA that introduced a target; None for older and unknown ones."""
    return _FIRST_VERSION.get(f"{target.arch}{target.variant}")


_TARGET_LINE = re.compile(r"^[ \t]*\.target\b[^\n]*", re.MULTILINE)
_VERSION_LINE = re.compile(r"\.version\s+\d+\.\d+")


def newer_target_span(module: Module, function: Function) -> tuple[Target, Version, Span] | None:
    """Return the module's target, the version it came with and its place when `.version` is older.

    Asked of every function of the module, it answers for the first one with a body.
    """
    target = module.target
    needed = None if target is None else first_version_of(target)
    first = next((one for one in module.functions if one.body is not None), None)
    if target is None or needed is None or module.version >= needed or first is not function:
        return None
    line = _TARGET_LINE.search(module.source.text)
    return target, needed, function.span if line is None else Span(*line.span())


def version_span(module: Module, function: Function) -> Span | None:
    """Return the place of `.version`; asked of every function, it answers for the first one with a body."""
    if next((one for one in module.functions if one.body is not None), None) is not function:
        return None
    line = _VERSION_LINE.search(module.source.text)
    return function.span if line is None else Span(*line.span())


def names_of(requirement: Requirement) -> str:
    """Return the targets of a requirement for people: `sm_90a`, `sm_100f or higher of its family`."""
    later = {"": " or later", "a": "", "f": " or later of its family"}
    return " or ".join(f"{target}{later[target.variant]}" for target in requirement.targets)


__all__ = [
    "NEWEST_VERSION",
    "Missing",
    "first_version_of",
    "is_unknown",
    "modifiers_fit",
    "names_of",
    "newer_target_span",
    "newer_version_needed",
    "other_target_needed",
    "version_span",
]
