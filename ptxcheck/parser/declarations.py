"""Declarations: variables, parameters and registers."""

from __future__ import annotations

import re

from ..ir import Variable
from ..source import Span
from .grammar import (
    Declaration,
    Declarator,
    GrammarError,
    Word,
    parse,
)
from .scope import Names
from .text import single_spaced

_REGISTERS = re.compile(r"\.reg[ \t]+(\.[a-z]\w*)[ \t]+([%$]?[a-zA-Z][\w$]*)(?:<(\d{1,20})>)?[ \t]*;\Z")
_REGISTER_LIST = re.compile(
    r"\.reg[ \t]+(\.[a-z]\w*)[ \t]+([%$]?[a-zA-Z][\w$]*(?:,[ \t]*[%$]?[a-zA-Z][\w$]*)+)[ \t]*;\Z"
)
_NUMBER = r"(0|[1-9]\d{0,19})"
_PLAIN = re.compile(
    rf"(\.param|\.shared|\.local|\.global|\.const)[ \t]+(?:\.align[ \t]+{_NUMBER}[ \t]+)?"
    rf"(\.[bsuf]\d+)[ \t]+([a-zA-Z][\w$]*|[_$%][\w$]+)(?:\[{_NUMBER}\])?[ \t]*;"
)
_SPACES = frozenset({".reg", ".sreg", ".shared", ".local", ".param", ".global", ".const", ".tex"})
_LINKAGE = frozenset({".visible", ".extern", ".weak", ".common"})
_NUMBER_LIST = re.compile(r"\{[\s\w,+-]*\}\Z")
_LITERALS = re.compile(
    r"\{\s*(?:-?(?:0[xX][0-9a-fA-F]+|0|[1-9]\d*)U?\s*(?:,\s*-?(?:0[xX][0-9a-fA-F]+|0|[1-9]\d*)U?\s*)*+)?\}\Z"
)


def variables_of(text: str, span: Span, names: Names) -> tuple[Variable, ...]:
    """Return the variables that one declaration (up to its `;`) declares. Raises GrammarError."""
    simple = _REGISTERS.match(text)
    if simple is not None:
        count = None if simple[3] is None else int(simple[3])
        return (Variable(".reg", simple[1], simple[2], count=count, scope=names.scope, span=span),)
    several = _REGISTER_LIST.match(text)
    if several is not None:
        return tuple(
            Variable(".reg", several[1], name.strip(), scope=names.scope, span=span)
            for name in several[2].split(",")
        )
    plain = _PLAIN.fullmatch(text)
    if plain is not None:
        return (_plain(plain, span, names.scope),)
    declared, initializer = _split_initializer(text, names)
    declaration: Declaration = parse("declaration", declared, names)
    if initializer is not None and len(declaration.declarators) != 1:
        raise GrammarError("an initialiser needs a declaration of its own", 0)
    return tuple(
        variable(declaration.words, each, span, scope=names.scope, initializer=initializer)
        for each in declaration.declarators
    )


def plain_variable(text: str, at: int) -> Variable | None:
    """Return the variable that a declaration of the commonest shape declares, which begins at a place of a text."""
    found = _PLAIN.match(text, at)
    return None if found is None else _plain(found, Span(at, found.end()), 0)


def _plain(found: re.Match[str], span: Span, scope: int) -> Variable:
    space, align, type_, name, extent = found.groups()
    return Variable(
        space, type_, name, align=None if align is None else int(align),
        dims=() if extent is None else (int(extent),), scope=scope, span=span,
    )  # fmt: skip


def _split_initializer(text: str, names: Names) -> tuple[str, str | None]:
    """Cut `= …` off a declaration and check it; the text of big number lists never meets the grammar."""
    declared, equals, initializer = text.partition("=")
    if not equals:
        return text, None
    value = initializer.rstrip().removesuffix(";").strip()
    if not (_NUMBER_LIST.match(value) and _LITERALS.match(value)):
        try:
            parse("initializer", value, names)
        except GrammarError as error:
            raise GrammarError(error.message, len(declared) + 1 + error.offset) from None
    return declared + ";", single_spaced(value)


def variable(
    words: tuple[Word, ...],
    declarator: Declarator,
    span: Span,
    *,
    scope: int = 0,
    initializer: str | None = None,
) -> Variable:
    """Return the variable of one declarator. Raises GrammarError when its space or type is missing."""
    space = next((word.text for word in words if word.text in _SPACES), "")
    if not space:
        raise GrammarError(f"declaration of '{declarator.name}' names no state space", 0)
    align: int | None = None
    type_, vector = "", ""
    linkage: list[str] = []
    attributes: list[str] = []
    after_pointer = False
    for word in words:
        if word.text in _LINKAGE:
            linkage.append(word.text)
        elif word.text == ".ptr":
            after_pointer = True
            attributes.append(".ptr")
        elif after_pointer and word.text in (
            ".global",
            ".const",
            ".shared",
            ".local",
            ".generic",
            ".param",
            ".align",
        ):
            attributes.append(word.text if word.number is None else f"{word.text} {word.number}")
        elif word.text == ".align":
            align = word.number
        elif word.text == ".attribute":
            attributes.append(f".attribute({', '.join(word.items)})")
        elif word.text in (".v2", ".v4", ".v8"):
            vector = word.text
        elif word.text != space:
            type_ = word.text
    if not type_:
        raise GrammarError(f"declaration of '{declarator.name}' names no type", 0)
    return Variable(
        space, type_, declarator.name, vector, declarator.copies, align, declarator.dims, initializer,
        tuple(linkage), tuple(attributes), scope, span,
    )  # fmt: skip
