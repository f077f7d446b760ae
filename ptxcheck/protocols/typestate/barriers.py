"""All mbarrier operations of a kernel, with what is known of the object that each one names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from ...cfg.system_functions import SYSTEM_FUNCTIONS
from ...ir import Address, Instruction
from ...opcodes.op import Op
from ...opcodes.spec import Operation, Trait
from .places import Owner, Place, Places

if TYPE_CHECKING:
    from ...view import KernelView

BARRIER_BYTES = 8


class Role(Enum):
    """What an operation does to its mbarrier."""

    INIT = "init"
    INVAL = "inval"
    ARRIVE = "arrive"
    EXPECT = "expect"
    """Raises the expected bytes without arriving."""
    COMPLETE = "complete"
    WAIT = "wait"
    SIGNAL = "signal"
    """Asynchronous work will arrive or complete bytes there."""
    OTHER = "other"


_ROLES: Mapping[Op, Role] = {
    Op.MBARRIER_INIT: Role.INIT,
    Op.MBARRIER_INVAL: Role.INVAL,
    Op.MBARRIER_ARRIVE: Role.ARRIVE,
    Op.MBARRIER_ARRIVE_DROP: Role.ARRIVE,
    Op.MBARRIER_EXPECT_TX: Role.EXPECT,
    Op.MBARRIER_COMPLETE_TX: Role.COMPLETE,
    Op.MBARRIER_TEST_WAIT: Role.WAIT,
    Op.MBARRIER_TRY_WAIT: Role.WAIT,
    Op.CP_ASYNC_MBARRIER_ARRIVE: Role.SIGNAL,
}


_TOUCHING = frozenset({Trait.MBARRIER, Trait.CALL, Trait.ANYTHING})


@dataclass(frozen=True, slots=True)
class BarrierUse:
    """One operation on an mbarrier."""

    point: int
    role: Role
    operand: str
    """Name of the operand that holds the address."""
    place: Place | None

    @property
    def is_local(self) -> bool:
        """Tell whether the object is surely one of the executing CTA."""
        return self.place is not None and self.place.owner is Owner.OWN

    def may_be(self, place: Place) -> bool:
        """Tell whether the object can be the one at a place, or overlap it."""
        return self.place is None or self.place.may_overlap(place, BARRIER_BYTES, BARRIER_BYTES)

    def is_at(self, place: Place) -> bool:
        """Tell whether the object is surely the one at a place, of whatever CTA."""
        return self.place is not None and self.place.is_same(place)


@dataclass(frozen=True)
class Barriers:
    """The mbarrier operations of one kernel, in program order; what never runs is left out."""

    uses: tuple[BarrierUse, ...]
    unknown: frozenset[int] = field(repr=False)
    """Points whose effect on barriers is not known: calls and opaque instructions."""
    complete: bool
    """All control flow of the kernel is known, and all mbarriers are initialised in it."""
    is_raised: bool
    """Some `cp.async` arrival raises the pending count of its barrier."""

    def having(self, *roles: Role) -> tuple[BarrierUse, ...]:
        return tuple(use for use in self.uses if use.role in roles)

    @cached_property
    def inits(self) -> tuple[BarrierUse, ...]:
        return self.having(Role.INIT)

    @cached_property
    def objects(self) -> tuple[Place, ...]:
        """One place for each object with a constant address, in order of first use."""
        found: dict[tuple[tuple[str, int], int], Place] = {}
        for use in self.uses:
            if use.place is not None and use.place.at is not None:
                found.setdefault((use.place.symbol, use.place.at), use.place)
        return tuple(found.values())

    def inits_of(self, place: Place) -> tuple[BarrierUse, ...] | None:
        """Return the initialisations of the object at a place; None when others may be of it too."""
        if any(use.may_be(place) and not use.is_at(place) for use in self.inits) or not self.complete:
            return None
        return tuple(use for use in self.inits if use.is_at(place)) if not self.unknown else None

    def at(self, place: Place, uses: Sequence[BarrierUse]) -> frozenset[int]:
        """Return the points among `uses` that surely touch the executing CTA's object at a place."""
        return frozenset(use.point for use in uses if use.is_local and use.is_at(place))

    def maybe_at(self, place: Place, uses: Sequence[BarrierUse]) -> frozenset[int]:
        return frozenset(use.point for use in uses if use.may_be(place))


def find_barriers(view: KernelView) -> Barriers:
    """Return the mbarrier operations of a kernel."""
    uses: list[BarrierUse] = []
    unknown: set[int] = set()
    harmless = {
        point for point, call in view.facts.calls.items() if is_harmless(call.callee, call.synchronises)
    }
    for point in view.body.points_where(_may_touch):
        instruction = view.body.instructions[point]
        traits = instruction.operation.traits
        if Trait.ANYTHING in traits or (Trait.CALL in traits and point not in harmless):
            unknown.add(point)
            continue
        named = barrier_operand(instruction)
        if named is not None and not view.facts.never_runs(point):
            role = _ROLES.get(instruction.operation.op)
            if role is None:
                role = Role.OTHER if Trait.MBARRIER in traits else Role.SIGNAL
            uses.append(BarrierUse(point, role, named, view.get(Places).of(point, instruction[named])))
    complete = view.function.is_entry and not view.cfg.graph.unknown_targets
    raised = any(view.body.instructions[u.point].operation.op is Op.CP_ASYNC_MBARRIER_ARRIVE for u in uses)
    return Barriers(tuple(uses), frozenset(unknown), complete, raised)


def _may_touch(operation: Operation) -> bool:
    return bool(operation.traits & _TOUCHING) or "mbar" in operation.operand_index


def barrier_operand(instruction: Instruction) -> str | None:
    """Return the name of the operand that addresses an mbarrier."""
    name = "addr" if Trait.MBARRIER in instruction.operation.traits else "mbar"
    return name if isinstance(instruction.get(name), Address) else None


def initial_count(view: KernelView, use: BarrierUse) -> int | None:
    """Return the greatest arrival count that the object of a use is initialised with, None when not known.

    Not known either where copies may raise the pending count of a barrier.
    """
    place = use.place
    inits = None if place is None or place.at is None else view.get(find_barriers).inits_of(place)
    counts = [view.facts.constant(i.point, view.body.instructions[i.point]["count"]) for i in inits or ()]
    known = [count for count in counts if count is not None]
    return None if view.get(find_barriers).is_raised or not known or len(known) < len(counts) else max(known)


def is_harmless(callee: str | None, synchronises: bool | None) -> bool:
    """Tell whether a call leaves barriers alone."""
    return synchronises is False or callee in SYSTEM_FUNCTIONS


__all__ = [
    "BARRIER_BYTES", "BarrierUse", "Barriers", "Role", "barrier_operand", "find_barriers", "initial_count",
]  # fmt: skip
