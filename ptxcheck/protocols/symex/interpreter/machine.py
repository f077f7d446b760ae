"""The SIMT machine: runs the sync slice of a kernel for every thread of one CTA at once.

Property: for one choice of every undecided branch, the recorded events are, for each thread, the synchronising
instructions that it executes, in program order, with their operands.

Argument: what a thread executes depends on data and never on timing, except for polls, which are taken to succeed; so
waits do not block here. Threads run together while they are at the same point; at a divergent branch the sides run one
after the other and meet at the immediate post-dominator.

Not covered: blocking, phases and order: these are the business of the protocol that is built from the trace.
"""

from __future__ import annotations

from ..slice.endless_loops import ENDLESS
from ..slice.layout import Layout
from ..slice.sliced_program import Program
from ..values.register_file import SplitError
from ..values.symbol import Decisions, Value
from ..values.trace import (
    HaltError,
    NotFollowedError,
    OutOfTimeError,
    Shape,
    Side,
    ThreadSet,
    TooLongError,
    Trace,
)
from .branching import Branches
from .cta import Cta
from .decider import Deciders
from .execution import Execution
from .groups import Frame, Group, release
from .observation import Observation
from .options import Options
from .shared_words import ParkError
from .state_merging import UndecidedBranches


class Machine:
    """One CTA. Use `run` once."""

    def __init__(
        self,
        program: Program,
        layout: Layout,
        shape: Shape,
        rank: int,
        decisions: Decisions,
        deciders: Deciders,
        options: Options | None = None,
    ) -> None:
        self.cta = self._cta = Cta(program, layout, shape, rank, decisions, deciders, options or Options())
        self._program = program
        self.execution = self._execution = Execution(self._cta)
        self.branches = self._branches = Branches(
            self._cta, UndecidedBranches(self._execution, self._run_aside)
        )
        self._ended: ThreadSet = 0
        self._forks = 0
        """How often threads have parted."""

    def run(self) -> Trace:
        """Run every thread to its exit. Raises NotFollowedError."""
        cta, everybody = self._cta, (1 << self._cta.threads) - 1
        self._run_groups(Group(0, everybody, None))
        return Trace(
            cta.rank, cta.shape, tuple(cta.log.events), tuple(cta.decisions.taken), cta.assumptions.all,
            cta.log.loaded, cta.log.turns, cta.log.peeks, everybody & ~self._ended if cta.decider.halts else 0,
            cta.assumptions.fits,
        )  # fmt: skip

    def _run_groups(self, first: Group) -> ThreadSet:
        """Run a group, and those that it splits into, to the end; return the threads that come to its own join.

        A group that reads what others may still store waits until nobody else can go on.
        """
        groups, parked = [first], list[Group]()
        arrived: ThreadSet = 0
        outer = first.frame
        while groups or parked:
            if not groups:
                waiting, parked = parked, []
                moved = [self._try(group, groups, parked) for group in waiting]
                if not any(moved) and not release(groups, parked):
                    self._unpark(groups, parked)
                continue
            group = groups.pop()
            self._try(group, groups, parked)
        if outer is not None:
            arrived = outer.arrived
        return arrived

    def _try(self, group: Group, groups: list[Group], parked: list[Group]) -> bool:
        """Run a group as far as it comes; False when it could not move."""
        before = (group.block, group.at, group.rounds)
        try:
            self._advance(group, groups)
        except HaltError:
            return True
        except TooLongError:
            if not self._cta.decider.halts or group.is_aside:
                raise
            self._execution.allow_more()
            if group.end():
                groups.append(group)
            return True
        except ParkError:
            self._forget_access(group)
            parked.append(group)
            return (group.block, group.at, group.rounds) != before
        return True

    def _forget_access(self, group: Group) -> None:
        """Drop the access of a read that is made again."""
        point = self._cta.parted.steps(group.block, group.threads)[group.at]
        if point in self._program.accesses:
            self._cta.log.forget_access()

    def _unpark(self, groups: list[Group], parked: list[Group]) -> None:
        """Everybody waits: let one group read without knowing what."""
        self._cta.shared.may_park = False
        group = parked.pop(0)
        self._cta.log.side = group.side
        try:
            self._execution.step(self._cta.parted.steps(group.block, group.threads)[group.at], group.threads)
            group.at += 1
            groups.append(group)
        except HaltError:
            pass
        finally:
            self._cta.shared.may_park = True
        groups.extend(parked)
        parked.clear()

    def _advance(self, group: Group, groups: list[Group]) -> None:
        """Run a group until it ends, waits at a join, or splits. Raises ParkError, with the group before the read."""
        headers, steps_of = self._program.loops.headers, self._cta.parted.steps
        idle = 0
        while True:
            frame = group.frame
            if frame is not None and group.block == frame.join:
                if not group.arrive(frame):
                    return
                continue
            if group.block == self._program.cfg.exit:
                self._cta.shared.end(group.threads)
                self._ended |= group.threads
                if not group.end():
                    return
                continue
            if group.at == 0:
                inside = headers.get(group.block)
                if inside is not None:
                    again = group.came_from in inside
                    group.turns[group.block] = group.turns.get(group.block, -1) + 1 if again else 0
            self._cta.decider.turns = group.turns
            self._cta.log.side = group.side
            if self._cta.options.observation is not None and group.at == 0:
                self._observe_head(self._cta.options.observation, group)
            points = steps_of(group.block, group.threads)
            idle = 0 if points else idle + 1
            if idle > len(self._program.cfg.blocks):
                raise NotFollowedError(ENDLESS, self._program.cfg.blocks[group.block].last)
            while group.at < len(points):
                self._execution.step(points[group.at], group.threads)
                group.at += 1
            if not self._leave(group, groups):
                return

    def _leave(self, group: Group, groups: list[Group]) -> bool:
        """Go to the next block, or split; False when the group has ended or waits for others."""
        block, threads = group.block, group.threads
        edges = self._program.cfg.graph.outgoing[block]
        if len(edges) == 1:
            group.move(edges[0].target, block)
            return True
        join = self._program.regions.join(block)
        last = self._program.cfg.blocks[block].last
        if last not in self._program.points:
            self._execution.accesses.record_skipped(self._program.regions.of(block), threads)
            group.move(join, block)
            return True
        if self._cta.options.is_late():
            # What decides a branch may take long, so that the effort is looked at for each.
            raise OutOfTimeError(last)
        sides = self._branches.sides(block, edges, threads, last)
        if sides is None:
            group.move(join, block)
            return True
        if len(sides) == 1:
            group.move(sides[0][0].target, block)
            return True
        frame = group.frame
        self._forks += 1
        fork = self._forks
        if join != self._program.cfg.exit:
            frame = Frame(join, block, frame, len(sides), dict(group.turns), side=group.side, fork=fork)
        elif frame is not None:
            frame.left += len(sides) - 1
        for edge, taken in reversed(sides):
            part = Group(edge.target, taken, frame, side=Side(group.side, fork, taken))
            part.came_from = block
            part.turns = dict(group.turns)
            groups.append(part)
        return False

    def _run_aside(self, source: int, block: int, threads: ThreadSet, join: int) -> None:
        """Run one side of a branch that records nothing, as far as the join."""
        turns, may_park, side = self._cta.decider.turns, self._cta.shared.may_park, self._cta.log.side
        frame = Frame(join, source, None, 1, dict(turns), is_outermost=True)
        group = Group(block, threads, frame, side=side)
        group.came_from, group.turns = source, dict(turns)
        self._cta.shared.may_park = False
        self._run_groups(group)
        self._cta.decider.turns, self._cta.shared.may_park, self._cta.log.side = turns, may_park, side

    def _observe_head(self, observation: Observation, group: Group) -> None:
        carried = observation.carried.get(group.block)
        if carried and not self._cta.decider.speculative:
            values: list[Value | None] = []
            for register in carried:
                try:
                    values.append(self._cta.registers.read(register, group.threads))
                except SplitError:
                    values.append(None)
            observation.at_head(group.block, group.turns, group.threads, values)
