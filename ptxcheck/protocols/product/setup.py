"""What is the same in all states of one kernel: landmarks, cells of memory, and how to perform each action.

Property: each landmark is in the sets of the checks that ask of it.

Argument: see `steps`; here landmarks are gathered by what the checks ask of them.

Not covered: actions that were not announced: each is an `UnknownStep`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...terms.effort import Effort
from ..model.actions import TEAM_PIPELINES, Action, Init, Inval, Registers, Rendezvous, Transfer
from ..model.outcome import Equation
from .inventory import Inventory, OnTwoSides, StrandInfo
from .operations import Kind, Step, UnknownStep
from .places import Places
from .rows import Bits, Knowledge, Rows
from .steps import Steps

_THREAD_COPIES = "cp.async"


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
        effort: Effort | None = None,
    ) -> None:
        """As in `Inventory`; making it ready is paid for. Raises OutOfEffortError."""
        effort = effort or Effort()
        super().__init__(
            strands,
            actions,
            cluster_threads=cluster_threads,
            registers=registers,
            is_straight=is_straight,
            equations=equations,
            on_two_sides=on_two_sides,
        )
        places = Places(self, effort)
        self.provisos = places.provisos
        """What is taken for granted of places."""
        self.changers = tuple(
            sorted({strand for strand, each in self.every() if isinstance(each, Registers)})
        )
        """Strands that change their registers."""
        self._ending = frozenset(
            self.number_of[a.barrier] for _, a in self.every() if isinstance(a, Inval)
        ) | {each for _, action in self.every() for each in places.objects(action)}
        """Mbarriers whose life may end."""
        self._numbers: dict[tuple[object, ...], int] = {}
        repeating = self._repeating()
        self._number_landmarks(repeating)
        Steps(self, places, self._bit, Rows(0), repeating, effort)  # numbers the rest
        self.names = tuple(self._numbers)
        """Names of landmarks, by number."""
        self.rows = Rows(len(self.names))
        made = Steps(self, places, self._bit, self.rows, repeating, effort)
        self._by_value = made.by_value
        self.steps: tuple[dict[int, Step], ...] = tuple(
            {id(action): table[action] for action in own}
            for own, table in zip(self.given, made.by_value, strict=True)
        )
        self.raise_of, self.finished, self.register_changes = (
            made.raise_of,
            made.finished,
            made.register_changes,
        )
        self.looks = made.looks
        """Where strands wait that only observe, by the landmark of the wait."""
        self._gather_tensor(made)
        self._gather(made.kinds, made.far_arrivals)

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

    def _repeating(self) -> frozenset[int]:
        """Return the counted barriers that may have generations which somebody may come to early."""
        comings: dict[tuple[int, int], int] = {}
        for strand, own in enumerate(self.given):
            for action in own:
                if isinstance(action, Rendezvous) and action.arrives:
                    key = self.meeting_of[action.name], strand
                    comings[key] = comings.get(key, 0) + 1
        return (
            frozenset(meeting for (meeting, _), times in comings.items() if times > 1 or not self.is_straight)
            - self.awaited_by_all
        )

    def _number_landmarks(self, repeating: frozenset[int]) -> None:
        """Number the landmarks that are of no action."""
        bit, strands = self._bit, range(len(self.strands))
        self.completion = tuple((bit("phase", b, 0), bit("phase", b, 1)) for b in range(len(self.barriers)))
        """Landmarks of the last completions of each mbarrier, by the parity of the phase."""
        self.last_use = {(b, s): bit("use", b, s) for b in sorted(self._ending) for s in strands}
        """Landmarks of the last use of mbarriers whose life may end, by mbarrier and strand."""
        self.generation = tuple(
            bit("generation", each) if each in repeating else 0 for each in range(len(self.meetings))
        )
        """Landmarks of the last generations of counted barriers; 0 for those at which nobody can be early."""
        counts_ended = any(isinstance(a, Rendezvous) and a.without_exited for _, a in self.every())
        self.end_of = tuple(bit("end", strand) if counts_ended else 0 for strand in strands)
        """Landmarks of the ends of strands, 0 where nobody asks for them."""

    def _gather_tensor(self, made: Steps) -> None:
        self.tensor_kind_of = {kind.bit: kind for kind in made.tensor_kinds}
        self.tensor_work: Bits = 0
        """Landmarks of accesses of tensor memory."""
        self.issued_in_all: Bits = 0
        self.issued_in: dict[tuple[int, int], Bits] = {(each.cta, each.warp): 0 for each in self.strands}
        """Landmarks of the issue of accesses, by warp."""
        self.synchronous_of: list[Bits] = [0 for _ in self.strands]
        """Landmarks of what each strand touches at once."""
        self.asynchronous: Bits = made.finished
        for kind in made.tensor_kinds:
            self.tensor_work |= kind.bit
            self.issued_in[kind.warp] |= kind.issued
            self.issued_in_all |= kind.issued
            self.asynchronous |= kind.issued
            if kind.pipeline:
                self.asynchronous |= kind.bit
            else:
                self.synchronous_of[kind.strand] |= kind.bit

    def _gather(self, kinds: Sequence[Kind], far_arrivals: Bits) -> None:
        self.generic: Bits = 0
        self.combining: Bits = 0
        self.team_reads: Bits = 0
        """Reads of work that a warpgroup does together."""
        self.were_objects: Bits = 0
        """Initialisations and invalidations."""
        self.copied_by: dict[int, Bits] = {}
        """Landmarks of what each strand copies by `cp.async`."""
        self.stored_by: dict[int, Bits] = {}
        """Landmarks of what each strand stores at once."""
        self.to_be_visible_at_exit: Bits = far_arrivals
        """The same of all strands together, and of arrivals in other CTAs."""
        self.kind_of = {kind.bit: kind for kind in kinds}
        self.stored_by_several = _stored_by_several(kinds)
        """Cells, and points at which several strands store there."""
        for kind in kinds:
            self._note(kind)
        self.reads_of = tuple(
            sum(
                kind.bit for kind in kinds
                if kind.strand == each.strand and not kind.writes
                and isinstance(kind.action, Transfer) and kind.action.pipeline == each.name
            )
            for each in self.pipelines
        )  # fmt: skip
        """For each pipeline, the landmarks of its reads."""
        self.synchronous_in: dict[int, Bits] = {each.cta: 0 for each in self.strands}
        """Landmarks of what strands of each CTA touch at once."""
        for own, each in zip(self.synchronous_of, self.strands, strict=True):
            self.synchronous_in[each.cta] |= own
        self.of_asynchronous_work: Knowledge = self.rows.in_order | self.asynchronous * self.rows.every
        """What the completion of asynchronous work may publish: see `order.clock`."""

    def _note(self, kind: Kind) -> None:
        action, bit = kind.action, kind.bit
        if kind.is_asynchronous:
            self.asynchronous |= bit
        else:
            self.synchronous_of[kind.strand] |= bit
            if kind.writes:
                self.stored_by[kind.strand] = self.stored_by.get(kind.strand, 0) | bit
                self.to_be_visible_at_exit |= bit
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


def _stored_by_several(kinds: Sequence[Kind]) -> frozenset[tuple[int, int]]:
    """Return cells with points at which several strands write there at once."""
    strands: dict[tuple[int, int], set[int]] = {}
    for kind in kinds:
        for cell in kind.cells if kind.writes and not kind.is_asynchronous else ():
            strands.setdefault((cell, kind.point), set()).add(kind.strand)
    return frozenset(place for place, own in strands.items() if len(own) > 1)


__all__ = ["Setup", "StrandInfo"]
