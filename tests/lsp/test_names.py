"""What names mean, against kernels that were read by hand, and against the parser's own scopes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from ptxcheck.ir import Function, Symbol, registers_of
from ptxcheck.lsp.names import Kind, Names
from ptxcheck.parser import parse_module
from ptxcheck.source import Source

from .kernels import HEADER, NESTED, RING


def names_of(text: str) -> Names:
    return Names(parse_module(Source("k.ptx", text)))


def place(text: str, pattern: str, number: int = 0) -> int:
    """Return where group 1 of the n-th match of a pattern starts."""
    return list(re.finditer(pattern, text))[number].start(1)


@pytest.mark.parametrize(
    ("used", "declared", "kind"),
    [
        (r"u32 (%r1), x", r"\.b32 (%r1);", Kind.REGISTER),
        (r"q, (%r1), 0", r"\.b32 (%r1);", Kind.REGISTER),
        (r"q, (%r1), %r3", r"(%r)<4>", Kind.REGISTER),
        (r"u32 (%r2), bar", r"(%r)<4>", Kind.REGISTER),
        (r"u64 (%rd1)", r"(%rd)<3>", Kind.REGISTER),
        (r"%r1, (x);", r"(x);\n  \.reg \.b64", Kind.REGISTER),
        (r"%r2, (bar);", r"(bar);", Kind.VARIABLE),
        (r"\[(p)\]", r"u64 (p),", Kind.PARAMETER),
        (r"\[(n)\]", r"u32 (n)\)", Kind.PARAMETER),
        (r"@q bra (TOP)", r"(TOP):\n    mov", Kind.LABEL),
        (r"@!q bra (TOP)", r"(TOP):\n  mov", Kind.LABEL),
        (r"@(q) bra", r"pred (q);", Kind.REGISTER),
        (r"@!(q) bra", r"pred (q);", Kind.REGISTER),
        (r", (helper),", r"(helper)\(", Kind.FUNCTION),
        (r"entry (names)", r"entry (names)", Kind.KERNEL),
        (r"b32 (out)\)", r"b32 (out)\)", Kind.PARAMETER),
    ],
)
def test_definitions(used: str, declared: str, kind: Kind) -> None:
    names = names_of(NESTED)
    token = names.token(place(NESTED, used))
    assert token is not None
    declaration = names.declaration(token)
    assert declaration is not None
    assert (declaration.span.start, declaration.kind) == (place(NESTED, declared), kind)


@pytest.mark.parametrize(
    "pattern", [r"(bar)\.sync", r"// (n) is", r"number of (elements)", r"\.(b32) bar", r", (0);"]
)
def test_what_is_no_name(pattern: str) -> None:
    names = names_of(NESTED)
    token = names.token(place(NESTED, pattern))
    assert token is None or names.declaration(token) is None


def test_uses() -> None:
    names = names_of(NESTED)

    def uses(pattern: str) -> list[int]:
        token = names.token(place(NESTED, pattern))
        assert token is not None
        declaration = names.declaration(token)
        assert declaration is not None
        return [span.start for span in names.uses(declaration, token.name)]

    assert uses(r"\.b32 (%r1);") == [place(NESTED, r"(%r1)\b", number) for number in (1, 2, 3)]
    assert uses(r"\[(n)\]") == [place(NESTED, r"u32 (n)\)"), place(NESTED, r"\[(n)\]")]
    assert uses(r"@!q bra (TOP)") == [place(NESTED, r"(TOP):\n  mov"), place(NESTED, r"@!q bra (TOP)")]
    assert uses(r"%r2, (bar);") == [place(NESTED, r"(bar);"), place(NESTED, r"%r2, (bar);")]
    assert len(uses(r"(%r)<4>")) == 8  # the declaration, and all registers of it but the inner %r1


def _operand_names(function: Function) -> Iterator[tuple[int, int, str, int]]:
    """Yield start and end of each instruction with the names and scopes that the parser gave its operands."""
    assert function.body is not None
    for instruction in function.body.instructions:
        for operand in instruction.operands:
            for register in registers_of(operand):
                yield instruction.start, instruction.end, register.name, register.scope
            if isinstance(operand, Symbol):
                yield instruction.start, instruction.end, operand.name, operand.scope


@pytest.mark.parametrize("text", [NESTED, RING])
def test_scopes_are_those_of_the_parser(text: str) -> None:
    names = names_of(text)
    compared = 0
    for function in names.module.functions:
        for start, end, name, scope in _operand_names(function):
            for found in re.finditer(rf"(?<![\w$%.]){re.escape(name)}(?![\w$])", text[start:end]):
                token = names.token(start + found.start())
                declaration = None if token is None else names.declaration(token)
                if declaration is not None and declaration.kind in (Kind.REGISTER, Kind.LABEL):
                    assert declaration.scope == scope, name
                    compared += 1
    assert compared > 5


def test_broken_texts_do_no_harm() -> None:
    for end in range(0, len(NESTED), 7):
        text = NESTED[:end]
        names = names_of(text)
        for offset in range(0, end + 1, 11):
            token = names.token(offset)
            if token is not None:
                declaration = names.declaration(token)
                if declaration is not None:
                    assert token.span in list(names.uses(declaration, token.name))


def test_prototypes_and_strings() -> None:
    text = HEADER + (
        ".extern .func twice(.param .b32 a);\n"
        '.file 1 "twice/kernel.cu"\n'
        ".func twice(.param .b32 a)\n{\n  ret;\n}\n"
        ".visible .entry k()\n{\n  .param .b32 a;\n  call twice, (a);\n  ret;\n}\n"
    )
    names = names_of(text)
    token = names.token(text.index("twice, (a)"))
    assert token is not None
    declaration = names.declaration(token)
    assert declaration is not None
    assert declaration.span.start == text.index("twice(.param .b32 a)\n")
    assert names.token(text.index("twice/kernel")) is None
