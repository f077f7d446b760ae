"""How each action of each strand is performed, worked out once: with numbers for barriers and landmarks.

Property: two events have one landmark only where they are of one strand and alike in all that the checks see.

Argument: a landmark is named by its strand and by what happens: for accesses the action itself, for arrivals and
waits the barrier, and the parity of the phase where two phases may be looked at at once.

Not covered: accesses whose place is not known, and stores into other CTAs that narrow proxy fences might be for; they
are `UnknownStep`s.
"""

from __future__ import annotations

from collections.abc import Callable

from ...terms.effort import Effort, Work
from ..model.actions import (
    TEAM_PIPELINES,
    TENSOR_CORE,
    Access,
    Action,
    Amount,
    Arrive,
    AsyncArrive,
    Barrier,
    Commit,
    Expect,
    Fence,
    Init,
    Inval,
    Proxy,
    Registers,
    Rendezvous,
    TensorAccess,
    TensorFence,
    TensorWait,
    Transfer,
    Wait,
    WaitGroup,
)
from ..model.tensor_address import ABSOLUTE
from ..order.clock import OWN_ROWS
from .inventory import Inventory
from .operations import (
    AccessStep,
    ArriveStep,
    CommitStep,
    Count,
    ExpectStep,
    FenceStep,
    InitStep,
    InvalStep,
    Kind,
    LaterStep,
    MeetStep,
    RegistersStep,
    Step,
    TensorFenceStep,
    TensorKind,
    TensorStep,
    TensorWaitStep,
    Touching,
    TransferStep,
    UnknownStep,
    WaitGroupStep,
    WaitStep,
)
from .places import Places
from .rows import Bits, Rows

_COPIES = "bulk"
_NO_TOKEN = -1
_NOWHERE = "where an access of shared memory lies is not known"
_NARROW = (
    "a store into another CTA, which reads it through the async proxy, may have a fence of its own CTA alone"
)
Bit = Callable[..., Bits]
"""Returns the landmark of a name."""


class Steps:
    """The steps of all actions of a kernel, and the landmarks that they use."""

    def __init__(
        self,
        inventory: Inventory,
        places: Places,
        bit: Bit,
        rows: Rows,
        repeating: frozenset[int],
        effort: Effort,
    ) -> None:
        """`repeating`: counted barriers that may have more than one generation. Raises OutOfEffortError."""
        self._effort = effort
        self._inventory = inventory
        self._places = places
        self._bit = bit
        self._rows = rows
        self._repeating = repeating
        self._read_by_proxy = frozenset(
            cell
            for (_, action), parts in places.parts.items()
            for part, cells in parts or ()
            if isinstance(action, Transfer) and action.proxy is Proxy.ASYNC and not part.writes
            for cell in cells
        )
        self._narrow = frozenset(
            strand
            for strand, each in inventory.every()
            if isinstance(each, Fence) and each.proxy and each.narrow
        )
        """Strands with proxy fences for their own CTA alone."""
        self.kinds: list[Kind] = []
        """All ways in which shared memory is touched."""
        self.tensor_kinds: list[TensorKind] = []
        self.raise_of: dict[tuple[int, int], Bits] = {}
        """Landmarks of raised counts, by mbarrier and strand."""
        self.finished: Bits = 0
        """Landmarks of ends of work that arrives in other CTAs."""
        self.far_arrivals: Bits = 0
        """Landmarks of what counts at once in mbarriers of other CTAs."""
        self.register_changes: Bits = 0
        self.looks: dict[Bits, int] = {}
        """Where strands wait that only observe, by the landmark of the wait."""
        self.by_value: list[dict[Action, Step]] = [
            {action: self._step(strand, action) for action in own}
            for strand, own in enumerate(inventory.unique)
        ]

    def _kinds(self, strand: int, action: Touching) -> tuple[Kind, ...]:
        """Return the ways in which an action touches memory. Raises _NowhereError."""
        parts = self._places.parts[strand, action]
        if parts is None:
            raise _NowhereError
        found = []
        cta = self._inventory.strands[strand].cta
        for place, (part, cells) in enumerate(parts):
            bit = self._bit("touch", strand, action, place)
            is_copy = isinstance(action, Transfer) and (bool(action.completes) or action.pipeline == _COPIES)
            is_asynchronous = isinstance(action, Transfer) and bool(action.completes or action.pipeline)
            others = (
                tuple(each for each in part.ctas if each != cta)
                if isinstance(action, Access | Transfer)
                else ()
            )
            own = 0 if is_asynchronous else sum(bit << self._rows.at[row] for row in OWN_ROWS)
            found.append(
                Kind(
                    bit.bit_length() - 1, bit, strand, cta, action.point, action, cells, part.writes,
                    isinstance(action, Access | Transfer) and action.combines, is_asynchronous,
                    isinstance(action, Transfer) and action.proxy is Proxy.ASYNC,
                    tuple(each for each in others if each in self._inventory.ctas),
                    is_copy and cta in part.ctas, own, ~(bit * self._rows.every),
                )
            )  # fmt: skip
        self.kinds += found
        return tuple(found)

    def _step(self, strand: int, action: Action) -> Step:
        self._effort.pay(Work.LANDMARK)
        try:
            return self._known_step(strand, action)
        except _NowhereError:
            return UnknownStep(action.point, _NOWHERE)

    def _known_step(self, strand: int, action: Action) -> Step:
        match action:
            case Access() | Transfer() | Init() | Inval():
                return self._touching(strand, action)
            case Arrive() | Expect() | AsyncArrive() | Wait():
                return self._counting(strand, action)
            case Commit() | WaitGroup() | TensorWait():
                return self._of_groups(strand, action)
            case Rendezvous():
                return self._meeting(strand, action)
            case Registers():
                event = self._bit("registers", strand, action)
                self.register_changes |= event
                return RegistersStep(action.point, action, event)
            case TensorAccess():
                return self._tensor_step(strand, action)
            case Fence(tensor=TensorFence() as kind):
                return TensorFenceStep(action.point, kind)
            case Fence():
                return FenceStep(
                    action.point, action.releases, action.acquires, action.proxy, action.of_others,
                    action.to_others, action.inits, action.wide,
                )  # fmt: skip

    def _touching(self, strand: int, action: Touching) -> Step:
        if isinstance(action, Transfer):
            if action.faults:
                return UnknownStep(action.point, action.faults[0][1])
            return self._transfer(strand, action)
        kinds = self._kinds(strand, action)
        if isinstance(action, Access):
            is_far = any(kind.writes and kind.reaches for kind in kinds)
            if (
                is_far
                and strand in self._narrow
                and any(self._read_by_proxy.intersection(k.cells) for k in kinds)
            ):
                return UnknownStep(action.point, _NARROW)
            return AccessStep(
                action.point, kinds, self._places.objects(action), action.refused, action.collides
            )
        number = self._inventory.number_of[action.barrier]
        if isinstance(action, Init):
            return InitStep(action.point, number, action.count, kinds[0])
        return InvalStep(action.point, number, kinds[0])

    def _of_groups(self, strand: int, action: Commit | WaitGroup | TensorWait) -> Step:
        own = self._inventory.pipeline_of[strand, action.pipeline]
        if isinstance(action, Commit):
            return CommitStep(action.point, own)
        if isinstance(action, TensorWait):
            return TensorWaitStep(action.point, own, action.pending)
        strands, pipelines = self._inventory.strands, self._inventory.pipelines
        warp = strands[strand].warp
        members = pipelines[own].team or (own,)
        named = tuple((each, strands[pipelines[each].strand].warp == warp) for each in members)
        return WaitGroupStep(action.point, own, action.pending, action.read, named)

    def _tensor_step(self, strand: int, action: TensorAccess) -> Step:
        own = self._inventory.strands[strand]
        frees = not action.pipeline and not action.allocates
        kinds = []
        for place, (writes, cells) in enumerate(self._places.columns.get((strand, action), ())):
            bit = self._bit("tensor", strand, action, place)
            issued = self._bit("issue", strand, action) if action.pipeline not in (TENSOR_CORE, "") else 0
            at_once = issued if action.pipeline else bit * self._rows.complete
            kind = TensorKind(
                bit,
                issued,
                strand,
                (own.cta, own.warp),
                action.point,
                action.pipeline,
                cells,
                writes,
                at_once,
                action.allocates,
                frees,
            )
            kinds.append(kind)
        self.tensor_kinds += kinds
        touched = next(iter((*action.writes, *action.reads)), None)
        freed = None
        if frees and touched is not None and touched.start >= 0 and touched.origin != ABSOLUTE:
            freed = touched.cta, touched.origin
        is_placed = touched is not None and touched.start >= 0
        pipeline = self._inventory.pipeline_of[strand, action.pipeline] if action.pipeline else -1
        fault = action.fault if is_placed else ""
        return TensorStep(action.point, tuple(kinds), pipeline, action.allocates, frees, freed, fault)

    def _count(self, strand: int, barrier: Barrier, amount: Amount, what: str = "count") -> Count:
        number = self._inventory.number_of[barrier]
        is_far = barrier.cta != self._inventory.strands[strand].cta and barrier.cta in self._inventory.ctas
        return Count(
            number, (self._bit(what, strand, number, 0), self._bit(what, strand, number, 1)), amount,
            barrier.cta if is_far else -1,
        )  # fmt: skip

    def _count_at_once(self, strand: int, action: Arrive | Expect, amount: Amount) -> Count:
        what = self._count(strand, action.barrier, amount)
        if what.far >= 0:
            self.far_arrivals |= what.events[0] | what.events[1]
        return what

    def _counting(self, strand: int, action: Arrive | Expect | AsyncArrive | Wait) -> Step:
        number = self._inventory.number_of[action.barrier]
        if isinstance(action, Wait):
            event = self._bit("look" if action.observes else "wait", strand, number)
            if action.observes:
                self.looks.setdefault(event, action.point)
            return WaitStep(
                action.point, number, action.parity, action.token, action.acquires, action.wide, event
            )
        if isinstance(action, Expect):
            what = self._count_at_once(strand, action, action.amount)
            return ExpectStep(action.point, what, self._bit("expect", strand, number))
        if isinstance(action, AsyncArrive):
            what = self._count(strand, action.barrier, 0)
            raised = self.raise_of[number, strand] = self._bit("raise", strand, number)
            finished = self._bit("finished", strand, number) if what.far >= 0 else 0
            self.finished |= finished
            pipeline = self._inventory.pipeline_of[strand, action.pipeline]
            return LaterStep(
                action.point, what, action.count, action.increments, pipeline,
                (strand, action.pipeline, action.count), raised, finished,
            )  # fmt: skip
        what = self._count_at_once(strand, action, action.expect)
        narrows = not action.wide and self._inventory.strands[strand].cta != action.barrier.cta
        return ArriveStep(
            action.point,
            what,
            action.count,
            action.drop,
            action.token if (what.barrier, action.token) in self._inventory.tokens else _NO_TOKEN,
            action.releases,
            action.completes,
            action.wide,
            narrows,
        )

    def _transfer(self, strand: int, action: Transfer) -> Step:
        kinds = self._kinds(strand, action)
        # Bytes that complete make no arrival of the same strand visible: they have landmarks of their own.
        completes = tuple(
            self._count(strand, barrier, amount, "bytes") for barrier, amount in action.completes
        )
        written = sum(kind.bit for kind in kinds if kind.writes)
        read = sum(kind.bit for kind in kinds if not kind.writes)
        pipeline = self._inventory.pipeline_of[strand, action.pipeline] if action.pipeline else -1
        by_barrier = 0
        if completes:
            by_barrier, written = (written, 0) if action.pipeline else (written | read, 0)
            read = read if action.pipeline else 0
        asks = self._bit("asks", strand, action) if action.asks else 0
        return TransferStep(
            action.point,
            kinds,
            completes,
            pipeline,
            by_barrier,
            written,
            read,
            self._places.objects(action),
            asks,
            action.pipeline in TEAM_PIPELINES,
        )

    def _meeting(self, strand: int, action: Rendezvous) -> Step:
        number = self._inventory.meeting_of[action.name]
        event = self._bit("meet", strand, number) if number in self._repeating else 0
        return MeetStep(
            action.point, number, action.threads, action.needed, action.waits, action.arrives, action.orders,
            action.without_exited, action.parted, action.unnamed, event,
            (strand, action.name) in self._inventory.waiters_apart,
        )  # fmt: skip


class _NowhereError(Exception):
    """Raised for an access whose place is not known."""
