"""Places in shared memory: a variable, an offset, and the CTA of the cluster that owns the bytes.

Property: two places with one `symbol` and constant offsets are the same bytes of their CTAs exactly when the
offsets are equal. All arrays of open size (dynamic shared memory) start at one address and are one symbol.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from ...cfg import (
    AtomKind,
    Linear,
    Pointer,
    Value,
)
from ...ir import Instruction, Operand, Variable
from ...opcodes.op import Op

if TYPE_CHECKING:
    from ...view import KernelView

_OWN_RANK = "%cluster_ctarank"
_MAPPED = "cluster:"
DYNAMIC = "dynamic shared memory"


class Owner(Enum):
    """Whose shared memory an address lies in."""

    OWN = "own"
    """The executing CTA's."""
    PEER = "peer"
    """Another CTA's: `mapa` with a rank that differs from the own one."""
    FIXED = "fixed"
    """That of the CTA of one constant rank: a peer's for all others."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Place:
    """Bytes from `offset` on, in a shared variable."""

    symbol: tuple[str, int]
    """Name and scope."""
    variable: Variable
    owner: Owner
    offset: Value

    @property
    def at(self) -> int | None:
        """The offset in bytes, when there is only one."""
        return self.offset.signed

    @property
    def span(self) -> tuple[int, int]:
        """Least and greatest offset."""
        return self.offset.signed_range

    @property
    def size(self) -> int | None:
        """Bytes of the variable; None for dynamic shared memory."""
        return None if self.symbol[0] == DYNAMIC else self.variable.size

    def may_overlap(self, other: Place, mine: int = 8, its: int = 8) -> bool:
        """Tell whether `mine` bytes here and `its` bytes there can share one, whatever the CTA."""
        if self.symbol != other.symbol:
            return False
        if self.at is not None:
            return any(
                other.offset.may_be(n % (1 << other.offset.width))
                for n in range(self.at - its + 1, self.at + mine)
            )
        (low, high), (first, last) = self.span, other.span
        return low < last + its and first < high + mine

    def is_same(self, other: Place) -> bool:
        """Tell whether both are surely the same bytes, of whatever CTA."""
        return self.symbol == other.symbol and self.at is not None and self.at == other.at

    def __str__(self) -> str:
        name = DYNAMIC if self.symbol[0] == DYNAMIC else f"'{self.variable.name}'"
        if self.at is None:
            return f"{name} + {self.offset}"
        return f"{name} + {self.at}" if self.at else name


class Places:
    """Shared places that one kernel's operands name."""

    def __init__(self, view: KernelView) -> None:
        self._view = view

    def of(self, point: int, operand: Operand | None, space: str = "") -> Place | None:
        """Return the place of an address operand, None when its variable is not known or not shared."""
        pointer = self._view.facts.address(point, operand, space)
        return None if pointer is None else self.of_pointer(pointer)

    def of_pointer(self, pointer: Pointer) -> Place | None:
        base = pointer.base
        if base is None or base.kind is not AtomKind.ADDRESS or base.space != ".shared":
            return None
        variable = self._declared(base.name, base.scope)
        if variable is None:
            return None
        symbol = (DYNAMIC, 0) if variable.is_sized_elsewhere else (base.name, base.scope)
        owner = self._owners.get(base.window, Owner.UNKNOWN) if base.window.startswith(_MAPPED) else Owner.OWN
        return Place(symbol, variable, owner, pointer.offset)

    def _declared(self, name: str, scope: int) -> Variable | None:
        return self._local.get((name, scope)) or self._view.module.variables.get(name)

    @cached_property
    def _local(self) -> dict[tuple[str, int], Variable]:
        shared = (variable for variable in self._view.body.variables if variable.space == ".shared")
        return {(variable.name, variable.scope): variable for variable in shared}

    @cached_property
    def _owners(self) -> dict[str, Owner]:
        """Owner behind each window that a `mapa` of the kernel opens."""
        found: dict[str, Owner] = {}
        for point, instruction in enumerate(self._view.body.instructions):
            if instruction.operation.op is not Op.MAPA or len(instruction.operands) != 3:
                continue
            rank = self._view.facts.value(point, instruction.operands[2])
            if rank.linear is None:
                continue
            window = f"{_MAPPED}{rank.linear}"
            owner = self._rank_owner(rank.linear)
            found[window] = owner if found.get(window, owner) is owner else Owner.UNKNOWN
        return found

    def _rank_owner(self, rank: Linear) -> Owner:
        if rank.is_constant:
            return Owner.FIXED
        if len(rank.terms) != 1 or rank.terms[0][1] != 1:
            return Owner.UNKNOWN
        atom = rank.terms[0][0]
        if atom.kind is AtomKind.SPECIAL and atom.name == _OWN_RANK:
            return Owner.PEER if rank.constant else Owner.OWN
        if atom.kind is AtomKind.DEFINITION and atom.at >= 0 and not rank.constant:
            instruction = self._view.body.instructions[atom.at]
            return Owner.PEER if self._is_flipped(atom.at, instruction) else Owner.UNKNOWN
        return Owner.UNKNOWN

    def _is_flipped(self, point: int, instruction: Instruction) -> bool:
        """Tell whether an instruction computes the own rank with some bits inverted."""
        if instruction.operation.op is not Op.XOR or instruction.guard is not None:
            return False
        a, b = (self._view.facts.value(point, operand) for operand in instruction.operands[1:3])
        for rank, mask in ((a, b), (b, a)):
            own = rank.linear is not None and self._rank_owner(rank.linear) is Owner.OWN
            if own and mask.constant:
                return True
        return False


__all__ = ["DYNAMIC", "Owner", "Place", "Places"]
