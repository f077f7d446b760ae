"""What strands of a kernel may do, gathered: their actions, and the barriers, groups and places that these name.

Property: everything that an announced action names is listed.

Argument: all actions are looked at once.

Not covered: actions that were not announced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..model.actions import (
    TEAM_PIPELINES,
    WARPS_OF_A_TEAM,
    Action,
    Arrive,
    AsyncArrive,
    Barrier,
    Commit,
    Expect,
    Fence,
    Init,
    Inval,
    Protocol,
    Rendezvous,
    Strand,
    TensorAccess,
    TensorWait,
    Transfer,
    Wait,
    WaitGroup,
)
from ..model.outcome import Equation

OnTwoSides: TypeAlias = Callable[[int, Action, int, Action], bool]
"""A strand and its action, and another one of the same warp."""
_OF_PIPELINES = Transfer | TensorAccess | TensorWait | AsyncArrive | Commit | WaitGroup
PipelineName = tuple[int, str]
"""Strand and pipeline."""


@dataclass(frozen=True, slots=True)
class StrandInfo:
    """Threads that act together: CTA rank, warp, lanes of it as bits, and a name for people."""

    cta: int
    warp: int
    lanes: int
    name: str
    copies: int = 1
    """Warps that it stands for (`symmetry`)."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A pipeline of a strand."""

    strand: int
    name: str
    most_pending: int
    """Most groups that a wait leaves open, of all who may wait for it."""
    team: tuple[int, ...]
    """Numbers of the pipelines of the same warpgroup, of those that close groups; none for work of one warp."""
    each_apart: bool
    """Some wait leaves out single operations: each is a group."""
    awaits_reads: bool
    """Some wait is for the reads of groups alone."""


class Inventory:
    """The strands of a kernel, and all actions that they may perform."""

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
        """`is_straight`: each strand performs its actions once, in order. `equations`: what is known of bytes.

        `on_two_sides` tells whether two strands of one warp may come to two actions on two sides of a branch at which
        the lanes of the warp part; where it is not given that is not known, and lanes are in no order.
        """
        self.on_two_sides = on_two_sides
        self.strands = tuple(strands)
        self.ctas = frozenset(each.cta for each in self.strands)
        self.registers = registers
        self.is_straight = is_straight
        self.equations = tuple(equations)
        self.given = tuple(tuple(each) for each in actions)
        """All actions: they are known by identity, so that they have to live as long as this."""
        self.unique = tuple(tuple(dict.fromkeys(each)) for each in self.given)
        self.protocol = Protocol(
            tuple(
                Strand(each.cta, each.warp, each.lanes, each.name, own)
                for each, own in zip(self.strands, self.unique, strict=True)
            ),
            cluster_threads,
            registers,
        )
        """All actions of each strand once, in no order that means anything."""
        named = {barrier for _, action in self.every() for barrier in barriers_of(action)}
        self.barriers = tuple(sorted(named, key=lambda b: (str(b.cta), str(b.offset))))
        self.number_of = {barrier: number for number, barrier in enumerate(self.barriers)}
        self.meetings = tuple(dict.fromkeys(a.name for _, a in self.every() if isinstance(a, Rendezvous)))
        self.meeting_of = {name: number for number, name in enumerate(self.meetings)}
        self.is_cluster = len({each.cta for each in self.strands}) > 1
        awaited = {a.token for _, a in self.every() if isinstance(a, Wait)}
        self.tokens = frozenset(
            (self.number_of[a.barrier], a.token)
            for _, a in self.every()
            if isinstance(a, Arrive) and a.token >= 0 and a.token in awaited
        )
        """States that arrivals return and that somebody waits for: mbarrier and number."""
        self.acquirers = frozenset(s for s, a in self.every() if isinstance(a, Fence) and a.acquires)
        """Strands that have fences that acquire."""
        self.acquires_proxies = any(isinstance(a, Fence) and a.of_others for _, a in self.every())
        self.waiters_apart = frozenset(
            (s, a.name) for s, a in self.every() if isinstance(a, Rendezvous) and a.waits and not a.arrives
        )
        self.awaited_by_all = frozenset(self._awaited_by_all())
        """Counted barriers at which the same strands meet each time, and all of them wait: nobody can be early."""
        self.pipelines, self.pipeline_of = self._pipelines()

    def every(self) -> Iterator[tuple[int, Action]]:
        """Yield each action once for each strand that may perform it."""
        for strand, own in enumerate(self.unique):
            for action in own:
                yield strand, action

    def _awaited_by_all(self) -> Iterator[int]:
        coming: dict[int, dict[int, set[int]]] = {}
        needed: dict[int, set[int]] = {}
        others: set[int] = set()
        for strand, action in self.every():
            if isinstance(action, Rendezvous):
                number = self.meeting_of[action.name]
                coming.setdefault(number, {}).setdefault(strand, set()).add(action.threads)
                needed.setdefault(number, set()).add(action.needed)
                if not (action.waits and action.arrives) or action.without_exited:
                    others.add(number)
        for number, by_strand in coming.items():
            threads = sum(max(each) for each in by_strand.values())
            is_one = all(len(each) == 1 for each in by_strand.values())
            if is_one and number not in others and needed[number] == {threads}:
                yield number

    def _pipelines(self) -> tuple[tuple[Pipeline, ...], dict[PipelineName, int]]:
        named: dict[PipelineName, None] = {}
        closing: dict[tuple[str, int, int], list[PipelineName]] = {}
        most: dict[tuple[object, ...], int] = {}
        each_apart: set[PipelineName] = set()
        of_reads: set[tuple[object, ...]] = set()
        for strand, action in self.every():
            if isinstance(action, _OF_PIPELINES) and action.pipeline:
                name = strand, action.pipeline
                named.setdefault(name)
                team = self._team(strand, action.pipeline)
                if isinstance(action, Commit) and action.pipeline in TEAM_PIPELINES:
                    members = closing.setdefault(team, [])
                    if name not in members:
                        members.append(name)
                if isinstance(action, TensorWait) and action.pending:
                    each_apart.add(name)
                if isinstance(action, WaitGroup | TensorWait):
                    key = team if action.pipeline in TEAM_PIPELINES else name
                    most[key] = max(most.get(key, 0), action.pending)
                    if isinstance(action, WaitGroup) and action.read:
                        of_reads.add(key)
        numbers = {name: number for number, name in enumerate(named)}
        found = []
        for strand, pipeline in named:
            team = self._team(strand, pipeline)
            is_team = pipeline in TEAM_PIPELINES
            mates = tuple(numbers[each] for each in closing.get(team, ())) if is_team else ()
            key = team if is_team else (strand, pipeline)
            is_apart = (strand, pipeline) in each_apart
            found.append(Pipeline(strand, pipeline, most.get(key, 0), mates, is_apart, key in of_reads))
        return tuple(found), numbers

    def _team(self, strand: int, pipeline: str) -> tuple[str, int, int]:
        own = self.strands[strand]
        return pipeline, own.cta, own.warp // WARPS_OF_A_TEAM


def barriers_of(action: Action) -> tuple[Barrier, ...]:
    """Return the mbarriers that an action names."""
    match action:
        case Init() | Inval() | Arrive() | Expect() | AsyncArrive() | Wait():
            return (action.barrier,)
        case Transfer():
            return tuple(barrier for barrier, _ in action.completes)
        case _:
            return ()
