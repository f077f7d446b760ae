"""Bytes of shared memory, cut into cells: those that the same accesses may reach.

Property: two groups of spans have a cell in common where they have a byte in common.

Argument: the groups that cover a byte change only where a span starts or ends. Between two such places all bytes are
covered alike; places that are covered by the same groups are one cell.

Not covered: bytes behind the end of a slot that a copy of unknown size may reach, see `order.extents`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ...terms.effort import Effort, Work
from ..model.actions import (
    OBJECT_BYTES,
    Access,
    Action,
    Columns,
    Init,
    Inval,
    Proxy,
    Span,
    TensorAccess,
    Transfer,
)
from ..model.equations import sizes_by_equations
from ..model.outcome import Proviso
from ..model.tensor_address import ABSOLUTE
from ..order.conflicts import Place, Spans, Touch
from ..order.copy_extents import most_bytes, within_slots
from ..order.extents import (
    MATRIX_PIPELINES,
    Part,
    open_sizes,
    parts_of,
    provisos,
    reached,
    sized,
    slot_starts,
)
from ..order.memory import FILLED
from .inventory import Inventory
from .operations import Touching

_NO_CLOCK = np.zeros((0, 0), dtype=np.int32)
_GROUPS = 8


def cells_of(groups: Sequence[Spans], effort: Effort) -> list[tuple[int, ...]]:
    """Return the numbers of the cells of each group of spans. Raises OutOfEffortError."""
    changes: dict[Place, list[tuple[int, int]]] = {}
    for number, spans in enumerate(groups):
        for span in spans:
            if span.size > 0:
                changes.setdefault((span.cta, span.start), []).append((number, 1))
                changes.setdefault((span.cta, span.end), []).append((number, -1))
    found: list[list[int]] = [[] for _ in groups]
    counts = [0] * len(groups)
    active: set[int] = set()
    name, seen = 0, set[int]()
    for place in sorted(changes):
        for number, change in changes[place]:
            was = counts[number] > 0
            counts[number] += change
            if was != (counts[number] > 0):
                name ^= 1 << number
                active ^= {number}
        effort.pay(Work.ACTION, len(active))
        if active and name not in seen:
            for number in sorted(active):
                found[number].append(len(seen))
            seen.add(name)
    return [tuple(each) for each in found]


_UNKNOWN = "accesses of tensor memory are in order where their address is not known"
_MORE = "operands in tensor memory whose columns are not all known do not reach into others"
_FIXED = "tensor memory at fixed addresses is apart from what is allocated"


def placed_columns(
    actions: Iterable[TensorAccess], provisos: tuple[Proviso, ...]
) -> tuple[dict[tuple[Columns, ...], Spans], tuple[Proviso, ...]]:
    """Return columns as spans of banks, and what is taken for granted of places, besides what is known.

    A bank is a group of lanes of an allocation of a CTA.
    """
    banks: dict[tuple[int, int, int], int] = {}
    found: dict[tuple[Columns, ...], Spans] = {}
    texts: dict[str, None] = {}
    for action in actions:
        for columns in (action.reads, action.writes):
            if columns in found:
                continue
            spans = []
            for each in columns:
                if each.start < 0:
                    texts[_UNKNOWN] = None
                    continue
                if not each.exact:
                    texts[_MORE] = None
                for group in range(_GROUPS):
                    if each.size and each.groups >> group & 1:
                        bank = banks.setdefault((each.cta, each.origin, group), len(banks))
                        spans.append(Span(bank, each.start, each.size))
            found[columns] = tuple(spans)
    origins: dict[int, set[bool]] = {}
    for cta, origin, _ in banks:
        origins.setdefault(cta, set()).add(origin == ABSOLUTE)
    if any(len(kinds) > 1 for kinds in origins.values()):
        texts[_FIXED] = None
    return found, (*provisos, *map(Proviso, texts))


Cells = tuple[int, ...]
"""Numbers of cells of memory."""


class Places:
    """Which cells each action of a kernel touches, and what is taken for granted of them."""

    def __init__(self, inventory: Inventory, effort: Effort) -> None:
        """Raises OutOfEffortError."""
        self._inventory = inventory
        self._effort = effort
        self.provisos: tuple[Proviso, ...] = ()
        self.parts = self._placed()
        self.provisos += open_sizes(action for _, action in inventory.every())
        """For each strand and action the parts of what it touches; None where a place is not known."""
        cells = (cell for parts in self.parts.values() for _, own in parts or () for cell in own)
        self.columns = self._placed_columns(1 + max(cells, default=0))
        """For each strand and action what it reads (False) and writes of tensor memory."""

    def _placed(self) -> dict[tuple[int, Touching], list[tuple[Part, Cells]] | None]:
        """Return the parts of what each action touches, with their cells; None where a place is not known."""
        touches: list[Touch] = []
        inventory = self._inventory
        sizes = sizes_by_equations(inventory.protocol, inventory.equations)
        parts: list[tuple[int, Touching, Part]] = []
        found: dict[tuple[int, Touching], list[tuple[Part, Cells]] | None] = {}
        for strand, own in enumerate(self._inventory.unique):
            for index, action in enumerate(own):
                if not isinstance(action, Access | Transfer | Init | Inval):
                    continue
                found[strand, action] = []
                for part in _parts(action):
                    self._effort.pay(Work.LANDMARK)
                    if any(span.start < 0 for span in part.spans):
                        found[strand, action] = None
                        break
                    touch = _touch(strand, index, action, part)
                    touches.append(sized(touch, sizes) if sizes else touch)
                    parts.append((strand, action, part))
        cells = cells_of(self._reached(touches), self._effort)
        for part_cells, (strand, action, part) in zip(cells, parts, strict=True):
            known = found[strand, action]
            if known is not None:
                known.append((part, part_cells))
        return found

    def _reached(self, touches: Sequence[Touch]) -> Sequence[Spans]:
        if all(touch.is_exact for touch in touches):
            return [touch.spans for touch in touches]
        starts = slot_starts(self._inventory.protocol, touches)
        slots = within_slots(self._inventory.protocol, starts, MATRIX_PIPELINES)
        limits = (
            most_bytes(self._inventory.protocol, self._inventory.equations, MATRIX_PIPELINES)
            if self._inventory.equations
            else {}
        )
        both = {place: min(limits.get(place, size), size) for place, size in slots.items()}
        filled = (Proviso(FILLED),) if limits else ()
        self.provisos = (*provisos(touches, self._inventory.barriers), *filled)
        return reached(touches, starts, {**limits, **both})

    def _placed_columns(self, first: int) -> dict[tuple[int, TensorAccess], list[tuple[bool, Cells]]]:
        """Return which cells of tensor memory each action reads and writes; their numbers begin with `first`."""
        accesses = [
            (strand, each) for strand, each in self._inventory.every() if isinstance(each, TensorAccess)
        ]
        found: dict[tuple[int, TensorAccess], list[tuple[bool, Cells]]] = {}
        places, self.provisos = placed_columns((each for _, each in accesses), self.provisos)
        groups = [
            (strand, action, writes, places[columns])
            for strand, action in accesses
            for columns, writes in ((action.reads, False), (action.writes, True))
            if places[columns]
        ]
        cells = cells_of([spans for _, _, _, spans in groups], self._effort)
        for (strand, action, writes, _), own in zip(groups, cells, strict=True):
            found.setdefault((strand, action), []).append((writes, tuple(first + cell for cell in own)))
        return found

    def objects(self, action: Action) -> tuple[int, ...]:
        """Return the mbarriers that have bytes among those that an action surely touches."""
        if not isinstance(action, Access | Transfer) or (isinstance(action, Access) and not action.certain):
            return ()
        spans = [span for span in (*action.reads, *action.writes) if span.size]
        return tuple(
            number for number, barrier in enumerate(self._inventory.barriers)
            if any(
                span.cta == barrier.cta and span.start < barrier.offset + OBJECT_BYTES and barrier.offset < span.end
                for span in spans
            )
        )  # fmt: skip


def _parts(action: Touching) -> tuple[Part, ...]:
    if isinstance(action, Access | Transfer):
        return parts_of(action)
    barrier = action.barrier
    return (Part((Span(barrier.cta, barrier.offset, OBJECT_BYTES),), True, True, (barrier.cta,)),)


def _touch(strand: int, index: int, action: Touching, part: Part) -> Touch:
    """Return an access as `order.extents` wants it, which does not look at what is known."""
    is_transfer = isinstance(action, Transfer)
    return Touch(
        strand, index, action.point, part.spans, part.writes, Proxy.GENERIC, False, strand + is_transfer, 0,
        _NO_CLOCK, not isinstance(action, Access) or action.certain, False, part.is_exact,
    )  # fmt: skip
