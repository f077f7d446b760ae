"""One kernel by the product of its role automata: what holds for every count, or why that was not shown.

Property: where `for_all` returns a `Shown`, every run of the kernel for the launch keeps what whole-kernel properties
ask for, under the assumptions in it.

Argument: `builder` makes the automata, `exploration` their product. Lanes that `elect.sync` may choose are taken to
be the lowest; a run in which they are the highest is made besides, and the verdict says so where that goes wrong.

Not covered: kernels that ask to cancel launches, that hand numbers through shared memory, or that poll without a
repeat."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import lcm, prod

from ...launch import GivenValue
from ...terms.effort import Effort, OutOfEffortError, Work
from ...verdict import AssumptionKind
from ..automata.automaton import Automaton
from ..automata.kept_loops import Kept
from ..automata.known_residues import Residue, combined
from ..model.axiom import Axiom
from ..model.launch_answers import requests_of
from ..model.mechanisms import MEANINGS
from ..model.outcome import Equation, Proviso
from ..order.axioms import LANES_POLL_ALIKE
from ..order.same_instruction_stores import Stores
from ..symex.interpreter.shared_numbers import OF_TABLES
from ..symex.slice.layout import Layout
from ..symex.slice.sliced_program import Program
from ..symex.values.assumptions import IN_WHOLE_CLUSTERS
from ..symex.values.kinds import Kind
from ..symex.values.recurrent_arithmetic import COUNTED
from ..symex.values.symbol import FROM_GLOBAL, Atom, Form, show_atom, stating_sizes
from ..symex.values.trace import Assumption, AssumptionKey, NotFollowedError, Shape
from ..symex.values.traversal import walk
from .congruences import comes_to_equal
from .decisions import Questions
from .exploration import Exploration, Explored
from .kernel_automata import RoleAutomata, automata_of, kept_for, residues_of
from .observers import with_observers
from .operations import Failure
from .polls import polls_of_lanes
from .questions import Below, Named, OfReceived
from .readings import Given, sizes_of
from .received import Receiving
from .received_uses import Uses as ReceivedUses
from .roles import Role, roles_of
from .settled_loads import with_settled_loads
from .setup import Setup
from .symmetry import by_symmetry
from .word_contents import Found, WordUses

_LOADS = "numbers in global memory that decide branches do not change while the kernel runs"
_WRAPS = "no sum or multiple that decides branches wraps around"
_TOO_MUCH = "roles take more than their share of the effort"
_MOST_MODULI = 8
"""How often more is found out about which residues matter."""
_MOST_EMPTY = 3
"""How often further sizes are found to go wrong where they are empty."""
_AHEAD = 4
"""How much more one of several cases may take than its share of the effort: with more, all together take too much."""
_FIRST_CASES, _MORE = 2, 3
"""Cases that tell what the others will take, and how much more effort there is then, if that is enough for all."""
_OF_TOLD = 0.5
"""What of the effort that is left may go into an exploration in which rounds tell residues."""
_MOST_RESIDUES = 16
"""Cases that numbers of the host are told apart in by their residues."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What holds for every count."""

    states: int
    visits: int
    assumptions: tuple[Assumption, ...]
    equations: tuple[Equation, ...]
    axioms: tuple[tuple[Axiom, int], ...]
    provisos: tuple[Proviso, ...]
    not_empty: tuple[Atom, ...] = ()
    """Parameters that it holds for where they are at least 1."""
    of_work: tuple[Assumption, ...] = ()
    """What that asks of the host."""

    @property
    def sizes(self) -> Mapping[Atom, int]:
        """Parameters with which it may not hold."""
        return dict.fromkeys(self.not_empty, 0)

    @property
    def is_left_to_host(self) -> bool:
        """Tell whether it goes wrong with sizes, or grids, that a host may not ask for: runs may do so for sure."""
        in_whole = any(each.kind is AssumptionKind.WHOLE_CLUSTERS for each in self.assumptions)
        return in_whole or bool(self.not_empty)

    @property
    def text(self) -> str:
        if not self.states:
            return "holds for every size: nothing that threads wait for depends on one"
        where = f"{self.states} states that repeat" if self.states > 1 else "one state that repeats"
        return f"holds for every count of rounds: shown in {where}"


@dataclass(frozen=True, slots=True)
class Open:
    """Why nothing was shown."""

    reason: str
    point: int
    sizes: Mapping[Atom, int] = field(default_factory=dict)
    """Parameters to run the kernel with, where threads are stuck on some path."""
    empty: frozenset[Atom] = frozenset()
    """Parameters that are not above zero there."""
    asks_apart: bool = False
    """Whether CTAs of a cluster ask the host apart what may be one question (`cluster_agreement`)."""


def for_all(
    program: Program,
    layout: Layout,
    given: Sequence[GivenValue],
    shape: Shape,
    registers: int | None,
    effort: Effort,
    watch: Callable[[RoleAutomata], None] | None = None,
) -> Shown | Open:
    """Explore the product of a kernel: if that shows nothing, again with sizes that are not negative.

    Where words in shared memory decide what threads do, these are followed. Where masks keep low bits of what the host
    passes, each residue of those numbers is explored apart. That work comes in whole clusters, and that no size is
    empty, are left to the host where it goes wrong else. `watch` is told each way in which the kernel is followed.
    """
    kernel = _Kernel(program, layout, given, shape, registers, effort, watch)
    found = _for_all_sizes(kernel)
    if isinstance(found, Open) and found.asks_apart:
        in_whole = replace(kernel, in_whole_clusters=True)
        again = _for_all_sizes(in_whole)
        return again if isinstance(again, Shown) else _with_work(in_whole, again, found)
    return found if isinstance(found, Shown) else _with_work(kernel, found, found)


def _for_all_sizes(kernel: _Kernel) -> Shown | Open:
    found, asks_some = _explored(kernel, takes_sizes=False)
    if isinstance(found, Shown) or not asks_some:
        return found
    again, takes_some = _explored(kernel, takes_sizes=True)
    return again if takes_some else found


def _with_work(kernel: _Kernel, found: Open, otherwise: Open) -> Shown | Open:
    """Explore a kernel for sizes that are not empty, where it goes wrong with empty ones.

    Where nothing is shown then, either, return why it was not in the first place.
    """
    known, again = kernel, found
    for _ in range(_MOST_EMPTY):
        if not again.empty - known.not_empty.keys():
            break
        reasons = {name: again for name in again.empty}
        known = replace(known, not_empty={**reasons, **known.not_empty})
        shown, _ = _explored(known, takes_sizes=True)
        if isinstance(shown, Shown):
            return shown
        again = shown
    return otherwise


def _explored(kernel: _Kernel, *, takes_sizes: bool) -> tuple[Shown | Open, bool]:
    """Explore a kernel in each way that may show more; and tell whether it matters that no size is negative."""
    kept = kept_for(takes_sizes=takes_sizes, follows=bool(requests_of(kernel.program.cfg)))
    found = kernel.explored(kept)
    takes_some = bool(kept.sizes or kept.signs)
    asked = kept.words.asked | kept.words.points
    for points in (asked, frozenset[int]()) if kept.words.asked else ():
        if isinstance(found, Open):
            kept = kept_for(points, takes_sizes=takes_sizes, follows=True)
            again = kernel.explored(kept)
            takes_some |= bool(kept.sizes or kept.signs)
            found = again if isinstance(again, Shown) else found
    if isinstance(found, Open) and kept.residues.asked:
        by_residue, takes_more = _for_each_residue(kernel, kept, takes_sizes=takes_sizes)
        return by_residue or found, takes_some or takes_more
    return found, takes_some


def _with_told_residues(
    kernel: _Kernel, before: Kept, asked: dict[Atom, int], *, takes_sizes: bool
) -> tuple[Shown | Open, bool]:
    """Explore a kernel where rounds tell the residues that were asked for (`told_rests`).

    And tell whether sizes were taken not to be negative.
    """
    takes_some = False
    for _ in range(_MOST_MODULI):
        kept = kept_for(
            before.words.points, None, asked, takes_sizes=takes_sizes, follows=before.received.follows
        )
        found = kernel.with_share(_OF_TOLD).explored(kept)
        takes_some |= bool(kept.sizes or kept.signs)
        more = combined({**asked, **{n: lcm(m, asked.get(n, 1)) for n, m in kept.residues.asked.items()}})
        if isinstance(found, Shown) or more == asked:
            break
        asked = more
    return found, takes_some


def _for_each_residue(
    kernel: _Kernel, before: Kept, *, takes_sizes: bool
) -> tuple[Shown | Open | None, bool]:
    """Explore a kernel for each residue of the numbers of the host that were asked for.

    Where the first one is shown, or they are too many, all of them together. None where nothing else is tried then.
    And tell whether sizes were taken not to be negative.
    """
    asked = combined(before.residues.asked)
    takes_some = is_extended = False
    for _ in range(_MOST_MODULI):
        if prod(asked.values()) > _MOST_RESIDUES:
            told, takes_more = _with_told_residues(kernel, before, asked, takes_sizes=takes_sizes)
            return told if isinstance(told, Shown) else None, takes_some or takes_more
        shown: list[Shown] = []
        count, before_all = prod(asked.values()), kernel.effort.spent
        for residues in residues_of(asked):
            kept = kept_for(
                before.words.points, residues, takes_sizes=takes_sizes, follows=before.received.follows
            )
            found = kernel.with_share(_AHEAD / (count - len(shown))).explored(kept)
            takes_some |= bool(kept.sizes or kept.signs)
            if isinstance(found, Open):
                break
            shown.append(found)
            if len(shown) == 1:
                spent = kernel.effort.spent
                told, takes_more = _with_told_residues(kernel, before, asked, takes_sizes=takes_sizes)
                takes_some |= takes_more
                if isinstance(told, Shown):
                    return told, takes_some
                before_all += kernel.effort.spent - spent
            is_extended |= not is_extended and _extend(kernel.effort, before_all, len(shown), count)
        else:
            return _united(shown), takes_some
        more = combined({**asked, **{n: max(m, asked.get(n, 1)) for n, m in kept.residues.asked.items()}})
        if more == asked:
            return found, takes_some
        asked = more
    return None, takes_some


def _extend(effort: Effort, before: int, shown: int, count: int) -> bool:
    """Let more be spent where that is what the other cases will take, by what those that are shown have taken."""
    if effort.limit is None or shown < _FIRST_CASES:
        return False
    whole = effort.spent + (effort.spent - before) / shown * (count - shown)
    if not effort.limit < whole <= _MORE * effort.limit:
        return False
    effort.extend(_MORE)
    return True


def _united(shown: Sequence[Shown]) -> Shown:
    """Return what holds where each of several cases was shown."""
    return Shown(
        sum(each.states for each in shown),
        sum(each.visits for each in shown),
        tuple(dict.fromkeys(chain.from_iterable(each.assumptions for each in shown))),
        tuple(dict.fromkeys(chain.from_iterable(each.equations for each in shown))),
        tuple(dict.fromkeys(chain.from_iterable(each.axioms for each in shown))),
        tuple(dict.fromkeys(chain.from_iterable(each.provisos for each in shown))),
        tuple(dict.fromkeys(chain.from_iterable(each.not_empty for each in shown))),
        tuple(dict.fromkeys(chain.from_iterable(each.of_work for each in shown))),
    )


@dataclass(frozen=True, slots=True)
class _Kernel:
    """What is explored."""

    program: Program
    layout: Layout
    given: Sequence[GivenValue]
    shape: Shape
    registers: int | None
    effort: Effort
    watch: Callable[[RoleAutomata], None] | None = None
    not_empty: Mapping[Atom, Open] = field(default_factory=dict)
    """Parameters that are taken to be at least 1, and what goes wrong else."""
    in_whole_clusters: bool = False
    """Whether work is taken to come in whole clusters."""

    def with_share(self, share: float) -> _Kernel:
        """Return the kernel with a share of the effort that is left, or all of it."""
        return self if share >= 1 else replace(self, effort=self.effort.share_of_rest(share))

    def explored(self, kept: Kept) -> Shown | Open:
        """Explore the product, again as long as it tells of words that warps hand to each other."""
        while True:
            found = self._explored(kept)
            if (
                isinstance(found, Shown) and kept.words.asked
            ):  # threads of a group may have read different ones
                return Open("a word in shared memory decides what threads do", min(kept.words.asked))
            if isinstance(found, Shown | Open):
                return found
            read = dict(found)  # lanes of one warp that act apart read one word
            if not all([kept.words.expect(*each) for each in read.items()]):
                return Open("more words are handed on than are followed", found[0][0].point)

    def _explored(self, kept: Kept) -> Shown | Open | tuple[Found, ...]:
        cfg = self.program.cfg
        stored = Stores(cfg, self.program.facts).numbers
        try:
            automata = automata_of(self.program, self.layout, self.shape, kept, self.effort)
            made = roles_of(cfg, automata, MEANINGS, stored, self.given, self.effort)
        except NotFollowedError as error:
            return Open(error.reason, error.point)
        except OutOfEffortError:
            return Open(_TOO_MUCH, -1)
        except RecursionError:
            return Open("a value is computed in too many steps to be followed", -1)
        if self.watch is not None:
            self.watch(RoleAutomata(automata, made, kept.residues.known))
        roles = with_observers(cfg, with_settled_loads(cfg, made))
        fewer = roles if kept.words.points else by_symmetry(roles)
        found = self._explored_with(kept, automata, fewer)
        if isinstance(found, Open) and len(fewer) < len(roles) and not self.effort.is_over:
            return self._explored_with(kept, automata, roles)
        return found

    def _explored_with(
        self, kept: Kept, automata: Sequence[Automaton], roles: Sequence[Role]
    ) -> Shown | Open | tuple[Found, ...]:
        """Explore the product of some strands."""
        try:
            words = WordUses(roles, kept.words)
            uses = ReceivedUses(self.program, automata, roles, kept.received.points)
            setup = Setup(
                [role.info for role in roles],
                [[action for step in role.steps.values() for action in step.actions] for role in roles],
                cluster_threads=self.shape.threads * self.shape.ctas,
                registers=self.registers,
                effort=self.effort,
            )
            for automaton in automata:
                self.effort.pay(Work.TRANSITION, automaton.places_by_loop)
        except NotFollowedError as error:
            return Open(error.reason, error.point)
        except OutOfEffortError:
            return Open(_TOO_MUCH, -1)
        least = {**dict.fromkeys(kept.sizes or (), 0), **dict.fromkeys(self.not_empty, 1)}
        known = Given(least, kept.sizes is not None, self.in_whole_clusters)
        exploration = Exploration(
            automata, roles, setup, self.effort, kept.residues.known, known,
            words if kept.words.points else None,
            Receiving(uses, roles, self.shape.threads) if uses.are_any else None,
        )  # fmt: skip
        kept.take_sizes(
            (name, point)
            for terms, point in exploration.questions.read_both_ways.items()
            for name in sizes_of(terms)
        )
        explored = exploration.run()
        if explored.words:
            return explored.words
        if explored.failure is not None:
            asks_apart = bool(exploration.questions.agreed) and not self.in_whole_clusters
            return replace(_open(explored, explored.failure, roles), asks_apart=asks_apart)
        facts = explored.order.facts
        contradiction = facts.contradicting()
        if contradiction is not None:
            return Open(f"no host can make {contradiction.expected} and {contradiction.completed} equal", -1)
        changing = next((each for each in facts.equations.values() if _changes(each)), None)
        if changing is not None:
            text = f"{changing.expected} and {changing.completed} bytes would have to be equal in every round"
            return Open(text, -1)
        overwritten = [
            (words.may_be_overwritten, kept.words.points),
            (uses.may_be_overwritten, kept.received.points),
        ]
        points = [point for may_be, points in overwritten if may_be for point in points]
        for point in polls_of_lanes(automata, self.program.polls_of_lanes):
            facts.take(LANES_POLL_ALIKE, point)
        return _shown(exploration.questions, kept, setup, explored, points, self.not_empty)


def _changes(equation: Equation) -> bool:
    """Tell whether rounds of a loop change what an equation is about."""
    sides = (each for each in (equation.expected, equation.completed) if isinstance(each, Form))
    return any(name.inner_kind in COUNTED for side in sides for name in walk(side.terms))


def _open(explored: Explored, failure: Failure, roles: Sequence[Role]) -> Open:
    name = roles[failure.strand].info.name
    return Open(f"{failure.reason} ({name})", failure.point, explored.sizes, explored.empty)


def _shown(
    questions: Questions,
    kept: Kept,
    setup: Setup,
    explored: Explored,
    handed: Sequence[int],
    not_empty: Mapping[Atom, Open],
) -> Shown:
    """Return what was shown; bytes that are read at points of `handed` are written by nobody else."""
    facts = explored.order.facts
    assumptions: dict[AssumptionKey, Assumption] = {}
    of_automata = chain.from_iterable(automaton.assumptions for automaton in questions.automata)
    for each in (*of_automata, *_of_questions(questions, kept.residues.known)):
        assumptions.setdefault(each.key, each)
    for point in questions.may_wrap({*(kept.sizes or ()), *not_empty}):
        wraps = Assumption(AssumptionKind.CUT, _WRAPS, point)
        assumptions.setdefault(wraps.key, wraps)
    if handed:
        of_words = Assumption(AssumptionKind.SHARED_TABLE, OF_TABLES, min(handed))
        assumptions.setdefault(of_words.key, of_words)
    for name, point in (kept.sizes or {}).items():
        if name in not_empty:
            continue
        size = Assumption(AssumptionKind.SIZE, f"{show_atom(name)} is not negative", point)
        assumptions.setdefault(size.key, size)
    return Shown(
        explored.states, explored.visits, tuple(assumptions.values()), tuple(facts.equations.values()),
        tuple(facts.axioms), setup.provisos, tuple(sorted(not_empty, key=show_atom)), _of_work(not_empty),
    )  # fmt: skip


def _of_work(not_empty: Mapping[Atom, Open]) -> tuple[Assumption, ...]:
    """Return what is asked of the host where empty sizes go wrong."""
    if not not_empty:
        return ()
    names = sorted(not_empty, key=show_atom)
    at = not_empty[names[0]].point
    text = f"{', '.join(map(show_atom, names))} is at least 1: with less, this was not shown"
    return (Assumption(AssumptionKind.SIZE, text, at, stating_sizes(names)),)


def _of_questions(questions: Questions, residues: Mapping[Atom, Residue]) -> Iterable[Assumption]:
    """Yield what the names of decisions take for granted."""
    for point in questions.agreed_at:
        yield Assumption(AssumptionKind.WHOLE_CLUSTERS, IN_WHOLE_CLUSTERS, point)
    for node, asked in questions.asked():
        assert node.question is not None
        point = node.question.point
        if isinstance(asked, Below | Named | OfReceived) and node.question.truth.origin & FROM_GLOBAL:
            yield Assumption(AssumptionKind.GLOBAL_LOAD, _LOADS, point)
        is_wrapping = (
            not (asked.is_plain or comes_to_equal(asked, residues))
            if isinstance(asked, Below) and asked.terms
            else isinstance(asked, Named | OfReceived) and any(map(_is_of_sum, walk(asked.truth.terms)))
        )
        if is_wrapping:
            yield Assumption(AssumptionKind.CUT, _WRAPS, point)


def _is_of_sum(comparison: Atom) -> bool:
    """Tell whether a sum or a multiple is ordered."""
    if comparison.inner_kind not in (Kind.CMP, Kind.BELOW):
        return False
    terms = comparison.inner[2 if comparison.inner_kind is Kind.CMP else 1]
    return len(terms) > 1 or abs(terms[0][1]) != 1  # type: ignore[arg-type,index]


__all__ = ["Open", "Shown", "for_all"]
