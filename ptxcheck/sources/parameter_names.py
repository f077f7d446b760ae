"""The names that parameters of kernels have in the CUDA source, which PTX replaces by numbers: `param_2` is `tiles`.

The definition is looked for in the text: `__global__`, the name of the kernel, and a list with as many parameters as
the PTX has. Where several definitions fit and do not agree, and where a parameter has no name, PTX's numbers stay.
Macros are not expanded: the last word in front of an initial value or an array is the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..explain.spoken import NUMBERED
from ..ir import Function, Module
from .demangled_names import short_name

_HIDDEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")
_NAME_LAST = re.compile(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*\Z")
_OPEN, _CLOSE = "([{<", ")]}>"
_NO_NAMES = frozenset(
    ("const", "int", "float", "double", "char", "bool", "void", "unsigned", "long", "short", "auto")
)


def with_source_names(module: Module, texts: Sequence[str]) -> Module:
    """Return a module whose kernels know the names that the sources give to their parameters."""
    clean = [_HIDDEN.sub(" ", text) for text in texts if "__global__" in text]
    if not clean:
        return module
    items = (_named(item, clean) if isinstance(item, Function) else item for item in module.items)
    return replace(module, items=tuple(items))


def _named(function: Function, texts: Sequence[str]) -> Function:
    parameters = function.parameters
    if not function.is_entry or not all(NUMBERED.search(each.name) for each in parameters):
        return function
    name = short_name(function.name).rpartition("::")[2]
    found = {names for text in texts for names in _definitions(text, name) if len(names) == len(parameters)}
    if len(found) != 1:
        return function
    (names,) = found
    named = (replace(each, source_name=name) for each, name in zip(parameters, names, strict=True))
    return replace(function, parameters=tuple(named))


def _definitions(text: str, name: str) -> Iterator[tuple[str, ...]]:
    """Yield the names of the parameters of each kernel of a name."""
    for match in re.finditer(rf"\b{re.escape(name)}\s*\(", text):
        head = text[
            max(text.rfind(";", 0, match.start()), text.rfind("}", 0, match.start())) + 1 : match.start()
        ]
        if "__global__" in head:
            parts = _parts(text, match.end())
            yield tuple(_name(part) for part in parts)


def _parts(text: str, start: int) -> Sequence[str]:
    """Return what commas separate up to the parenthesis that closes."""
    parts, depth, begin = [], 0, start
    for at in range(start, len(text)):
        char = text[at]
        if char == ")" and depth == 0:
            parts.append(text[begin:at])
            return [part for part in parts if part.strip() not in ("", "void")]
        if char == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
        depth += (char in _OPEN) - (char in _CLOSE)
    return []


def _name(part: str) -> str:
    """Return the name of a parameter, or "" where it has none."""
    found = _NAME_LAST.search(part.partition("=")[0])
    if found is None or len(_WORD.findall(part)) < 2 or found[1] in _NO_NAMES:
        return ""
    return found[1]
