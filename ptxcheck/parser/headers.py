"""Headers of functions as compilers write them; all others are read by the grammar."""

from __future__ import annotations

import re

from .grammar import Declaration, Declarator, Header, HeaderDirective, Word

_NAME = r"(?:[a-zA-Z][\w$]*|[_$%][\w$]+)"
_NUMBER = r"(?:0|[1-9]\d{0,18})"
_WORD = r"\.(?!attribute\b)[a-z]\w*"
_PARAMETER = re.compile(
    rf"\s*((?:{_WORD}\s+(?:{_NUMBER}\s+)?)+)({_NAME})(?:\[({_NUMBER})\])?\s*(?:,(?=\s*\.)|(?=\)))"
)
_WORDS = re.compile(rf"({_WORD})\s+({_NUMBER}(?!\w))?")
_BEGIN = re.compile(rf"((?:{_WORD}\s+)+)({_NAME})\s*\(\s*")
_DIRECTIVE = re.compile(rf"\s*({_WORD})\s+({_NUMBER}(?:\s*,\s*{_NUMBER})*)(?=\s|\Z)(?!\s*,)\s*")


def plain_header(text: str) -> Header | None:
    """Return what a header says: words, a name, parameters, and directives with numbers. None for the grammar."""
    begin = _BEGIN.match(text)
    if begin is None:
        return None
    at, parameters = begin.end(), []
    while not text.startswith(")", at):
        found = _PARAMETER.match(text, at)
        if found is None:
            return None
        words, name, extent = found.groups()
        declarator = Declarator(name, None, () if extent is None else (int(extent),))
        parameters.append(Declaration(_words(words), (declarator,)))
        at = found.end()
    at += 1
    directives = []
    while at < len(text) and not text[at:].isspace():
        directive = _DIRECTIVE.match(text, at)
        if directive is None:
            return None
        values = tuple(each.strip() for each in directive[2].split(","))
        directives.append(HeaderDirective(directive[1], values))
        at = directive.end()
    return Header(_words(begin[1]), (), begin[2], tuple(parameters), tuple(directives))


def _words(text: str) -> tuple[Word, ...]:
    return tuple(Word(word, int(number) if number else None, ()) for word, number in _WORDS.findall(text))
