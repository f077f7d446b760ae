"""Short readable names for mangled C++ functions: `_ZN2ns5twiceEj` → `ns::twice`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache

_SOURCE_NAME = re.compile(r"\d+")
_SUBSTITUTION = re.compile(r"S(?:[0-9A-Z]*_|[tabsiod])|T[0-9]*_")
_QUALIFIERS = re.compile(r"[rVKRO]*")
_HIDDEN = re.compile(r"_INTERNAL_|__\d+\Z|_GLOBAL__N_|_V\d+\Z")


@lru_cache(maxsize=4096)
def short_name(mangled: str) -> str:
    """Return the qualified name without template arguments and parameters, or the input when it is no C++."""
    if not mangled.startswith("_Z"):
        return mangled
    try:
        nested = mangled[2:3] == "N"
        parts = _nested(mangled, _QUALIFIERS.match(mangled, 3).end()) if nested else _plain(mangled, 2)  # type: ignore[union-attr]
    except (IndexError, ValueError):
        return mangled
    shown = [part for part in parts if not _HIDDEN.match(part)]
    return "::".join(shown) if shown else mangled


def kernel_name(mangled: str) -> str:
    """Return the name of a kernel with the numbers among its template arguments, which tell instances apart.

    Other arguments are `_`: `ring<3, _>`. Without a number they are left out, as they may be of any length.
    """
    numbers = template_numbers(mangled)
    if not numbers or all(number is None for number in numbers):
        return short_name(mangled)
    return f"{short_name(mangled)}<{', '.join('_' if each is None else str(each) for each in numbers)}>"


def names_kernel(pattern: str, mangled: str) -> bool:
    """Tell whether a pattern means a kernel: by its name in PTX, or in C++ with or without namespaces."""
    names = (short_name(mangled), kernel_name(mangled))
    return any(fnmatchcase(name, pattern) for each in names for name in (mangled, each, _unqualified(each)))


def pattern_of(mangled: str, kernels: Iterable[str]) -> str:
    """Return a pattern that means one of some kernels: its name in C++, the one in PTX where that is of several."""
    name = kernel_name(mangled)
    return name if [each for each in kernels if names_kernel(name, each)] == [mangled] else mangled


def _unqualified(name: str) -> str:
    head, bracket, arguments = name.partition("<")
    return head.rpartition("::")[2] + bracket + arguments


def _plain(text: str, at: int) -> list[str]:
    if text[at] == "L":
        at += 1
    name, _ = _name(text, at)
    return [name]


def _nested(text: str, at: int) -> list[str]:
    parts: list[str] = []
    while text[at] != "E":
        if text[at] == "L":
            at += 1
        elif text[at] == "I":
            at = _skip_group(text, at + 1)
        elif text[at].isdigit():
            name, at = _name(text, at)
            parts.append(name)
        elif text.startswith("St", at):
            parts.append("std")
            at += 2
        elif text[at] == "C" and parts:
            parts.append(parts[-1])
            at += 2
        else:
            raise ValueError("an operator, or something else that has no plain name")
    return parts


def _name(text: str, at: int) -> tuple[str, int]:
    match = _SOURCE_NAME.match(text, at)
    if match is None:
        raise ValueError("no name here")
    end = match.end() + int(match[0])
    if end > len(text):
        raise ValueError("the name is cut off")
    return text[match.end() : end], end


def _skip_group(text: str, at: int) -> int:
    """Return the index after the `E` that closes a group of template arguments."""
    depth = 1
    while depth:
        match = _SUBSTITUTION.match(text, at)
        if match is not None:
            at = match.end()
        elif text[at].isdigit():
            _, at = _name(text, at)
        elif text[at] == "L" and text[at + 1].islower():
            at = text.index("E", at) + 1
        elif text[at] == "L" and text[at + 1] == "N":
            at = text.index("E", _skip_group(text, at + 2)) + 1
        else:
            depth += {"E": -1, "I": 1, "N": 1, "X": 1, "J": 1, "F": 1}.get(text[at], 0)
            at += 1
    return at


_NUMBER = re.compile(r"L[a-z](n?)(\d+)E")
_PREFIXES = re.compile(r"[PRKVO]*")
_BUILTIN = re.compile(r"D[a-z]+|[a-z]")


def template_numbers(mangled: str) -> tuple[int | None, ...] | None:
    """Return the template arguments of a function: those that are numbers, None for others.

    None where it has none, or they cannot be told apart.
    """
    name = short_name(mangled).rpartition("::")[2]
    head = f"{len(name)}{name}I"
    start = mangled.find(head)
    if name == mangled or start < 0:
        return None
    try:
        return tuple(_template_arguments(mangled, start + len(head)))
    except (IndexError, ValueError):
        return None


def _template_arguments(text: str, at: int) -> Iterator[int | None]:
    while text[at] != "E":
        number = _NUMBER.match(text, at)
        if number is not None:
            yield int(number[2]) * (-1 if number[1] else 1)
            at = number.end()
        else:
            yield None
            at = _skip_argument(text, at)


def _skip_argument(text: str, at: int) -> int:
    """Return the index after a template argument that is no number."""
    at = _PREFIXES.match(text, at).end()  # type: ignore[union-attr]
    substitution = _SUBSTITUTION.match(text, at)
    if text[at] in "NXJLF":
        return _skip_group(text, at + 1)
    if text[at].isdigit():
        _, at = _name(text, at)
    elif substitution is not None:
        at = substitution.end()
    else:
        builtin = _BUILTIN.match(text, at)
        if builtin is None:
            raise ValueError("an argument of another kind")
        return builtin.end()
    return _skip_group(text, at + 1) if text[at] == "I" else at
