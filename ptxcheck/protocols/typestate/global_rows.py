"""Rows of CTAs: by what numbers an address multiplies the indices of the CTA and of the thread.

Property: `overlap` is true where the address is a sum of special registers times numbers, as far as is known, and these
numbers give two CTAs a place in common; or where two indices of the CTA have numbers, which a large grid makes one.

Argument: definitions are followed backwards through sums, products with numbers, shifts and copies; a special register
behind anything else has a factor that is not known, which no overlap follows from.

Not covered: sums that wrap around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ...cfg import Name
from ...cfg.special import special_name
from ...ir import Address, Component, Instruction, Operand, Register
from ...opcodes.op import Op
from .shared_access import access_bytes

if TYPE_CHECKING:
    from ...view import KernelView

INDEX = "%ctaid"
_MOVES = frozenset({Op.MOV, Op.CVT, Op.CVTA})
_DEEPEST = 40


def specials_of(instruction: Instruction) -> Iterator[str]:
    """Yield the special registers that an instruction reads."""
    for operand in instruction.operands[1:]:
        name = special_name(operand) if isinstance(operand, (Register, Component)) else None
        if name is not None:
            yield name


class Rows:
    """Factors of special registers in the addresses of one kernel; `behind` gives all that definitions are made of."""

    def __init__(self, view: KernelView, behind: Callable[[Iterable[Name]], frozenset[Name]]) -> None:
        self._view = view
        self._facts = view.facts
        self._names_of = behind

    def overlap(self, point: int, address: Address) -> bool:
        """Tell whether numbers alone say that two CTAs have the same places: factors of indices that are too small."""
        if not isinstance(address.base, Register):
            return True
        factors = self._factors(self._facts.name(point, address.base), 0)
        rows = [factor for name, factor in factors.items() if name.startswith(INDEX) and factor is not None]
        if len(rows) > 1:
            return True
        block = self._view.launch.block
        if not rows or block is None:
            return False
        reach = access_bytes(self._view.body.instructions[point]) or 0
        for name, factor in factors.items():
            stem, _, axis = name.partition(".")
            if stem == "%tid" and factor is not None and axis in "xyz":
                reach += abs(factor) * (block["xyz".index(axis)] - 1)
        return abs(rows[0]) < reach

    def _factors(self, name: Name, depth: int) -> Mapping[str, int | None]:
        """Return by what numbers special registers are multiplied in a sum; None for one that is not known."""
        if name.phi_block is not None or name.site < 0 or depth > _DEEPEST:
            return self._unknown_factors(name)
        instruction = self._view.body.instructions[name.site]
        op, operands = instruction.operation.op, instruction.operands
        if op in _MOVES or op is Op.ADD:
            return _sum(self._operand_factors(name.site, each, depth) for each in operands[1:])
        if op is Op.SUB:
            first, second = (self._operand_factors(name.site, each, depth) for each in operands[1:3])
            return _sum((first, _times(second, -1)))
        if op in (Op.MUL, Op.MAD, Op.SHL):
            product = self._product(name.site, operands[1], operands[2], shifts=op is Op.SHL, depth=depth)
            rest = self._operand_factors(name.site, operands[3], depth) if op is Op.MAD else {}
            return _sum((product, rest))
        return self._unknown_factors(name)

    def _product(
        self, point: int, one: Operand, other: Operand, *, shifts: bool, depth: int
    ) -> Mapping[str, int | None]:
        numbers = [self._facts.constant(point, each) for each in (one, other)]
        if numbers[1] is not None:
            return _times(self._operand_factors(point, one, depth), 1 << numbers[1] if shifts else numbers[1])
        if numbers[0] is not None and not shifts:
            return _times(self._operand_factors(point, other, depth), numbers[0])
        both = _sum(self._operand_factors(point, each, depth) for each in (one, other))
        return dict.fromkeys(both)

    def _operand_factors(self, point: int, operand: Operand, depth: int) -> Mapping[str, int | None]:
        if not isinstance(operand, (Register, Component)):
            return {}
        special = special_name(operand)
        if special is not None:
            return {special: 1}
        return (
            self._factors(self._facts.name(point, operand), depth + 1)
            if isinstance(operand, Register)
            else {}
        )

    def _unknown_factors(self, name: Name) -> Mapping[str, int | None]:
        names = (each for each in self._names_of((name,)) if each.site >= 0)
        return {
            special: None
            for each in names
            for special in specials_of(self._view.body.instructions[each.site])
        }


def _sum(parts: Iterable[Mapping[str, int | None]]) -> dict[str, int | None]:
    found: dict[str, int | None] = {}
    for part in parts:
        for name, factor in part.items():
            before = found.get(name, 0)
            found[name] = None if factor is None or before is None else before + factor
    return found


def _times(part: Mapping[str, int | None], number: int) -> dict[str, int | None]:
    return {name: None if factor is None else factor * number for name, factor in part.items()}
