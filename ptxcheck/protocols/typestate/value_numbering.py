"""Names of registers that surely hold one number in all threads that compute it: the same code on the same inputs.

Property: two names with one `key`, on which the threads of a CTA agree, hold the same number whenever each is computed,
if nobody writes in between to what they load.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from ...cfg import AtomKind, Name
from ...cfg.definitions import ENTRY, part_of
from ...ir import (
    Address,
    Component,
    Negated,
    Operand,
    Register,
    Vector,
)

if TYPE_CHECKING:
    from ...view import KernelView

_OF_LAUNCH = frozenset({AtomKind.SPECIAL, AtomKind.PARAMETER, AtomKind.ADDRESS})


class SameNumbers:
    """Keys of the names of one kernel."""

    def __init__(self, view: KernelView) -> None:
        self._view = view
        self._keys: dict[Name, int] = {}
        self._numbered: dict[Hashable, int] = {}

    def key(self, name: Name) -> int:
        """Return the number of an expression; names that are merged or guarded have one of their own."""
        if name not in self._keys:
            self._keys[name] = self._numbered.setdefault(self._expression(name), len(self._numbered))
        return self._keys[name]

    def _expression(self, name: Name) -> Hashable:
        value = self._view.facts.value_of(name)
        form = None if value is None else value.linear
        if value is not None and form is not None and all(atom.kind in _OF_LAUNCH for atom, _ in form.terms):
            return "sum", value.width, form
        if name.site == ENTRY or name.phi_block is not None:
            return "own", name
        instruction = self._view.body.instructions[name.site]
        if instruction.guard is not None:
            return "own", name
        inputs = tuple(self._operand(name.site, operand) for operand in instruction.operands[1:])
        return instruction.operation, part_of(instruction.operands[0], name.register), inputs

    def _operand(self, point: int, operand: Operand) -> Hashable:
        match operand:
            case Register():
                return "register", self.key(self._view.facts.name(point, operand))
            case Address(base=Register() as base):
                rest = tuple(self._operand(point, each) for each in operand.extra)
                return "address", self.key(self._view.facts.name(point, base)), operand.offset, rest
            case Negated(operand=inner):
                return "not", self._operand(point, inner)
            case Vector(elements=elements):
                return "vector", tuple(self._operand(point, each) for each in elements)
            case Component(base=Register()):
                return "own", point, operand
            case _:
                return operand


__all__ = ["SameNumbers"]
