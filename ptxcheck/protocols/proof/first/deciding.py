"""The predicates that a run decides, and the values that follow from what it has decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from ....verdict import AssumptionKind
from ...symex.slice.sliced_program import Program
from ...symex.values import lane_arithmetic as lanes
from ...symex.values.approximated_terms import choices_in, may_be_unwritten, unwritten_in
from ...symex.values.assumptions import IN_WHOLE_CLUSTERS, READ_ALIKE, Assume, unwritten_text
from ...symex.values.comparisons import may_have_wrapped
from ...symex.values.kinds import Kind
from ...symex.values.lane_arithmetic import condition_of
from ...symex.values.readings import BothReadings
from ...symex.values.register_file import set_of
from ...symex.values.scales import scale_of
from ...symex.values.substitution import (
    Restated,
    arguments,
    at_thread,
    has_choice,
    is_predicate,
    leaves,
    rebuild,
    with_pins,
)
from ...symex.values.symbol import (
    CHOSEN,
    FROM_GLOBAL,
    FROM_SHARED,
    LANE,
    WARP,
    Atom,
    Condition,
    Decisions,
    Form,
    Value,
    plus,
    show_atom,
)
from ...symex.values.thread_sets import MOST_PARTS, is_one_value_in, warps_of
from ...symex.values.trace import (
    HaltError,
    NotFollowedError,
    Shape,
    ThreadSet,
)
from ...symex.values.wraparound import (
    MULTIPLES,
    SIZES,
    is_multiple,
    is_never_negative,
)
from .alike import alike
from .whole_clusters import Ways

_MASK64 = (1 << 64) - 1
_MOST_ASKED = 6
"""Most questions to the solver about one address of an ordinary access."""


@dataclass(frozen=True, slots=True)
class Question:
    """An open predicate that a run has to decide."""

    point: int
    condition: Condition
    positive: bool
    """The predicate is the condition (True) or its negation."""
    stays: bool | None
    """The truth of the guard for which a branch stays in its loop; None when it leaves no loop."""
    turns: tuple[int, ...]
    """How often each acting loop around the branch has started, outermost first, this time not counted."""
    at_top: bool
    """The branch stands in the header of its loop, before the body."""
    is_outer: bool = False
    """Another acting loop is inside the innermost loop around the branch."""
    loop: int = -1
    """Header of the innermost acting loop around the branch, -1 when there is none."""


Follow = Callable[[int, bool, Condition, bool], None]
"""Told of each predicate that earlier decisions imply: point, does its guard hold, its condition, and the truth."""

Pair = Callable[[int, Atom, Atom, bool], None]
"""Told of parameters that are used alike: point, the one whose number is needed, the other, are they one number."""

Settle = Callable[[int, Atom, int], None]
"""Told of each symbol for which a run takes one number among several: point, symbol and number."""

Choose = Callable[[Question], bool]
"""Decides whether the guard of an open predicate holds."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Who answers for the CTAs of a cluster what is open, and is told of what follows (see `symex` `Deciders`)."""

    choose: Choose
    follow: Follow = lambda *_: None
    settle: Settle = lambda *_: None
    pair: Pair = lambda *_: None
    ways: Ways = field(default_factory=Ways)
    """What the CTAs of the cluster have decided."""
    readings: BothReadings = field(default_factory=BothReadings)
    """How the CTAs of the cluster have compared numbers."""
    halts: bool = False
    """Threads stop where they would decide by what they have read from shared memory and nobody has followed."""

    def decider(
        self, program: Program, shape: Shape, rank: int, decisions: Decisions, assume: Assume
    ) -> Decider:
        """Return the decider of the CTA of a rank."""
        return Decider(program, shape, rank, decisions, self, assume)

    def apart(self) -> Answers:
        """Return what makes deciders that nobody is told of."""
        return Answers(self.choose)


class Decider:
    """Decides for the threads of one CTA."""

    def __init__(
        self,
        program: Program,
        shape: Shape,
        rank: int,
        decisions: Decisions,
        answers: Answers,
        assume: Assume,
    ) -> None:
        self._program = program
        self._shape = shape
        self._rank = rank
        self._decisions = decisions
        self._ways = answers.ways
        self._readings = answers.readings
        self._choose = answers.choose
        self._follow = answers.follow
        self._settle = answers.settle
        self._pair = answers.pair
        self._assume = assume
        self.halts = answers.halts
        self.speculative = 0
        """How many branches are open whose sides are both run, though threads take one of them."""
        self.turns: dict[int, int] = {}
        """How often each loop that the deciding threads are in has started anew."""
        self._reduced: dict[Form, tuple[int, Value]] = {}
        self._restated = Restated(self._stated, shape.threads, decisions.equals)
        self._restated_at = 0
        """How many decisions were taken when it was looked whether restated values are still right."""

    def known(self, value: Value, threads: ThreadSet, point: int = -1) -> ThreadSet | None:
        """Return the threads for which a predicate holds, None when it is open; `point` asks, -1: no branch."""
        if isinstance(value, int):
            return threads if value & 1 else 0
        if isinstance(value, np.ndarray):
            return set_of(value != 0) & threads
        reduced = self.restated(self.reduced(value))
        if not isinstance(reduced, Form):
            self._note_reduced(value, reduced, point)
            return self.known(reduced, threads)
        narrow = self.narrow(reduced, threads)
        if narrow is None:
            return None
        if not isinstance(narrow, Form):
            return self.known(narrow, threads)
        if point >= 0 and not self.speculative:
            self._note_readings(narrow, point)
            if value != narrow:
                self._note_unreduced(value, point)
        known = self._decisions.truths.get(narrow)
        condition, positive = condition_of(narrow)
        if known is None:
            truth = self._decisions.implied(condition)
            if truth is None:
                return None
            known = self._decisions.truths[narrow] = truth == positive
        if point >= 0 and not self.speculative:
            self._follow(point, known, condition, known == positive)
            self._note_multiple(condition, point)
            self._ways.note(point, self._rank, condition, known == positive)
        return threads if known else 0

    def decide(self, value: Form, threads: ThreadSet, point: int, stays: bool | None = None) -> ThreadSet:
        """Return the threads for which an open predicate holds, deciding what is not known."""
        if not value.differs:
            return threads if self.decide_uniform(value, point, stays) else 0
        if self.narrow(value, threads) is None:
            built = self.concrete(value, threads, point)
            known = self.known(built, threads)
            if known is not None:
                return known
            assert isinstance(built, Form)
            value = built
        holds: ThreadSet = 0
        for part in self._alike(value, threads, point):
            narrow = self.narrow(value, part)
            assert narrow is not None
            if isinstance(narrow, Form):
                holds |= part if self.decide_uniform(narrow, point, stays) else 0
            else:
                known = self.known(narrow, part)
                assert known is not None
                holds |= known
        return holds

    def decide_uniform(self, value: Form, point: int, stays: bool | None = None) -> bool:
        """Decide a predicate that is the same for all threads concerned; what it depends on first."""
        known = self._decisions.truths.get(value)
        if known is None:
            made = self._with_choices_made(value, point)
            register = unwritten_in(made) if isinstance(made, Form) else ""
            if register:
                self._assume(AssumptionKind.UNDEFINED, unwritten_text(register), point)
            reduced = self.restated(self.reduced(value))
            if isinstance(reduced, int):
                self._note_reduced(value, reduced, point)
                known = bool(reduced & 1)
            else:
                self._note_unreduced(value, point)
                known = self._decided(reduced if isinstance(reduced, Form) else value, point, stays)
            self._decisions.truths[value] = known
        return known

    def _with_choices_made(self, value: Form, point: int) -> Value:
        """Decide by what a value is chosen that may be a register not written; return what it is then."""
        made: Value = value
        while isinstance(made, Form) and may_be_unwritten(made):
            open_choice = next((each for each in choices_in(made) if not unwritten_in(each)), None)
            if open_choice is None:
                break
            truth = self.decide_uniform(open_choice, point)
            known = {open_choice: truth}
            then = Restated(known.get, self._shape.threads, {}).of(made)
            if then == made:
                break
            made = then
        return made

    def narrow(self, value: Form, threads: ThreadSet) -> Value | None:
        """Return a value that is one number in these threads, None when they may hold different ones."""
        if not value.differs:
            return value
        first = (threads & -threads).bit_length() - 1
        if not is_one_value_in(value.differs, threads, first):
            return None
        found = at_thread(value, first, self._shape.threads)
        if not isinstance(found, Form) or not found.differs:
            return found
        tags = [first % 32] if found.differs & LANE else []
        if found.differs & WARP:
            tags.append(-1 - first // 32)
        return lanes.opaque(Kind.OF, *tags, found, differs=0)

    def concrete(self, value: Value, threads: ThreadSet, point: int) -> Value:
        """Return a value with the predicates that it depends on decided."""
        if not isinstance(value, Form) or not has_choice(value):
            return value
        return rebuild(value, lambda truth: self.decide_uniform(truth, point), self._shape.threads)

    def reduced(self, value: Value) -> Value:
        """Return a value with numbers in place of what the decisions leave one number."""
        pins = self._decisions.pins
        if not pins or not isinstance(value, Form):
            return value
        known = self._reduced.get(value)
        if known is None or known[0] != len(pins):
            known = self._reduced[value] = len(pins), with_pins(value, pins, self._shape.threads)
        return known[1]

    def reduced_form(self, form: Form) -> Value:
        """Return a form with numbers in place of the atoms inside others that the decisions leave one number."""
        pins = self._decisions.pins
        if len(form.terms) == 1 and form.terms[0][0] in pins:
            others = {name: number for name, number in pins.items() if name != form.terms[0][0]}
            found = with_pins(form, others, self._shape.threads)
            return found if isinstance(found, int) else form
        return self.reduced(form)

    def restated(self, value: Value) -> Value:
        """Return a value with the choices in it made that are decided; as it is where that leaves no symbol."""
        if not isinstance(value, Form):
            return value
        if value.origin & CHOSEN or self._decisions.equals:
            self._renew()
        if not self._restated.concerns(value):
            return value
        made = self._restated.of(value)
        return made if isinstance(made, Form) else value

    def single(self, value: Form, threads: ThreadSet) -> Value:
        """Return the number that the decisions leave a symbol, if it is only one."""
        narrow = self.narrow(value, threads)
        if not isinstance(narrow, Form):
            return value if narrow is None else narrow
        number = self._decisions.only(narrow)
        return value if number is None else number & _MASK64

    def placed(self, address: Value) -> Value:
        """Return an address with numbers for those parts of it that the decisions leave one number."""
        found = self.reduced(address)
        if not isinstance(found, Form):
            return found
        waiting = [name for name, _ in found.terms]
        asked = 0
        while waiting and asked < _MOST_ASKED:
            name = waiting.pop()
            if not name.differs and name.kind is not Kind.SUM:
                asked += 1
                number = self._decisions.only(Form(((name, 1),)))
                if number is not None:
                    self._decisions.pins[name] = number
                    self._decisions.restate(self.reduced_form)
                    continue
            waiting.extend(arguments(name))
        return self.reduced(found) if asked else found

    def settled(self, value: Form, point: int) -> Value:
        """Return the number that a symbol is when what it is computed from has numbers that the decisions admit.

        Which barrier a warp waits on after any count of rounds is a number in each run only.
        """
        self.halt_at(value)
        found: Value = value
        for leaf in leaves(value):
            others = [] if leaf.differs else self._taken_alike(value, leaf, point)
            number = None if leaf.differs else self._decisions.example(leaf)
            if number is None:
                return value
            for name in (leaf, *others):
                self._settle(point, name, number)
            self._state(Condition("eq", Form(((leaf, 1),)), number), True)
            found = self.reduced(found)
            if not isinstance(found, Form):
                break
        return found

    def parity(self, value: Form, point: int) -> Value:
        """Return the number that a phase is."""
        return self.settled(value, point)

    def _taken_alike(self, value: Form, name: Atom, point: int) -> list[Atom]:
        """Take one number for parameters that the kernel uses alike, where they may be one (see `alike`)."""
        found: list[Atom] = []
        for other in list(alike(self._decisions.taken, value, name)):
            difference = plus(Form(((name, 1),)), Form(((other, 1),)), -1)
            assert isinstance(difference, Form)
            same = Condition("eq", difference, 0)
            may_be = self._decisions.implied(same) is not False
            self._pair(point, name, other, may_be)
            if may_be:
                self._state(same, True)
                found.append(other)
        return found

    def is_positive(self, value: Form) -> bool:
        """Tell whether a number is surely not negative."""
        return self._decisions.stated(Condition("lt", value, 0)) is False or is_never_negative(value)

    def halt_at(self, value: Form) -> None:
        """Stop where threads would decide about a value by what they have read. Raises HaltError."""
        if self.halts and not self.speculative and value.origin & FROM_SHARED:
            raise HaltError

    def _note_reduced(self, value: Form, reduced: Value, point: int) -> None:
        """Note a predicate that became a number through what was decided.

        Not one that compares what other choices leave: of that, what was decided says the truth in this run alone.
        """
        if point < 0 or self.speculative or not isinstance(reduced, int):
            return
        condition, positive = condition_of(value)
        if has_choice(condition.form):
            return
        self._note_unreduced(value, point)
        self._note_multiple(condition, point)
        self._follow(point, bool(reduced & 1), condition, bool(reduced & 1) == positive)

    def _alike(self, value: Form, threads: ThreadSet, point: int) -> Iterator[ThreadSet]:
        """Split threads into sets that hold one number each: warps, or threads when lanes differ."""
        if value.differs & LANE and threads.bit_count() > MOST_PARTS:
            raise NotFollowedError(f"a condition differs between threads: {_shown(value)}", point)
        for first in warps_of(threads, self._shape.threads):
            warp = threads & 0xFFFFFFFF << first
            if not value.differs & LANE:
                yield warp
                continue
            while warp:
                yield warp & -warp
                warp &= warp - 1

    def _decided(self, value: Form, point: int, stays: bool | None) -> bool:
        self._note_readings(value, point)
        condition, positive = condition_of(value)
        truth = self._decisions.implied(condition)
        if truth is None and not is_predicate(condition.form) and has_choice(condition.form):
            form = self.concrete(condition.form, 1, point)
            if not isinstance(form, Form):
                assert isinstance(form, int)
                return condition.holds(form) == positive
            condition = replace(condition, form=form)
            reduced = self.restated(self.reduced(form))
            if isinstance(reduced, int):
                truth = condition.holds(reduced)
            else:
                assert isinstance(reduced, Form)
                condition = replace(condition, form=reduced)
                truth = self._decisions.implied(condition)
        if truth is not None and not self.speculative:
            self._follow(point, truth == positive, condition, truth)
        if truth is None:
            if self.speculative:
                raise NotFollowedError("a decision inside code that may not run", point)
            self.halt_at(condition.form)
            self._note_source(condition, point)
            truth = self._agreed(condition, point)
        if truth is None:
            block = self._program.cfg.graph.block_of[point]
            loops = self._program.loops.around(block)
            question = Question(
                point, condition, positive, stays, tuple(self.turns.get(loop.header, 0) for loop in loops),
                bool(loops) and loops[-1].header == block,
                bool(loops) and loops[-1].header in self._program.loops.outer,
                loops[-1].header if loops else -1,
            )  # fmt: skip
            truth = self._choose(question) == positive
            self._state(condition, truth)
        self._note_multiple(condition, point)
        self._ways.note(point, self._rank, condition, truth)
        return truth == positive

    def _agreed(self, condition: Condition, point: int) -> bool | None:
        """Return what other CTAs of a cluster have decided, where only their places in the grid differ."""
        if self._shape.ctas == 1:
            return None
        truth = self._ways.agreed(point, self._rank, condition)
        if truth is not None:
            self._assume(
                AssumptionKind.WHOLE_CLUSTERS,
                IN_WHOLE_CLUSTERS,
                point,
            )
            self._state(condition, truth)
        return truth

    def _note_source(self, condition: Condition, point: int) -> None:
        origin = condition.form.origin
        if origin & FROM_SHARED:
            self._assume(AssumptionKind.SHARED_LOAD, READ_ALIKE, point)
        if origin & FROM_GLOBAL:
            note = "numbers in global memory that decide branches do not change while the kernel runs"
            self._assume(
                AssumptionKind.GLOBAL_LOAD if scale_of(condition) is None else AssumptionKind.GLOBAL_SCALE,
                note,
                point,
            )

    def _renew(self) -> bool:
        """Forget what was restated when a choice that was open then is not any more; tell whether that is so."""
        taken = len(self._decisions.taken)
        if taken == self._restated_at:
            return False
        self._restated_at = taken
        is_as_before = self._restated.knows(self._decisions.equals)
        if is_as_before and all(self._stated(each) is None for each in self._restated.open):
            return False
        self._restated = Restated(self._stated, self._shape.threads, self._decisions.equals)
        return True

    def _stated(self, predicate: Form) -> bool | None:
        condition, positive = condition_of(predicate)
        truth = self._decisions.stated(condition)
        return truth if truth is None else truth == positive

    def _state(self, condition: Condition, truth: bool) -> None:
        """Record a decision, and what follows from it for earlier ones. Raises ImpossibleError."""
        pins = len(self._decisions.pins)
        self._decisions.assume(condition, truth)
        if len(self._decisions.pins) != pins:
            self._decisions.restate(self.reduced_form)
        if self._renew():
            restated = self._restated
            self._decisions.restate(lambda form: restated.inside(form) if restated.concerns(form) else form)

    def _note_readings(self, truth: Form, point: int) -> None:
        if may_have_wrapped(truth, self.is_positive):
            self._assume(AssumptionKind.CUT, SIZES, point)
        for name in self._readings.note(truth, self.is_positive):
            self._assume(AssumptionKind.SIZE, f"{show_atom(name)} is not negative", point)

    def _note_unreduced(self, value: Form, point: int) -> None:
        """Note how a predicate reads numbers of which earlier answers have left one, in threads that hold the same."""
        if not value.differs and not has_choice(condition_of(value)[0].form):
            self._note_readings(value, point)

    def _note_multiple(self, condition: Condition, point: int) -> None:
        if is_multiple(condition):
            self._assume(AssumptionKind.CUT, MULTIPLES, point)


def _shown(value: Form) -> str:
    text = str(value)
    return text if len(text) < 120 else text[:117] + "..."
