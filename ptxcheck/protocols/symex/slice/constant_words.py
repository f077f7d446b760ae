"""What the module initialises constant memory with, as numbers.

Property: `word(name, offset, size)` is what a load of so many bytes of a constant variable gives, as long as the host
leaves it as it is initialised; kernels cannot store there (PTX ISA 5.1.3).

Argument: initialisers list elements in the order of memory, nested by dimension; what they leave out is 0 (PTX ISA
5.4.4).

Not covered: elements that are no integers (addresses, floating-point numbers); variables defined elsewhere.
"""

from __future__ import annotations

import re
from functools import cached_property

from ....ir import Module, Variable
from ....ir.statements import TYPE_BYTES

INITIALISED = "constant memory holds what the module initialises it with"
"""What a run by such numbers takes for granted."""
_INTEGER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?")
_OCTAL = re.compile(r"^(-?)0+(?=[0-7])")
_SPACE = ".const"
_MOST_BYTES = 1 << 16


class ConstantWords:
    """The initialised constant variables of a module."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._bytes: dict[str, bytes | None] = {}

    @cached_property
    def _variables(self) -> dict[str, Variable]:
        return {
            name: each
            for name, each in self._module.variables.items()
            if each.space == _SPACE and each.initializer is not None and not each.is_sized_elsewhere
        }

    def word(self, name: str, offset: int, size: int) -> int | None:
        """Return `size` bytes at an offset as an unsigned number; None where they are not known."""
        variable = self._variables.get(name)
        if variable is None:
            return None
        if name not in self._bytes:
            self._bytes[name] = _bytes_of(variable)
        found = self._bytes[name]
        if found is None or not 0 <= offset <= len(found) - size:
            return None
        return int.from_bytes(found[offset : offset + size], "little")


def _bytes_of(variable: Variable) -> bytes | None:
    width, size = TYPE_BYTES.get(variable.type, 0), variable.size or 0
    elements = _elements(variable.initializer or "", variable.dims[1:])
    if not width or size > _MOST_BYTES or elements is None or len(elements) * width > size:
        return None
    mask = (1 << 8 * width) - 1
    return b"".join((each & mask).to_bytes(width, "little") for each in elements).ljust(size, b"\0")


def _elements(text: str, inner: tuple[int | None, ...]) -> list[int] | None:
    """Return the elements of an initialiser; None for inner braces that are not full, or for no integers."""
    words = [each.strip() for each in text.replace("{", " ").replace("}", " ").split(",")]
    words = [each for each in words if each]
    if text.count("{") > 1 and not _is_full(text, inner):
        return None
    found = [_INTEGER.fullmatch(each) for each in words]
    if any(each is None for each in found):
        return None
    return [int(_OCTAL.sub(r"\g<1>0o", each.rstrip("U")), 0) for each in words]


def _is_full(text: str, inner: tuple[int | None, ...]) -> bool:
    """Tell whether each group of an initialiser of two dimensions has all its elements."""
    groups = re.findall(r"\{([^{}]*)\}", text)
    if len(inner) != 1 or text.count("{") != len(groups) + 1:
        return False
    return all(len([each for each in group.split(",") if each.strip()]) == inner[0] for group in groups)
