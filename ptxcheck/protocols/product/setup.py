"""What is the same in all states of one kernel: landmarks, cells of memory, and how to perform each action.

Property: two events have one landmark only where they are of one strand (or barrier) and alike in all that checks see.

Argument: a landmark is named by its strand and by what happens: for accesses the action itself, for arrivals and waits
the barrier, and the parity of the phase where two phases may be looked at at once.

Not covered: bytes whose place is not known: such an access is an `UnknownStep`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..model.actions import (
    OBJECT_BYTES,
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
    Span,
    TensorAccess,
    TensorFence,
    TensorWait,
    Transfer,
    Wait,
    WaitGroup,
)
from ..model.equations import sizes_by_equations
from ..model.outcome import Equation, Proviso
from ..model.tensor_address import ABSOLUTE
from ..order.clock import OWN_ROWS
from ..order.conflicts import Spans, Touch
from ..order.copy_extents import most_bytes, within_slots
from ..order.extents import MATRIX_PIPELINES, Part, parts_of, provisos, reached, sized, slot_starts
from .inventory import Inventory, OnTwoSides, StrandInfo
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
from .places import cells_of, placed_columns
from .rows import Bits, Knowledge, Rows

_COPIES, _THREAD_COPIES = "bulk", "cp.async"
_NO_CLOCK = np.zeros((0, 0), dtype=np.int32)
_NOWHERE = "where an access of shared memory lies is not known"


class Setup(Inventory):
    """Everything about a kernel that no state changes."""

    def __init__(
        self,
        strands: Sequence[StrandInfo],
        actions: Sequence[Iterable[Action]],
        *,
        cluster_threads: int = 0,
        registers: int | None = None,
        is_straight: bool = False,
        equations: Sequence[Equation] = (),
        on_two_sides: OnTwoSides | None = None,
    ) -> None:
        super().__init__(
            strands,
            actions,
            cluster_threads=cluster_threads,
            registers=registers,
            is_straight=is_straight,
            equations=equations,
            on_two_sides=on_two_sides,
        )
        self.ctas = frozenset(each.cta for each in self.strands)
        self.provisos: tuple[Proviso, ...] = ()
        """What is taken for granted of places."""
        self._numbers: dict[tuple[object, ...], int] = {}
        self.changers = tuple(
            sorted({strand for strand, each in self.every() if isinstance(each, Registers)})
        )
        """Strands that change their registers."""
        self._places = self._placed()
        cells = (cell for parts in self._places.values() for _, own in parts or () for cell in own)
        self._columns = self._placed_columns(1 + max(cells, default=0))
        repeated = self._repeated()
        self.ending = frozenset(
            self.number_of[a.barrier] for _, a in self.every() if isinstance(a, Inval)
        ) | {
            each for strand, own in enumerate(self.unique) for action in own for each in self._objects(action)
        }
        """Mbarriers whose life may end."""
        self.rows = Rows(0)
        self._compile(repeated)  # numbers the landmarks
        self.rows = Rows(len(self._numbers))
        self._compile(repeated)
        self.names = tuple(self._numbers)

    def step(self, strand: int, action: Action) -> Step:
        """Return how an action is performed that was not announced itself, but one that is equal."""
        found = self._by_value[strand].get(action)
        return UnknownStep(action.point, "an action that was not announced") if found is None else found

    def are_in_step(self, earlier: Kind, later: Kind) -> bool:
        """Tell whether lanes of one warp make two ordinary accesses, and not on two sides of a branch."""
        if self.on_two_sides is None or earlier.is_asynchronous or later.is_asynchronous:
            return False
        one, other = self.strands[earlier.strand], self.strands[later.strand]
        if (one.cta, one.warp) != (other.cta, other.warp):
            return False
        return not self.on_two_sides(earlier.strand, earlier.action, later.strand, later.action)

    def _bit(self, *name: object) -> Bits:
        return 1 << self._numbers.setdefault(name, len(self._numbers))

    # -- landmarks that are of no action

    def _repeated(self) -> frozenset[int]:
        """Return the counted barriers that may have more than one generation."""
        comings: dict[tuple[int, int], int] = {}
        for strand, own in enumerate(self.given):
            for action in own:
                if isinstance(action, Rendezvous) and action.arrives:
                    key = self.meeting_of[action.name], strand
                    comings[key] = comings.get(key, 0) + 1
        return frozenset(
            meeting for (meeting, _), times in comings.items() if times > 1 or not self.is_straight
        )

    def _compile(self, repeated: frozenset[int]) -> None:
        bit = self._bit
        self.completion = tuple((bit("phase", b, 0), bit("phase", b, 1)) for b in range(len(self.barriers)))
        """Landmarks of the last completions of each mbarrier, by the parity of the phase."""
        strands = range(len(self.strands))
        self.last_use = {(b, s): bit("use", b, s) for b in sorted(self.ending) for s in strands}
        """Landmarks of the last use of mbarriers whose life may end, by mbarrier and strand."""
        self.generation = tuple(
            bit("generation", each) if each in repeated else 0 for each in range(len(self.meetings))
        )
        """Landmarks of the last generations of counted barriers; 0 for those that meet once."""
        counts_ended = any(isinstance(a, Rendezvous) and a.without_exited for _, a in self.every())
        self.end_of = tuple(bit("end", strand) if counts_ended else 0 for strand in strands)
        """Landmarks of the ends of strands, 0 where nobody asks for them."""
        self._repeating = repeated
        self.register_changes = 0
        """Landmarks of changes of registers."""
        self.tensor_kind_of: dict[Bits, TensorKind] = {}
        self.tensor_work = self.issued_in_all = 0
        """Landmarks of accesses of tensor memory, and of their issue."""
        self.issued_in: dict[tuple[int, int], Bits] = {(each.cta, each.warp): 0 for each in self.strands}
        self.raise_of: dict[tuple[int, int], Bits] = {}
        """Landmarks of raised counts, by mbarrier and strand."""
        self.finished = 0
        """Landmarks of ends of work that arrives in other CTAs."""
        self.kinds: list[Kind] = []
        """All ways in which memory is touched."""
        self._by_value: list[dict[Action, Step]] = [
            {action: self._step(strand, action) for action in own} for strand, own in enumerate(self.unique)
        ]
        self.steps: tuple[dict[int, Step], ...] = tuple(
            {id(action): table[action] for action in own}
            for own, table in zip(self.given, self._by_value, strict=True)
        )
        self.synchronous_of: list[Bits] = [0 for _ in strands]
        """Landmarks of what each strand touches at once."""
        self.asynchronous = self.finished | self.issued_in_all
        for bit, of_tensor in self.tensor_kind_of.items():
            if of_tensor.pipeline:
                self.asynchronous |= bit
            else:
                self.synchronous_of[of_tensor.strand] |= bit
        self.written = self.generic = self.combining = 0
        self.team_reads = self.were_objects = 0
        self.copied_by: dict[int, Bits] = {}
        """Landmarks of what each strand copies by `cp.async`."""
        self.kind_of = {kind.bit: kind for kind in self.kinds}
        for kind in self.kinds:
            self._note(kind)
        self.reads_of = tuple(
            sum(
                kind.bit for kind in self.kinds
                if kind.strand == each.strand and not kind.writes
                and isinstance(kind.action, Transfer) and kind.action.pipeline == each.name
            )
            for each in self.pipelines
        )  # fmt: skip
        """For each pipeline, the landmarks of its reads."""
        ctas = sorted({each.cta for each in self.strands})
        self.synchronous_in = {
            cta: sum(
                own for own, each in zip(self.synchronous_of, self.strands, strict=True) if each.cta == cta
            )
            for cta in ctas
        }
        """Landmarks of what strands of each CTA touch at once."""
        rows = self.rows
        self.of_asynchronous_work: Knowledge = rows.all | self.asynchronous * rows.every
        """What the completion of asynchronous work may publish: see `order.clock`."""

    def _note(self, kind: Kind) -> None:
        action, bit = kind.action, kind.bit
        if kind.is_asynchronous:
            self.asynchronous |= bit
        else:
            self.synchronous_of[kind.strand] |= bit
        if kind.writes:
            self.written |= bit
        if not kind.through_async_proxy:
            self.generic |= bit
        if kind.combines:
            self.combining |= bit
        if isinstance(action, Init | Inval):
            self.were_objects |= bit
        if isinstance(action, Transfer):
            if action.pipeline in TEAM_PIPELINES and not kind.writes:
                self.team_reads |= bit
            if action.pipeline == _THREAD_COPIES and kind.writes and not action.completes:
                self.copied_by[kind.strand] = self.copied_by.get(kind.strand, 0) | bit

    # -- places

    def _placed(self) -> dict[tuple[int, Touching], list[tuple[Part, tuple[int, ...]]] | None]:
        """Return the parts of what each action touches, with their cells; None where a place is not known."""
        touches: list[Touch] = []
        parts: list[tuple[int, Touching, Part]] = []
        found: dict[tuple[int, Touching], list[tuple[Part, tuple[int, ...]]] | None] = {}
        for strand, own in enumerate(self.unique):
            for index, action in enumerate(own):
                if not isinstance(action, Access | Transfer | Init | Inval):
                    continue
                found[strand, action] = []
                for part in _parts(action):
                    if any(span.start < 0 for span in part.spans):
                        found[strand, action] = None
                        break
                    touch = _touch(strand, index, action, part)
                    touches.append(sized(touch, self._sizes()) if self.equations else touch)
                    parts.append((strand, action, part))
        for part_cells, (strand, action, part) in zip(cells_of(self._reached(touches)), parts, strict=True):
            known = found[strand, action]
            if known is not None:
                known.append((part, part_cells))
        return found

    def _sizes(self) -> Mapping[tuple[int, int], int]:
        return sizes_by_equations(self.protocol, self.equations)

    def _reached(self, touches: Sequence[Touch]) -> Sequence[Spans]:
        if all(touch.is_exact for touch in touches):
            return [touch.spans for touch in touches]
        starts = slot_starts(self.protocol, touches)
        slots = within_slots(self.protocol, starts, MATRIX_PIPELINES)
        limits = most_bytes(self.protocol, self.equations, MATRIX_PIPELINES) if self.equations else {}
        both = {place: min(limits.get(place, size), size) for place, size in slots.items()}
        self.provisos = provisos(touches, self.barriers)
        return reached(touches, starts, {**limits, **both})

    def _objects(self, action: Action) -> tuple[int, ...]:
        """Return the mbarriers that have bytes among those that an action surely touches."""
        if not isinstance(action, Access | Transfer) or (isinstance(action, Access) and not action.certain):
            return ()
        spans = [span for span in (*action.reads, *action.writes) if span.size]
        return tuple(
            number for number, barrier in enumerate(self.barriers)
            if any(
                span.cta == barrier.cta and span.start < barrier.offset + OBJECT_BYTES and barrier.offset < span.end
                for span in spans
            )
        )  # fmt: skip

    def _placed_columns(
        self, first: int
    ) -> dict[tuple[int, TensorAccess], list[tuple[bool, tuple[int, ...]]]]:
        """Return which cells of tensor memory each action reads and writes; their numbers begin with `first`."""
        accesses = [(strand, each) for strand, each in self.every() if isinstance(each, TensorAccess)]
        found: dict[tuple[int, TensorAccess], list[tuple[bool, tuple[int, ...]]]] = {}
        places, self.provisos = placed_columns((each for _, each in accesses), self.provisos)
        groups = [
            (strand, action, writes, places[columns])
            for strand, action in accesses
            for columns, writes in ((action.reads, False), (action.writes, True))
            if places[columns]
        ]
        cells = cells_of([spans for _, _, _, spans in groups])
        for (strand, action, writes, _), own in zip(groups, cells, strict=True):
            found.setdefault((strand, action), []).append((writes, tuple(first + cell for cell in own)))
        return found

    # -- actions

    def _kinds(self, strand: int, action: Touching) -> tuple[Kind, ...]:
        """Return the ways in which an action touches memory. Raises _NowhereError."""
        parts = self._places[strand, action]
        if parts is None:
            raise _NowhereError
        found = []
        cta = self.strands[strand].cta
        for place, (part, cells) in enumerate(parts):
            bit = self._bit("touch", strand, action, place)
            is_copy = isinstance(action, Transfer) and (bool(action.completes) or action.pipeline == _COPIES)
            is_asynchronous = isinstance(action, Transfer) and bool(action.completes or action.pipeline)
            others = (
                tuple(each for each in part.ctas if each != cta)
                if isinstance(action, Access | Transfer)
                else ()
            )
            is_certain = not isinstance(action, Access) or action.certain
            own = 0 if is_asynchronous else sum(bit << self.rows.at[row] for row in OWN_ROWS)
            found.append(
                Kind(
                    bit.bit_length() - 1, bit, strand, cta, action.point, action, cells, part.writes,
                    isinstance(action, Access | Transfer) and action.combines, is_asynchronous,
                    isinstance(action, Transfer) and action.proxy is Proxy.ASYNC,
                    tuple(each for each in others if each in self.ctas) if is_certain else (),
                    is_copy and cta in part.ctas, own, ~(bit * self.rows.every),
                )
            )  # fmt: skip
        self.kinds += found
        return tuple(found)

    def _step(self, strand: int, action: Action) -> Step:
        try:
            return self._known_step(strand, action)
        except _NowhereError:
            return UnknownStep(action.point, _NOWHERE)

    def _known_step(self, strand: int, action: Action) -> Step:
        match action:
            case Access():
                return AccessStep(
                    action.point,
                    self._kinds(strand, action),
                    self._objects(action),
                    action.refused,
                    action.collides,
                )
            case Transfer():
                return self._transfer(strand, action)
            case Init():
                (kind,) = self._kinds(strand, action)
                return InitStep(action.point, self.number_of[action.barrier], action.count, kind)
            case Inval():
                (kind,) = self._kinds(strand, action)
                return InvalStep(action.point, self.number_of[action.barrier], kind)
            case Wait():
                barrier = self.number_of[action.barrier]
                event = self._bit("wait", strand, barrier)
                return WaitStep(
                    action.point, barrier, action.parity, action.token, action.acquires, action.wide, event
                )
            case Arrive() | Expect() | AsyncArrive():
                return self._counting(strand, action)
            case Commit():
                return CommitStep(action.point, self.pipeline_of[strand, action.pipeline])
            case WaitGroup():
                own = self.pipeline_of[strand, action.pipeline]
                warp = self.strands[strand].warp
                members = self.pipelines[own].team or (own,)
                named = tuple(
                    (each, self.strands[self.pipelines[each].strand].warp == warp) for each in members
                )
                return WaitGroupStep(action.point, own, action.pending, action.read, named)
            case Rendezvous():
                return self._meeting(strand, action)
            case Registers():
                event = self._bit("registers", strand, action)
                self.register_changes |= event
                return RegistersStep(action.point, action, event)
            case TensorAccess():
                return self._tensor_step(strand, action)
            case TensorWait():
                return TensorWaitStep(action.point, self.pipeline_of[strand, action.pipeline], action.pending)
            case Fence(tensor=TensorFence() as kind):
                return TensorFenceStep(action.point, kind)
            case Fence():
                return FenceStep(
                    action.point, action.releases, action.acquires, action.proxy, action.of_others,
                    action.to_others, action.inits, action.wide,
                )  # fmt: skip

    def _tensor_step(self, strand: int, action: TensorAccess) -> Step:
        own = self.strands[strand]
        kinds = []
        for place, (writes, cells) in enumerate(self._columns.get((strand, action), ())):
            bit = self._bit("tensor", strand, action, place)
            issued = self._bit("issue", strand, action) if action.pipeline not in (TENSOR_CORE, "") else 0
            at_once = issued if action.pipeline else bit * self.rows.complete
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
            )
            self.tensor_kind_of[bit] = kind
            self.tensor_work |= bit
            self.issued_in[own.cta, own.warp] = self.issued_in.get((own.cta, own.warp), 0) | issued
            self.issued_in_all |= issued
            kinds.append(kind)
        touched = next(iter((*action.writes, *action.reads)), None)
        frees = not action.pipeline and not action.allocates
        freed = None
        if frees and touched is not None and touched.start >= 0 and touched.origin != ABSOLUTE:
            freed = touched.cta, touched.origin
        is_placed = touched is not None and touched.start >= 0
        pipeline = self.pipeline_of[strand, action.pipeline] if action.pipeline else -1
        fault = action.fault if is_placed else ""
        return TensorStep(action.point, tuple(kinds), pipeline, action.allocates, frees, freed, fault)

    def _count(self, strand: int, barrier: Barrier, amount: Amount) -> Count:
        number = self.number_of[barrier]
        is_far = barrier.cta != self.strands[strand].cta and barrier.cta in self.ctas
        return Count(
            number, (self._bit("count", strand, number, 0), self._bit("count", strand, number, 1)), amount,
            barrier.cta if is_far else -1,
        )  # fmt: skip

    def _counting(self, strand: int, action: Arrive | Expect | AsyncArrive) -> Step:
        number = self.number_of[action.barrier]
        if isinstance(action, Expect):
            what = self._count(strand, action.barrier, action.amount)
            return ExpectStep(action.point, what, self._bit("expect", strand, number))
        if isinstance(action, AsyncArrive):
            what = self._count(strand, action.barrier, 0)
            raised = self.raise_of[number, strand] = self._bit("raise", strand, number)
            finished = self._bit("finished", strand, number) if what.far >= 0 else 0
            self.finished |= finished
            return LaterStep(
                action.point, what, action.count, action.increments, self.pipeline_of[strand, action.pipeline],
                (strand, action.pipeline, action.count), raised, finished,
            )  # fmt: skip
        what = self._count(strand, action.barrier, action.expect)
        narrows = not action.wide and self.strands[strand].cta != action.barrier.cta
        return ArriveStep(
            action.point,
            what,
            action.count,
            action.drop,
            action.token,
            action.releases,
            action.completes,
            narrows,
        )

    def _transfer(self, strand: int, action: Transfer) -> Step:
        kinds = self._kinds(strand, action)
        completes = tuple(self._count(strand, barrier, amount) for barrier, amount in action.completes)
        written = sum(kind.bit for kind in kinds if kind.writes)
        read = sum(kind.bit for kind in kinds if not kind.writes)
        pipeline = self.pipeline_of[strand, action.pipeline] if action.pipeline else -1
        by_barrier = 0
        if completes:
            by_barrier, written = (written, 0) if action.pipeline else (written | read, 0)
            read = read if action.pipeline else 0
        asks = self._bit("asks", strand, action) if action.asks else 0
        return TransferStep(
            action.point, kinds, completes, pipeline, by_barrier, written, read, self._objects(action), asks
        )

    def _meeting(self, strand: int, action: Rendezvous) -> Step:
        number = self.meeting_of[action.name]
        event = self._bit("meet", strand, number) if number in self._repeating else 0
        return MeetStep(
            action.point, number, action.threads, action.needed, action.waits, action.arrives, action.orders,
            action.without_exited, action.parted, action.unnamed, event,
            (strand, action.name) in self.waiters_apart,
        )  # fmt: skip


class _NowhereError(Exception):
    """Raised for an access whose place is not known."""


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
