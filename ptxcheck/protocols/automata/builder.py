"""Builds the role automata of a CTA by partial evaluation of its sync slice.

Property: see `automaton`.

Argument: threads start together. A block is executed once for each valuation of the registers that matter at its
start (polyvariant specialisation: Jones, Gomard, Sestoft 1993), by the machine that executes runs. Threads that part
at a branch are followed apart up to its join and go on together from there; where one side comes there in several
ways, what differs is a symbol. An open predicate that a counted event depends on is a question with two targets.

Not covered: numbers that threads hand to each other through shared memory in loops, polls that are not repeated,
predicates that differ between the lanes of a warp, and a kernel whose first instruction is in a loop: these are not
followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import or_
from typing import TypeAlias

from ...cfg.cfg import Cfg
from ...cfg.graph import Edge
from ...ir import Register
from ...terms.effort import Effort, Work
from ...verdict import AssumptionKind
from ..symex.interpreter.machine import Machine
from ..symex.interpreter.options import UNLIMITED, Options
from ..symex.slice.layout import Layout
from ..symex.slice.sliced_program import Program
from ..symex.values.register_file import Piece
from ..symex.values.symbol import LANE, Decisions, Form
from ..symex.values.thread_sets import holds_whole_warps, warps_of
from ..symex.values.trace import Assumption, Event, NotFollowedError, Shape, ThreadSet
from .asking import Asking
from .automaton import Automaton
from .environments import Variables
from .exit_values import ExitValues
from .handed_words import UnknownWordError, WordNumbers
from .joins import Come, Joins
from .kept_loops import Kept, RestartError, entered_again
from .loop_heads import LoopHeads
from .naming_decider import NamingDecider, OpenError
from .nodes import Arrival, Node, Target
from .parted_names import Parting
from .phase_registers import phase_registers, with_low_bits
from .rebuilding import Rebuilding, Worklist
from .received_values import ReceivedValues
from .silent_sides import without_silent_sides
from .told_numbers import MOST_FIRST
from .told_rests import ToldRests
from .valuations import Valuation, decided, key_of, restricted
from .variables import NumbersNeededError, register_of

_MOST_RESTARTS = 60
_MOST_QUESTIONS = 4
"""Questions in front of one block."""
_MOST_OF_TOLD = MOST_FIRST + 1
"""Further ones, about what rounds have told."""
_MOST_NODES = 12_000
_MOST_IN_VAIN = 1_500
"""The same where a word decides what threads do that is not followed: what else decides so is still looked for."""
_WARP = 32


@dataclass(frozen=True, slots=True)
class _Visit:
    """Threads at a node, with the residues of rounds there, and the block where they are not followed further."""

    node: Node
    residues: Mapping[int, int]
    stop: int
    branch: Form | None = None
    """The predicate of the branch at the end, before it was asked about."""


_GoOn: TypeAlias = Callable[[Mapping[Form, bool], _Visit, Valuation], list[Come]]
"""Goes on from a node with the answers that are known there, and what registers hold."""


def build(program: Program, layout: Layout, shape: Shape, rank: int, kept: Kept, effort: Effort) -> Automaton:
    """Return the automata of the CTA of a rank; what is found out about loops is added to `kept`.

    Raises NotFollowedError.
    """
    for _ in range(_MOST_RESTARTS):
        try:
            return _Builder(program, layout, shape, rank, kept, effort).build()
        except RestartError:
            continue
        except NumbersNeededError as error:
            kept.note_numbers(map(register_of, error.names))
    raise NotFollowedError("the loops of the kernel are kept in too many ways", -1)


class _Builder:
    def __init__(
        self, program: Program, layout: Layout, shape: Shape, rank: int, kept: Kept, effort: Effort
    ) -> None:
        self._program, self._cfg = program, program.cfg
        self._shape, self._rank = shape, rank
        self._decider = NamingDecider(shape.threads, kept.sizes, kept.residues, kept.signs)
        options = _options(self._decider, effort)
        self._machine = Machine(program, layout, shape, rank, Decisions(), self._decider, options)
        self._cta, self._visits = self._machine.cta, self._machine.cta.visits
        own = self._cta.registers
        self._received = ReceivedValues(kept.received, own, self._decider)
        self._words = WordNumbers(kept.words, self._received, rank, shape.threads, own)
        self._cta.shared = self._words
        self._exits = ExitValues(program, shape.threads, kept)
        self._told = ToldRests(program, kept, self._exits)
        self._heads = LoopHeads(program, shape.threads, kept, self._told)
        self._asking = Asking(kept, self._words)
        self._kept = kept
        self._nodes: list[Node] = []
        self._joins = Joins(program.cfg, self._heads, self._nodes, shape.threads)
        self._passed: list[int] = []  # heads of loops that threads came to, in order
        self._parts = Rebuilding(self._nodes, self._passed, self._heads, self._cta.assumptions, self._decider)
        self._effort = effort
        self._phases = phase_registers(program) if kept.residues.tells else frozenset[Register]()

    def build(self) -> Automaton:
        everybody = (1 << self._shape.threads) - 1
        start = Target()
        left = self._region(Come((start,), -1, self._cfg.graph.entry, everybody, {}, {}), stop=-1)
        assert not left
        without_silent_sides(self._nodes)
        assumptions = self._cta.assumptions.all
        _check_beginning(start, assumptions, self._cfg.blocks[self._cfg.graph.entry].start)
        parents = {header: (self._heads.around(header)[:-1] or (-1,))[-1] for header in self._kept.opened}
        widened = frozenset((h, r.name) for h, registers in self._kept.widened.items() for r in registers)
        variables = Variables(self._nodes, start.node, self._shape.threads)
        again = entered_again(self._cfg, self._kept.opened)
        return Automaton(
            self._rank, self._shape, self._nodes, start.node, self._kept.modulus, parents, variables, assumptions,
            widened, again, self._kept.of_shared,
        )  # fmt: skip

    # -- regions

    def _region(self, first: Come, stop: int) -> list[Come]:
        """Follow threads until they come to a block or end; return how they come there."""
        return self._parts.follow(Worklist([first], [], {}), partial(self._go_on, stop=stop))

    def _go_on(self, work: Worklist, stop: int) -> None:
        """Follow the threads that came last."""
        come = work.waiting.pop()
        if come.block == stop:
            work.left.append(come)
            return
        parts = self._heads.parts(come.source, come.block, come.contents, come.threads)
        if len(parts) > 1:
            work.waiting += self._part_at_head(come, parts)
            return
        if self._heads.is_head(come.block):
            self._passed.append(come.block)
        valuation, residues, assigned = self._heads.arrive(
            come.source, come.block, come.contents, come.threads, come.residues
        )
        key = (come.block, come.threads, tuple(residues.values()), key_of(valuation))
        number = work.known.get(key)
        if number is None:
            node = self._new(come.block, come.threads, residues)
            work.known[key] = number = node.number
            if come.block != self._cfg.exit:
                work.waiting.extend(self._execute(_Visit(node, residues, stop), valuation))
        arrival = self._heads.arrival(come.source, come.block)
        for slot in come.slots:
            slot.node, slot.arrival = number, arrival
            slot.assigned = self._joins.on_edge(come, slot, assigned)

    def _side(self, first: Come, stop: int) -> list[Come]:
        """Follow the threads of one side of a branch, again while that learns of loops on that side."""
        return self._parts.build(lambda: self._region(first, stop))

    def _part_at_head(self, come: Come, parts: Sequence[ThreadSet]) -> list[Come]:
        """Let threads that count the rounds of a loop from numbers of their own be roles of their own."""
        source = come.source if come.source >= 0 else self._cfg.graph.entry
        node = self._new(source, come.threads, come.residues)
        for slot in come.slots:
            slot.node, slot.arrival = node.number, Arrival.MOVE
            slot.assigned = come.given.get(id(slot), ())
        node.sides = tuple(parts)
        node.targets = tuple(Target() for _ in parts)
        count = self._shape.threads
        return [
            Come(
                (target,), come.source, come.block, threads,
                restricted(come.contents, come.contents.keys(), threads, count), come.residues,
            )
            for target, threads in zip(node.targets, parts, strict=True)
        ]  # fmt: skip

    def _new(self, block: int, threads: ThreadSet, residues: Mapping[int, int]) -> Node:
        node = Node(len(self._nodes), block, threads, tuple(residues), tuple(residues.values()))
        self._nodes.append(node)
        if len(self._nodes) > (_MOST_IN_VAIN if self._kept.words.asked else _MOST_NODES):
            raise NotFollowedError("more places of the program than are followed", -1)
        return node

    # -- blocks

    def _execute(self, at: _Visit, valuation: Valuation) -> list[Come]:
        """Execute a block, with a question in front of it where that is needed; return where threads go."""
        self._effort.spend(Work.STATE, _size(valuation))
        if self._effort.is_over:
            raise NotFollowedError("automata take more than their share of the effort", -1)
        self._decider.answers = {}
        return self._execute_with({}, at, valuation)

    def _execute_with(self, answers: Mapping[Form, bool], at: _Visit, valuation: Valuation) -> list[Come]:
        node = at.node
        self._decider.answers = dict(answers)
        valuation = self._told.told(valuation, node.threads, self._decider)
        try:
            events = self._run_block(node, valuation)
            contents = with_low_bits(self._cta.registers.contents(), self._phases)
            if self._kept.residues.tells:
                contents = _chosen(contents, self._cfg, node.block, self._heads, self._decider)
        except OpenError as error:
            return self._ask_before(error, answers, at, valuation)
        except UnknownWordError:
            node.events, node.is_cut = tuple(self._cta.log.events), True
            node.stored, node.read = self._words.told
            return []
        node.stored, node.read = self._words.told
        node.received = tuple(sorted(self._received.done))
        self._kept.refine(self._decider.wanted)
        node.events = events
        return self._leave(answers, at, contents)

    def _run_block(self, node: Node, valuation: Valuation) -> tuple[Event, ...]:
        cta = self._cta
        cta.registers.replace(valuation)
        cta.log.events.clear()
        cta.log.side = None
        self._words.begin(node.threads)
        for point in cta.parted.steps(node.block, node.threads):
            self._visits.point = cta.log.number = point
            self._machine.execution.step(point, node.threads)
        self._words.note_loads(cta.log)
        return tuple(cta.log.events)

    def _ask_before(
        self, error: OpenError, answers: Mapping[Form, bool], at: _Visit, valuation: Valuation
    ) -> list[Come]:
        """Put a question in front of a block that depends on its answer."""
        if error.truth.differs and error.threads.bit_count() > 1:
            self._asking.raise_differing(error)
        most = _MOST_QUESTIONS + (_MOST_OF_TOLD if self._kept.residues.told else 0)
        if len(answers) >= most:
            self._heads.widen_around(at.node.block)
        if len(answers) >= most or self._received.is_new(error.truth):
            raise NotFollowedError("more open predicates decide a block than are followed", error.point)
        return self._ask(error, answers, at, valuation, self._execute_with)

    def _ask(
        self,
        error: OpenError,
        answers: Mapping[Form, bool],
        at: _Visit,
        contents: Valuation,
        go_on: _GoOn,
    ) -> list[Come]:
        """Put a question at a node, and go on with each of its answers."""
        found: list[Come] = []
        node = at.node
        node.question = self._asking.question(error, node)
        for answer in (True, False) if node.question is not None else ():
            then = self._new(node.block, node.threads, at.residues)
            node.targets = (*node.targets, Target(then.number))
            self._decider.answers = known = {**answers, error.truth: answer}
            held = decided(contents, error.truth, answer, self._shape.threads, self._decider.named)
            found += go_on(known, replace(at, node=then), held)
        return found

    # -- ends of blocks

    def _leave(self, answers: Mapping[Form, bool], at: _Visit, contents: Valuation) -> list[Come]:
        """Return where threads go from the end of a block that was executed."""
        node, residues = at.node, at.residues
        block, threads = node.block, node.threads
        edges = self._cfg.graph.outgoing[block]
        if len(edges) == 1:
            return self._go(node, edges[0].target, contents, residues)
        at = replace(at, branch=self._exits.predicate(block, contents) or at.branch)
        contents = self._told.told(contents, threads, self._decider)
        self._cta.registers.replace(contents)
        self._cta.log.events.clear()
        join, last = self._program.regions.join(block), self._cfg.blocks[block].last
        self._visits.point = self._cta.log.number = last
        if last not in self._program.points:
            self._machine.execution.accesses.record_skipped(self._program.regions.of(block), threads)
            return self._pass(node, join, residues)
        try:
            sides = self._machine.branches.sides(block, edges, threads, last)
        except OpenError as error:
            return self._ask_behind(error, answers, at, contents)
        if sides is None:
            return self._pass(node, join, residues)
        if len(sides) == 1:
            return self._leave_by(sides[0][0], answers, at, contents)
        return self._part(node, sides, contents, residues, at.stop)

    def _leave_by(
        self, edge: Edge, answers: Mapping[Form, bool], at: _Visit, contents: Valuation
    ) -> list[Come]:
        """Let all threads take one edge; what rounds have counted to is known behind it."""
        threads = at.node.threads
        asked = self._told.to_ask(edge, at.branch, self._decider)
        if asked is not None:
            error = self._decider.open(asked, threads, self._visits.point)
            return self._ask(error, answers, at, contents, self._leave)
        contents = self._told.behind(edge, at.branch, contents, threads, self._decider)
        left = self._exits.behind(edge, at.branch, at.residues, contents)
        return self._go(at.node, edge.target, left, at.residues)

    def _pass(self, node: Node, join: int, residues: Mapping[int, int]) -> list[Come]:
        """Go to the join of a branch whose sides were run together."""
        node.events = (*node.events, *self._cta.log.events)
        node.received = tuple(sorted(self._received.done))
        return self._go(node, join, dict(self._cta.registers.contents()), residues)

    def _go(self, node: Node, block: int, contents: Valuation, residues: Mapping[int, int]) -> list[Come]:
        node.targets = (Target(),)
        return [Come(node.targets, node.block, block, node.threads, contents, residues)]

    def _ask_behind(
        self, error: OpenError, answers: Mapping[Form, bool], at: _Visit, contents: Valuation
    ) -> list[Come]:
        """Ask at the end of a block which way threads take."""
        self._asking.open_loops(error, self._heads.exits(at.node.block))
        if error.truth.differs and error.threads.bit_count() > 1:
            return self._part_by_warp(error, answers, at, contents)
        return self._ask(error, answers, at, contents, self._leave)

    def _part_by_warp(
        self, error: OpenError, answers: Mapping[Form, bool], at: _Visit, contents: Valuation
    ) -> list[Come]:
        """Let each warp decide by itself where warps may differ: they are roles of their own up to the join."""
        node, residues = at.node, at.residues
        warps = [node.threads & 0xFFFFFFFF << first for first in warps_of(node.threads, self._shape.threads)]
        if error.truth.differs & LANE or len(warps) < 2:
            self._asking.raise_differing(error)
        join, passed = self._program.regions.join(node.block), len(self._passed)
        node.sides = tuple(warps)
        node.targets = tuple(Target() for _ in warps)
        inner = self._heads.stop_of(join)
        ends: list[list[Come]] = []
        for target, threads in zip(node.targets, warps, strict=True):
            then = self._new(node.block, threads, residues)
            target.node = then.number
            own = restricted(contents, contents.keys(), threads, self._shape.threads)
            left: list[Come] = []
            for come in self._leave(answers, _Visit(then, residues, inner), own):
                left += [come] if come.block == inner else self._side(come, inner)
            ends.append(left)
        parting = Parting(self._cfg, node.block, join, contents, frozenset(self._passed[passed:]))
        return self._joins.meet(node, ends, parting, residues)

    def _part(
        self,
        node: Node,
        sides: Sequence[tuple[Edge, ThreadSet]],
        contents: Valuation,
        residues: Mapping[int, int],
        stop: int,
    ) -> list[Come]:
        """Follow the sides of a branch apart, up to its join."""
        node.sides = tuple(threads for _, threads in sides)
        node.targets = tuple(Target() for _ in sides)
        join, passed = self._program.regions.join(node.block), len(self._passed)
        meets = _meets(self._program, node, self._shape.threads)
        inner = self._heads.stop_of(join) if meets else stop
        ends: list[list[Come]] = []
        for target, (edge, threads) in zip(node.targets, sides, strict=True):
            own = restricted(contents, contents.keys(), threads, self._shape.threads)
            come = Come((target,), node.block, edge.target, threads, own, residues)
            ends.append(self._side(come, inner))
        if not meets or (_only_ends(self._program, join) and any(map(_overlap, ends))):
            return [come for each in ends for come in each]
        parting = Parting(self._cfg, node.block, join, contents, frozenset(self._passed[passed:]))
        return self._joins.meet(node, ends, parting, residues)


def _meets(program: Program, node: Node, threads: int) -> bool:
    """Tell whether threads of different sides go on together from their join.

    Whole warps that may begin a further round before they come there are roles of their own from now on.
    """
    is_by_warp = all(holds_whole_warps(each, node.threads, threads) for each in node.sides)
    return not is_by_warp or program.regions.is_in_round(node.block)


def _overlap(ends: Sequence[Come]) -> bool:
    """Tell whether some threads come to a join in one way together with others, and in another way without them."""
    groups = {each.threads for each in ends}
    return sum(each.bit_count() for each in groups) > reduce(or_, groups, 0).bit_count()


def _only_ends(program: Program, block: int) -> bool:
    """Tell whether threads come from a block to the end of the kernel, with nothing that is followed before."""
    cfg = program.cfg
    if block == cfg.exit:
        return True
    is_plain = program.events.isdisjoint(cfg.blocks[block].points)
    return is_plain and cfg.successors[block] == (cfg.exit,)


def _chosen(
    contents: Mapping[Register, list[Piece]], cfg: Cfg, block: int, heads: LoopHeads, decider: NamingDecider
) -> dict[Register, list[Piece]]:
    """Return what registers hold behind a block, with numbers for what residues tell. Raises OpenError.

    A stage that a round moves by a number of the host is one of a few then, and no longer sum in each round; a phase
    that rounds flip by a choice, or join a quotient to, is one of two.
    """
    point = cfg.blocks[block].last
    live = frozenset[Register]().union(*(heads.live[each] for each in cfg.successors[block]))
    changed = heads.told.changed_by_rounds(block)
    return {
        register: [
            (held, decider.chosen(value, held, point, needs_rest=register in changed))
            for held, value in pieces
        ]
        if register in live
        else pieces
        for register, pieces in sorted(contents.items())
    }


def _size(valuation: Valuation) -> int:
    """Return how much more work a block is with these values than with numbers, as measured on terms that grow."""
    deepest = max(
        (name.nesting for pieces in valuation.values() for _, value in pieces if isinstance(value, Form)
         for name, _ in value.terms),
        default=0,
    )  # fmt: skip
    return 1 + deepest // 8 + (deepest // 20) ** 2


def _options(decider: NamingDecider, effort: Effort) -> Options:
    """Return how blocks are executed: polls that are not repeated are asked about, each time."""
    return Options(
        budget=UNLIMITED,
        effort=effort,
        peek_fails=decider.poll_fails,
        counts_tries=False,
        names_ceilings=True,
    )


def _check_beginning(start: Target, assumptions: Iterable[Assumption], point: int) -> None:
    """Check that a kernel begins with no loop, and reads nothing unwritten. Raises NotFollowedError."""
    if start.arrival is not Arrival.MOVE:
        raise NotFollowedError("the kernel begins with a loop", point)
    unwritten = next((each for each in assumptions if each.kind is AssumptionKind.UNDEFINED), None)
    if unwritten is not None:
        raise NotFollowedError(unwritten.text, unwritten.point)
