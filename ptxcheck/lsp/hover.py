"""What hovering shows, as Markdown: instructions by the table, names by their declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ..ir import Module
from ..isa import (
    forms_of,
    requirement_problems,
    resolve,
    rows_by_mnemonic,
)
from ..isa.lookup import fill_slots, split_opcode
from ..opcodes.spec import (
    Form,
    Operation,
    Slot,
    Trait,
)
from ..opcodes.target import Requirement, Target, Version
from ..results import RuleInfo
from ..source import Span
from ..sources.demangled_names import short_name
from .meanings import instruction_meanings, modifier_meanings, register_meanings
from .names import Declaration, Kind, Names

_FORMS = 6
"""Forms that are shown; the one that is written comes first."""
_VALUES = 12
_LONGEST = 400
_OPCODE = re.compile(r"[a-z]\w*(?:\.[\w:]+)+")
_NOTATION = re.compile(r"(?<=\w)\([^)]*\)|=\w+|(?<=\w)!")

_TRAITS = {
    Trait.WARPGROUP: "all four warps of a warpgroup execute it",
    Trait.COLLECTIVE: "collective: its lanes must all come here",
    Trait.ASYNC: "starts work that completes later",
    Trait.ASYNC_PROXY_READ: "reads memory through the async proxy",
    Trait.ASYNC_PROXY_WRITE: "writes memory through the async proxy",
    Trait.TENSORMAP_PROXY_READ: "reads the tensor map through the tensormap proxy",
    Trait.COMMIT: "closes a group of asynchronous work",
    Trait.TENSOR_MEMORY: "uses tensor memory",
    Trait.CROSS_LANE: "the result depends on other lanes",
}


def instruction_page(operation: Operation, version: Version | None, target: Target | None) -> str | None:
    """Return what the table says of an instruction, and whether it is legal in a module; None when unknown.

    Without a version nothing is said about legality.
    """
    known = next(split_opcode(operation.text), None)
    if known is None:
        return None
    mnemonic = operation.form.mnemonic if operation.form is not None else known[0]
    row = rows_by_mnemonic()[mnemonic][0]
    parts = [
        f"**{mnemonic}** (PTX ISA §{row.section})",
        instruction_meanings().get(mnemonic, ""),
        _legality(operation, version, target),
        f"```ptx\n{_syntax(mnemonic, operation.form)}\n```",
        "\n".join(_modifier_lines(operation)),
    ]
    traits = [text for trait, text in _TRAITS.items() if trait in operation.traits]
    if traits:
        parts.append("*" + "; ".join(traits) + "*")
    return "\n\n".join(part for part in parts if part)


def opcode_page(text: str) -> str | None:
    """Return the page of an opcode outside PTX text, such as in inline assembly, whatever its operands."""
    operation = resolve(text, ())
    for mnemonic, modifiers in split_opcode(text):
        for form in forms_of(mnemonic):
            slots = fill_slots(form.slots, modifiers)
            if slots is not None:
                return instruction_page(replace(operation, form=form, slots=slots), None, None)
    return instruction_page(operation, None, None)


def opcode_at(line: str, column: int) -> tuple[str, Span] | None:
    """Return the opcode of inline assembly at a character of a line of C++; None outside strings."""
    if '"' not in line[:column]:
        return None
    for found in _OPCODE.finditer(line):
        if found.start() <= column <= found.end() and next(split_opcode(found[0]), None) is not None:
            return found[0], Span(*found.span())
    return None


def _legality(operation: Operation, version: Version | None, target: Target | None) -> str:
    first = "" if operation.form is None else f"First in {_needs(operation.form.requirement)}."
    if version is None:
        return first
    here = f"PTX {version}" + ("" if target is None else f", {target}")
    if operation.problem is not None:
        return f"**Not legal**: {operation.problem}."
    problems = list(requirement_problems(operation, version, target))
    if problems:
        return f"{first} **Not legal here** ({here}): " + "; ".join(problems) + "."
    return f"{first} Legal here ({here})."


def _needs(requirement: Requirement) -> str:
    text = f"PTX {requirement.version}"
    if requirement.targets:
        text += ", " + " or ".join(map(str, requirement.targets))
    if requirement.removed is not None:
        text += f"; gone from PTX {requirement.removed[0]} on {requirement.removed[1]}"
    return text


def _syntax(mnemonic: str, chosen: Form | None) -> str:
    forms = [form for form in forms_of(mnemonic) if form is not chosen]
    shown = dict.fromkeys(map(_line, [*([chosen] if chosen is not None else []), *forms]))
    lines = list(shown)[:_FORMS]
    if len(shown) > _FORMS:
        lines.append(f"// and {len(shown) - _FORMS} more forms")
    return "\n".join(lines)


def _line(form: Form) -> str:
    """Return a syntax line without what only the table needs: values of slots, names of operand entries."""
    return _NOTATION.sub("", form.syntax.partition(" @")[0])


def _modifier_lines(operation: Operation) -> Iterator[str]:
    """Yield a line for each modifier that is written, and for each that could be."""
    form = operation.form
    if form is None:
        return
    for slot in form.slots:
        word = operation.slots.get(slot.name)
        others = [text for text in slot.values if text != word]
        if word is None:
            yield f"- may have {_listed(slot, others)}"
            continue
        meaning = modifier_meanings().get(word)
        requirement = slot.values[word].requirement
        line = f"- `{word}`" + (f": {meaning}" if meaning else "")
        if requirement != Requirement():
            line += f" ({_needs(requirement)})"
        yield line + (f"; or {_listed(slot, others)}" if others else "")


def _listed(slot: Slot, words: list[str]) -> str:
    shown = ", ".join(f"`{word}`" for word in words[:_VALUES])
    return shown + (f" and {len(words) - _VALUES} more" if len(words) > _VALUES else "")


def rule_text(rule: RuleInfo) -> str:
    """Return what a rule is about, without its kernels."""
    return (
        f"**{rule.id} {rule.name}** ({rule.severity.value})\n\n{rule.summary}\n\n"
        f"**Why it matters**: {rule.consequence}\n\n**What to do**: {rule.advice}\n\n*{rule.section}*"
    )


def hover_text(names: Names, offset: int) -> tuple[str, Span] | None:
    """Return what to show at an offset, and for which part of the text."""
    module = names.module
    opcode = names.opcode(offset)
    if opcode is not None:
        page = instruction_page(opcode[0].operation, module.version, module.target)
        return None if page is None else (page, opcode[1])
    token = names.token(offset)
    if token is None:
        return None
    declaration = names.declaration(token)
    if declaration is not None:
        return declaration_text(declaration, module), token.span
    meaning = register_meanings().get(token.name)
    return None if meaning is None else (f"`{token.name}`: {meaning}", token.span)


def declaration_text(declaration: Declaration, module: Module) -> str:
    """Return how a name is declared, and for parameters and variables where and how large it is."""
    text = module.source.text
    function = declaration.function
    if declaration.kind in (Kind.KERNEL, Kind.FUNCTION) and function is not None:
        header = text[slice(*function.span)].partition("{")[0]
        shown = "" if short_name(function.name) == function.name else f"`{short_name(function.name)}`\n\n"
        return f"{shown}```ptx\n{_shortened(header)}\n```"
    if declaration.kind is Kind.LABEL:
        return f"Label `{declaration.name}`, line {module.source.position(declaration.span.start).line}"
    variable = declaration.variable
    assert variable is not None
    dims = "".join(f"[{'' if extent is None else extent}]" for extent in variable.dims)
    words = [variable.space, *([f".align {variable.align}"] if variable.align else []), variable.vector]
    name = variable.name + ("" if variable.count is None else f"<{variable.count}>") + dims
    page = f"```ptx\n{' '.join(filter(None, [*words, variable.type, name]))}\n```"
    if declaration.kind is Kind.PARAMETER and function is not None and function.is_entry:
        for offset, size, parameter in function.parameter_places:
            if parameter is variable:
                page += f"\n\nParameter of `{short_name(function.name)}`: byte {offset}, {size} bytes"
    elif declaration.kind is Kind.VARIABLE and variable.size is not None:
        page += f"\n\n{variable.size} bytes"
    return page


def _shortened(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _LONGEST else text[:_LONGEST] + " …"
