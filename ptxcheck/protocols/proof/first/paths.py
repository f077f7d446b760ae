"""Which runs of the machine to make: how often loops turn, by a small grid; other open branches, by coverage.

A branch that leaves an acting loop is decided by the plan's counts (`Rounds`). Every other
open predicate is taken both ways where the solver leaves both possible: first sides that no run has taken, then
combinations, within a budget. What was not taken is reported.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Protocol

from ...symex.values.kinds import Kind
from ...symex.values.substitution import with_pins
from ...symex.values.symbol import Atom, Condition, ImpossibleError
from ...symex.values.trace import TooLongError
from .deciding import Question
from .every_count import (
    Claims,
    IsPossible,
    Way,
    is_dead,
)

_PATIENCE = 2
"""Rounds beyond its count that a loop makes before each answer is tried in turn."""
_COMBINATIONS = 24
"""Most runs that only combine sides which were taken before."""

Flips = tuple[bool, ...]
Side = tuple[int, bool]
"""Point of a branch or guarded instruction, and the truth of its guard."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """How often open loops go round."""

    inner: int
    """Loops with no other acting loop inside."""
    outer: int | None = None
    """Loops with others inside; None: like those without."""
    of_loops: tuple[tuple[int, int], ...] = ()
    """Inner loops that go round another number of times: the header of each, and its number."""

    def of(self, question: Question) -> int:
        """Return the rounds of the loop around a branch."""
        if question.is_outer:
            return self.inner if self.outer is None else self.outer
        return next((number for header, number in self.of_loops if header == question.loop), self.inner)

    @property
    def halved(self) -> Rounds:
        """Return half as many rounds, one at least."""
        return Rounds(max(1, self.inner // 2), self.outer and max(1, self.outer // 2))

    @property
    def is_any(self) -> bool:
        """Tell whether any loop goes round."""
        return bool(self.inner or self.outer)


@dataclass(slots=True)
class Plan:
    """Decisions of one run: how often open loops go round, and the first answers to the other open predicates."""

    rounds: Rounds
    flips: Flips = ()
    preset: Mapping[Atom, int] = field(default_factory=dict)
    """Numbers that the run starts with."""
    wanted: Mapping[Condition, bool] = field(default_factory=dict)
    """Answers to some conditions, wherever they come up."""
    emptied: tuple[Atom, ...] = ()
    """Sizes that are zero from the start of the run."""
    is_brief: bool = False
    """It is given up after fewer steps than others: loops that test their count behind the body may run away."""
    made: list[tuple[Side, bool]] = field(default_factory=list)
    """Each decision, with whether the counts made it: then the other side belongs to other counts."""
    answers: list[tuple[Condition, bool]] = field(default_factory=list)
    """The same decisions as conditions."""
    asked: list[Question] = field(default_factory=list)
    """What they answered."""
    followed: dict[Side, tuple[int, Condition, bool]] = field(default_factory=dict)
    """Sides that decisions implied: after how many decisions first, the condition, and its truth."""

    taken: set[Side] = field(default_factory=set)
    """Sides of branches on what the host or memory gives that threads took, however it was decided."""
    seen: set[Side] = field(default_factory=set)
    """The same, and sides of guards."""
    came_to: frozenset[int] = frozenset()
    """Synchronising instructions that threads executed."""
    pins: Mapping[Atom, int] = field(default_factory=dict)
    """Symbols that the decisions of the run left one number."""

    settled: list[tuple[int, Atom, int]] = field(default_factory=list)
    """Symbols that got one number among several: where it was needed, the symbol, the number."""
    alike: list[tuple[int, Atom, Atom]] = field(default_factory=list)
    """Parameters that the kernel uses alike and that the run takes one number for: where it was needed, both."""
    unlike: list[tuple[int, Atom, Atom]] = field(default_factory=list)
    """Parameters that the kernel uses alike and that are different numbers in this run: where one was needed, both."""

    def again(self) -> Plan:
        """Return the plan with nothing made yet."""
        return Plan(self.rounds, self.flips, self.preset, self.wanted, self.emptied, self.is_brief)

    def settle(self, point: int, name: Atom, number: int) -> None:
        """Note that the run takes one number for a symbol."""
        self.settled.append((point, name, number))

    def pair(self, point: int, name: Atom, other: Atom, is_one: bool) -> None:
        """Note that the run takes one number for parameters which are used alike, or cannot."""
        if is_one:
            self.alike.append((point, name, other))
        else:
            self.unlike.append((point, name, other))

    def take(self, point: int, holds: bool, is_open_branch: bool) -> None:
        """Note that threads took a side (see `execute.Took`)."""
        self.seen.add((point, holds))
        if is_open_branch:
            self.taken.add((point, holds))

    def follow(self, point: int, holds: bool, condition: Condition, truth: bool) -> None:
        """Note a predicate that the decisions so far imply (see `execute.Follow`)."""
        self.followed.setdefault((point, holds), (len(self.made), condition, truth))

    def choose(self, question: Question) -> bool:
        """Decide an open predicate (see `execute.Choose`)."""
        position = len(self.made)
        over = bool(question.turns) and question.turns[-1] >= self.rounds.of(question)
        counted = over or (question.stays is not None and bool(question.turns))
        if position < len(self.flips):
            truth = self.flips[position]
        elif question.condition in self.wanted:
            truth = self.wanted[question.condition] == question.positive
        elif question.stays is not None and question.turns:
            truth = self._stays(question) == question.stays
        else:
            truth = _default(question.condition, self._is_large(question)) == question.positive
            truth ^= self._runs_away(question)
        self.made.append(((question.point, truth), counted))
        self.answers.append((question.condition, truth == question.positive))
        self.asked.append(question)
        return truth

    def take_over(self, other: Plan) -> None:
        """Take what another run showed that gave the same answers."""
        self.followed, self.taken, self.seen = other.followed, other.taken, other.seen
        self.came_to, self.pins = other.came_to, other.pins
        self.settled, self.alike, self.unlike = other.settled, other.alike, other.unlike

    def _stays(self, question: Question) -> bool:
        done = question.turns[-1] + (not question.at_top)
        return done < self.rounds.of(question)

    def _runs_away(self, question: Question) -> bool:
        """Tell whether a loop goes on far beyond its count: then each answer is tried in turn."""
        if not self._is_far_beyond(question):
            return False
        before = sum(each.point == question.point and self._is_far_beyond(each) for each in self.asked)
        return bool(before & 1)

    def _is_far_beyond(self, question: Question) -> bool:
        return bool(question.turns) and question.turns[-1] - self.rounds.of(question) > _PATIENCE

    def _is_large(self, question: Question) -> bool:
        """Tell whether to take symbols for large: not when the rounds of the loop are over."""
        if not question.turns:
            return self.rounds.is_any
        return question.turns[-1] < self.rounds.of(question)


class PlansMade:
    """Runs by what they were asked and answered: with the same answers the same questions come up."""

    def __init__(self) -> None:
        self._starts: dict[tuple[tuple[Atom, int], ...], _Asked] = {}

    def note(self, plan: Plan) -> None:
        """Note a plan that was run."""
        at = self._starts.setdefault(tuple(plan.preset.items()), _Asked())
        for question, ((_, truth), _) in zip(plan.asked, plan.made, strict=True):
            at.question = question
            at = at.then.setdefault(truth, _Asked())
        at.plan = plan

    def repeats(self, plan: Plan) -> bool:
        """Tell whether a plan gives the answers of an earlier one; then it takes over what that one showed."""
        at = self._starts.get(tuple(plan.preset.items()))
        trial = plan.again()
        while at is not None and at.question is not None:
            at = at.then.get(trial.choose(at.question))
        if at is None or at.plan is None:
            return False
        plan.made, plan.answers, plan.asked = trial.made, trial.answers, trial.asked
        plan.take_over(at.plan)
        return True


@dataclass(slots=True)
class _Asked:
    """What is asked after some answers, or the plan that gave them when that was all."""

    question: Question | None = None
    then: dict[bool, _Asked] = field(default_factory=dict)
    plan: Plan | None = None


def _default(condition: Condition, large: bool) -> bool:
    """Return the side of a condition on which what the host gives is large, or small: of a CTA's place, the other."""
    if condition.relation == "eq":
        return not large
    if condition.relation == "ne":
        return large
    terms = condition.form.terms
    given = [factor for name, factor in terms if name.kind is Kind.PARAM]
    given = given or [factor for name, factor in terms if name.kind is not Kind.SPECIAL] or [terms[0][1]]
    return (given[0] > 0) != large


@dataclass(slots=True)
class Coverage:
    """What the runs have decided."""

    runs: int = 0
    covered: set[Side] = field(default_factory=set)
    left_out: set[Side] = field(default_factory=set)
    """Sides of open branches that no run took, though they may be possible."""
    unreached: set[Side] = field(default_factory=set)
    """Sides that no run took because its counts decided so, and that other counts may lead to."""
    counted: set[Side] = field(default_factory=set)
    """Other sides of decisions that the counts made."""
    combinations: set[int] = field(default_factory=set)
    """Points whose sides were taken, but not in all combinations with the others."""
    is_cut: bool = False
    """Counts decided something, or runs were left out: there are paths that no run has taken."""
    ran: list[tuple[Mapping[Atom, int], frozenset[int]]] = field(default_factory=list)
    """Of each run, what was one number, and the points that it came to."""
    settled: dict[tuple[int, Atom], set[int]] = field(default_factory=dict)
    """Numbers that runs took for symbols where one was needed: there are others."""
    led: dict[int, Mapping[Atom, int]] = field(default_factory=dict)
    """Branches with a side that runs came to with numbers alone, and these."""
    runs_away: set[int] = field(default_factory=set)
    """Where threads go round too often for a run in which loops are left at once."""
    too_long: dict[Side, tuple[Mapping[Atom, int], int]] = field(default_factory=dict)
    """Sides that numbers lead to, with which runs had more steps than are followed, and where these ended."""
    excluded: dict[Side, dict[Claims, dict[Claims, None]]] = field(default_factory=dict)
    """Other sides of what decisions implied, with the decisions of no count that led there and that side's truth;
    for each of them, how loops ended before."""
    crowded: set[Side] = field(default_factory=set)
    """Those with more ways than are kept."""

    taken: set[Side] = field(default_factory=set)
    """Sides of branches on what the host or memory gives that threads took, however it was decided."""

    @property
    def half_taken(self) -> set[int]:
        """Return the branches of which threads took one side only."""
        return {point for point, holds in self.taken if (point, not holds) not in self.taken}

    @property
    def is_complete(self) -> bool:
        """Tell whether every possible path was run."""
        return not (self.is_cut or self.counted or self.left_out or self.unreached or self.combinations)

    def closed(self, is_possible: IsPossible) -> set[int]:
        """Return the branches of which threads took one side only, as decisions leave nothing else possible."""
        return {
            point
            for point, holds in self.taken
            if (point, not holds) in self.excluded.keys() - self.crowded
            and not any(is_possible(way) for way in self.excluded[point, not holds])
        }

    def missing(self, is_possible: IsPossible) -> tuple[int, int]:
        """Return how many sides other counts could lead to, and how many branches have a side that may be possible."""
        return len(self.out_of_reach(is_possible)), len(self.half_taken - self.closed(is_possible))

    def is_dead(self, point: int, is_possible: IsPossible) -> bool:
        """Tell whether no number of rounds leads to the side of a branch that no run took (see `every_count`)."""
        sides = {(point, not holds) for at, holds in self.taken if at == point}
        if len(sides) != 1 or not sides <= self.excluded.keys() - self.crowded:
            return False
        (side,) = sides
        ways = self.excluded[side].items()
        return is_dead((Way(ends, claims) for claims, each in ways for ends in each), is_possible)

    def out_of_reach(self, is_possible: IsPossible) -> set[Side]:
        """Return sides that no run took and that other counts could lead to."""
        return {side for side in self.excluded if any(is_possible(way) for way in self.ways_to(side))}

    def ways_to(self, side: Side) -> tuple[Claims, ...]:
        """Return the ways to a side that no run took, none when one did."""
        ways = tuple(self.excluded[side])
        ran = side in self.covered or any(self._ran_with(side[0], *way[-1]) for way in ways)
        return () if ran else ways

    def _ran_with(self, point: int, condition: Condition, truth: bool) -> bool:
        """Tell whether a run came to a point while a condition had a truth, by numbers alone."""
        return any(point in came_to and _holds(pins, ((condition, truth),)) for pins, came_to in self.ran)


Numbers = Callable[[Claims], Mapping[Atom, int] | None]
"""Gives numbers with which conditions have these truths together."""
Run = Callable[[Plan], bool]
"""Executes a plan; False when its path turned out to be one that was seen before."""

_IDLE = 2
"""Further counts in a row that may lead to nothing new."""
_WAYS = 48
"""Ways to a side that are kept."""
_QUICK = 1024
"""Numbers up to this one are tried wherever they are found."""


class Solver(Protocol):
    """Something that knows what conditions admit together."""

    def is_possible(self, claims: Claims) -> bool: ...

    def numbers(self, claims: Claims) -> Mapping[Atom, int] | None: ...


@dataclass(frozen=True, slots=True)
class Counts:
    """How often loops go round in the runs."""

    first: Sequence[Rounds]
    deep: Callable[[], Sequence[Rounds]]
    """More, once the first were run, when a count decided anything."""
    further: Callable[[], Sequence[Rounds]]
    """For sides that none of these lead to, such as of a body unrolled by eight."""


def explore(
    counts: Counts, budget: int, run: Run, solver: Solver, is_spent: Callable[[], bool], coverage: Coverage
) -> None:
    """Run all counts, and the open sides that come up, until the budget of runs is spent.

    A side that no count leads to is looked for with numbers that lead there, then among the further counts; one that is
    not found is left out. `is_spent` tells when no time is left for combinations.
    """
    explorer = _Explorer(budget, run, is_spent, coverage)
    for rounds in counts.first:
        explorer.go(rounds)
    for rounds in counts.deep() if coverage.counted else ():
        explorer.go(rounds)
    explorer.seek(counts.first[0], solver.numbers)
    idle = 0
    for rounds in counts.further() if coverage.counted else ():
        missing = coverage.missing(solver.is_possible)
        if missing == (0, 0) or idle >= _IDLE:
            break
        explorer.go(rounds)
        idle = 0 if missing != coverage.missing(solver.is_possible) else idle + 1
    explorer.drain(1)
    explorer.drain(0)
    explorer.seek(counts.first[0], solver.numbers)
    explorer.finish()
    coverage.unreached |= coverage.out_of_reach(solver.is_possible)


def _holds(pins: Mapping[Atom, int], claims: Claims) -> bool:
    """Tell whether claims are true with these numbers."""
    for condition, truth in claims:
        number = with_pins(condition.form, pins, 1)
        if not isinstance(number, int) or condition.holds(number) != truth:
            return False
    return True


class _Explorer:
    def __init__(self, budget: int, run: Run, is_spent: Callable[[], bool], coverage: Coverage) -> None:
        self._budget = budget
        self._is_spent = is_spent
        self._run = run
        self._coverage = coverage
        self._waiting: list[tuple[int, int, Rounds, Flips, Side]] = []
        self._seen: set[tuple[Rounds, Flips]] = set()
        self._closed: set[tuple[Flips, bool]] = set()
        """First answers after which counts, none of them zero or all of them, decided nothing: others do the same."""
        self._sought: set[tuple[tuple[tuple[Atom, int], ...], Claims]] = set()
        """Numbers that runs started with, and what was wanted of them."""
        self._emptied: set[Atom] = set()
        """Parameters that runs were made with in which they are zero, as others took larger numbers for them."""
        self._compared: set[tuple[tuple[Atom, int], ...]] = set()
        """Terms of what runs have compared in order."""
        self._most_counted = 0
        self._way_in: Flips = ()
        """First answers of the run in which counts have decided most: the way to the loops."""

    def go(self, rounds: Rounds) -> None:
        """Run counts: from the start, and on the way that has led into most rounds of loops."""
        plan = Plan(rounds)
        self.start(plan)
        came_in = tuple(truth for (_, truth), _ in plan.made)[: len(self._way_in)] == self._way_in
        if not came_in and (rounds, self._way_in) not in self._seen:
            self._seen.add((rounds, self._way_in))
            try:
                self.start(Plan(rounds, self._way_in, is_brief=not rounds.is_any))
            except TooLongError as error:
                if rounds.is_any:
                    raise
                self._coverage.runs_away.add(error.point)
        self.drain(0)

    def start(self, plan: Plan) -> None:
        """Make one run, and note the other sides of its decisions."""
        if not _is_quick(plan.preset) and _closing(plan.rounds, plan.flips) in self._closed:
            return
        coverage = self._coverage
        coverage.runs += 1
        try:
            fresh = self._run(plan)
        except ImpossibleError:
            self._note_impossible(plan)
            return
        self._note_followed(plan)
        self._note_settled(plan)
        self._compared.update(each.form.terms for each, _ in plan.answers if each.relation == "lt")
        coverage.ran.append((plan.pins, plan.came_to))
        coverage.covered.update(side for side, _ in plan.made)
        coverage.counted.update((point, not truth) for (point, truth), counted in plan.made if counted)
        counted = sum(counted for _, counted in plan.made)
        if not plan.preset and not any(counted for _, counted in plan.made[len(plan.flips) :]):
            self._closed.add(_closing(plan.rounds, plan.flips))
        if counted > self._most_counted:
            self._most_counted, self._way_in = counted, _way_to_loops(plan)
        if not fresh or plan.preset:
            return
        self._add(_alternatives(plan), plan)
        self._empty(plan)

    def _empty(self, plan: Plan) -> None:
        """Run a plan with zero for each parameter that it takes a larger number for, once for each of them."""
        compared = {condition.form.terms for condition, _ in plan.answers if condition.relation == "lt"}
        for _, name, number in plan.settled:
            if name.kind is Kind.PARAM and number > 0 and name not in self._emptied:
                self._emptied.add(name)
                sizes = (name,) if ((name, 1),) in compared else ()
                preset = dict.fromkeys((name, *(other for _, first, other in plan.alike if first == name)), 0)
                self.start(Plan(plan.rounds, preset=preset, wanted=dict(plan.answers), emptied=sizes))

    def seek(self, rounds: Rounds, numbers: Numbers) -> None:
        """Look for sides that no count leads to, with numbers that do."""
        coverage = self._coverage
        for side in sorted(coverage.excluded):
            for way in coverage.ways_to(side):
                preset = numbers(way)
                if not preset:
                    continue
                wanted = way[:-1] if _is_quick(preset) else ()
                attempt = (tuple(preset.items()), wanted)
                if attempt not in self._sought:
                    self._sought.add(attempt)
                    # Numbers that lead there, but into loops of millions of rounds, leave the side as it was.
                    emptied = self._emptied_by(preset)
                    try:
                        self.start(Plan(rounds, preset=preset, wanted=dict(wanted), emptied=emptied))
                    except TooLongError as error:
                        coverage.too_long.setdefault(side, (preset, error.point))
                if not coverage.ways_to(side):
                    coverage.led.setdefault(side[0], preset)
                    break

    def _emptied_by(self, preset: Mapping[Atom, int]) -> tuple[Atom, ...]:
        """Return what numbers make zero or less that runs compare in order: sizes."""
        return tuple(name for name, number in preset.items() if number < 1 and ((name, 1),) in self._compared)

    def _note_impossible(self, plan: Plan) -> None:
        """The last decision contradicts the others: its other side is the only one."""
        if plan.preset:
            return
        truths = [truth for (_, truth), _ in plan.made]
        if len(plan.flips) < len(truths):
            (point, truth), _ = plan.made[-1]
            self._add(_alternatives(plan), plan)
            self._add([((*truths[:-1], not truth), (point, not truth))], plan)

    def _add(self, found: Iterable[tuple[Flips, Side]], plan: Plan) -> None:
        coverage = self._coverage
        for flips, side in found:
            if (plan.rounds, flips) not in self._seen and _closing(plan.rounds, flips) not in self._closed:
                self._seen.add((plan.rounds, flips))
                entry = (int(side in coverage.covered), len(self._seen), plan.rounds, flips, side)
                heapq.heappush(self._waiting, entry)

    def _note_followed(self, plan: Plan) -> None:
        coverage = self._coverage
        coverage.covered.update(plan.followed, plan.seen)
        coverage.taken.update(plan.taken)
        for (point, holds), (count, condition, truth) in plan.followed.items():
            ways = coverage.excluded.setdefault((point, not holds), {})
            before = tuple(
                answer
                for answer, (_, counted) in zip(plan.answers[:count], plan.made, strict=False)
                if not counted
            )
            way = (*before, (condition, not truth))
            if plan.preset and way not in ways and any(_holds(plan.pins, each[:-1]) for each in ways):
                continue  # a run with numbers goes a way of other runs: what it counted is a number of its own
            ends = {
                at: answer
                for answer, ((at, _), counted) in zip(plan.answers[:count], plan.made, strict=False)
                if counted
            }
            if len(ways) < _WAYS or way in ways:
                ways.setdefault(way, {})[tuple(ends.values())] = None
            else:
                coverage.crowded.add((point, not holds))

    def _note_settled(self, plan: Plan) -> None:
        self._coverage.is_cut |= bool(plan.settled)
        for point, name, number in plan.settled:
            self._coverage.settled.setdefault((point, name), set()).add(number)

    def drain(self, most: int) -> None:
        """Run what waits: with `most` 0 only sides that no run has taken."""
        waiting, coverage = self._waiting, self._coverage
        budget = min(self._budget, coverage.runs + _COMBINATIONS) if most else self._budget
        while waiting and coverage.runs < budget and not (most and self._is_spent()):
            rank, number, rounds, flips, side = heapq.heappop(waiting)
            if rank == 0 and side in coverage.covered:
                heapq.heappush(waiting, (1, number, rounds, flips, side))
                continue
            if rank > most:
                heapq.heappush(waiting, (rank, number, rounds, flips, side))
                return
            self.start(Plan(rounds, flips))

    def finish(self) -> None:
        """Note what was not run."""
        coverage = self._coverage
        for *_, rounds, flips, side in self._waiting:
            if _closing(rounds, flips) in self._closed:
                continue
            coverage.is_cut = True
            if side in coverage.covered:
                coverage.combinations.add(side[0])
            else:
                coverage.left_out.add(side)
        coverage.left_out |= coverage.counted - coverage.covered


def _is_quick(preset: Mapping[Atom, int]) -> bool:
    """Tell whether a run starts with numbers, all of which are so small that loops which they bound end soon."""
    return bool(preset) and max(preset.values()) <= _QUICK


def _closing(rounds: Rounds, flips: Flips) -> tuple[Flips, bool]:
    """Return what a run depends on when no count decides anything: see `Plan.choose`."""
    return flips, rounds.is_any


def _way_to_loops(plan: Plan) -> Flips:
    """Return the answers of a run up to the first one that counts gave.

    All of them: with other counts some would be other ones by default, such as whether there is anything to do.
    """
    return tuple(truth for (_, truth), _ in takewhile(lambda each: not each[1], plan.made))


def _alternatives(plan: Plan) -> Iterator[tuple[Flips, Side]]:
    """Yield the first answers that lead to the other side of each decision which the counts did not make.

    A second loop whose count nothing ties to that of the first also goes one round less and one round more.
    """
    truths = [truth for (_, truth), _ in plan.made]
    apart = _ends_of_later_loops(plan)
    for position in range(len(plan.flips), len(plan.made)):
        (point, truth), counted = plan.made[position]
        if not counted or position in apart:
            yield (*truths[:position], not truth), (point, not truth)


def _ends_of_later_loops(plan: Plan) -> frozenset[int]:
    """Return the last two decisions of each loop but the first: to go round once more, and to leave.

    Where threads go through one loop for numbers of rounds of their own, they ask at the same branch in the same round:
    each of them has a loop to itself.
    """
    places: dict[tuple[int, int], list[int]] = {}
    asked: Counter[tuple[int, tuple[int, ...]]] = Counter()
    for position, (question, (_, counted)) in enumerate(zip(plan.asked, plan.made, strict=True)):
        if counted:
            at = question.point, question.turns
            places.setdefault((question.point, asked[at]), []).append(position)
            asked[at] += 1
    return frozenset(position for found in list(places.values())[1:] for position in found[-2:])
