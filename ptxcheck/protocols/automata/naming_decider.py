"""A decider that decides nothing: what is open becomes a question of the automaton, by the name of its predicate.

Property: a predicate is taken to hold, or not, only as the answers of the path say; else `OpenError` names it.

Argument: every decision of the machine goes through `known`, `decide` and `concrete`. An unsigned comparison with a
number, `0 <= x < bound`, is two predicates on signed numbers, so that it has the names of those; the first is left
out where `x` is a parameter, or a larger number, and `sizes` takes those for sizes: it is noted there. So is `q == n`
of a quotient, as thresholds on it are thresholds on what is divided.

Not covered: whether answers can hold together: a path of the automaton may be impossible.
"""

from __future__ import annotations

from math import lcm

import numpy as np

from ...verdict import AssumptionKind
from ..symex.interpreter.decider import Decider
from ..symex.slice.accesses import is_pointer
from ..symex.slice.sliced_program import Program
from ..symex.values.approximated_terms import choices_in, may_be_unwritten
from ..symex.values.assumptions import Assume
from ..symex.values.kinds import Kind
from ..symex.values.lane_arithmetic import compare, condition_of, negate
from ..symex.values.parities import low_bit
from ..symex.values.recurrent_arithmetic import period
from ..symex.values.register_file import set_of
from ..symex.values.substitution import (
    Restated,
    has_choice,
    is_predicate,
    rebuild,
)
from ..symex.values.symbol import Atom, Decisions, Form, Value, atom, plus
from ..symex.values.trace import NotFollowedError, Peek, Shape, ThreadSet
from ..symex.values.wraparound import DIVIDED, is_never_negative, sizes_in
from .extremes import extremes_in
from .host_numbers import host_conditions
from .junctions import junction
from .known_residues import KnownResidues
from .narrowed_values import named, narrowed
from .plain_truths import plain
from .quotients import undivided, undivided_natural
from .taken_sizes import TakenSizes
from .told_numbers import ToldNumbers
from .variables import is_of_variables

_WORD = 32
_MOST_SIGNED = 1 << _WORD - 1
"""Numbers of 32 bits that are negative as signed ones are not below it as unsigned ones."""


def succeeds(point: int) -> Form:
    """Return the predicate that a poll at a point finds its phase complete: each strand has an answer of its own."""
    return atom(Kind.RESULT, "poll", point, differs=0)


class OpenError(Exception):
    """Threads come to a predicate that nothing decides."""

    def __init__(self, truth: Form, threads: ThreadSet, point: int, reason: str = "") -> None:
        super().__init__("an open predicate")
        self.reason = reason
        """Why it is not asked: threads are not followed further."""
        self.truth = truth
        self.threads = threads
        self.point = point


class NamingDecider:
    """Answers by the names of predicates."""

    halts = False

    def __init__(
        self,
        threads: int,
        sizes: dict[Atom, int] | None = None,
        residues: KnownResidues | None = None,
        signs: set[Atom] | None = None,
    ) -> None:
        self.residues = residues or KnownResidues()
        self._sizes = TakenSizes(sizes, set[Atom]() if signs is None else signs)
        self.told = ToldNumbers(
            self.residues,
            self._plain,
            self.answer,
            lambda form: self._sizes.takes(form, self._point, self._assume),
        )
        self.speculative = 0
        self.turns: dict[int, int] = {}
        self.answers: dict[Form, bool] = {}
        self.wanted = 1
        """Of how many rounds the numbers of loops have to be known for the operands that have to be numbers."""
        self._threads = threads
        self._assume: Assume | None = None
        self._point = -1
        """Where something was asked last."""

    def decider(
        self, program: Program, shape: Shape, rank: int, decisions: Decisions, assume: Assume
    ) -> Decider:
        """Return itself: there is one decider for each automaton, and what it takes for granted is noted there."""
        self._assume = self._assume or assume
        return self

    def poll_fails(self, peek: Peek) -> bool:
        """Tell whether a poll that is not repeated fails, as the answers say. Raises OpenError."""
        point, first, _ = peek
        truth = succeeds(point)
        answer = self.answers.get(truth)
        if answer is None:
            raise OpenError(truth, 1 << first, point)
        return not answer

    def apart(self) -> NamingDecider:
        """Return one that has no answers."""
        made = NamingDecider(self._threads, self._sizes.sizes, self.residues, self._sizes.signs)
        made._assume = self._assume
        return made

    def known(self, value: Value, threads: ThreadSet, point: int = -1) -> ThreadSet | None:
        if isinstance(value, int):
            return threads if value & 1 else 0
        if isinstance(value, np.ndarray):
            return set_of(value != 0) & threads
        narrow = self.named(value, threads)
        if not isinstance(narrow, Form):
            return None if narrow is None else self.known(narrow, threads)
        answer = self._answer(narrow, point)
        return None if answer is None else threads if answer else 0

    def decide(self, value: Form, threads: ThreadSet, point: int, stays: bool | None = None) -> ThreadSet:
        self._point = point
        known = self.known(value, threads, point)
        if known is None:
            self._ask_signs(value, threads, point)
            stated = self.made(self._stated(value), point)
            known = self.known(stated, threads, point)
            value = stated if isinstance(stated, Form) else value
        if known is None and value.differs and narrowed(value, threads, self._threads) is None:
            made = self.concrete(value, threads, point)
            known = self.known(made, threads, point)
            assert known is not None or isinstance(made, Form)
            value = made if isinstance(made, Form) else value
        if known is not None:
            return known
        named = self.named(value, threads)
        raise self.open(named if isinstance(named, Form) else value, threads, point)

    def open(self, truth: Form, threads: ThreadSet, point: int) -> OpenError:
        """Return what is asked first of a predicate: on which choices it depends, if it does."""
        choices = choices_in(truth) if may_be_unwritten(truth) else extremes_in(truth)
        truth = next((each for each in choices if self._answer(each, point) is None), truth)
        made = self._plain(truth)
        truth = made if isinstance(made, Form) else truth
        self.residues.ask(truth)
        untold = self.told.question(truth, point)
        if untold is not None:
            return OpenError(self._open_part(untold.truth, point), threads, point, untold.reason)
        part = self._open_part(truth, point)
        needed = self.told.needed_rest(part)
        is_open = needed is not None and self._answer(needed, point) is None
        return OpenError(needed if is_open and needed is not None else part, threads, point)

    def answer(self, truth: Form) -> bool | None:
        """Return what is known of a predicate that is one for all threads."""
        return self._answer(truth, self._point)

    def _stated(self, value: Value) -> Value:
        """Return a value with numbers for the bits that are known."""
        if self._assume is not None and self.residues.takes_for_natural(value, self._sign):
            self._assume(AssumptionKind.CUT, DIVIDED, self._point)
        return self.residues.stated(value, self._threads, self._sign)

    def _sign(self, form: Form) -> bool | None:
        """Tell whether a number is negative, None where that is not known."""
        if self._sizes.has(form):
            self._sizes.note(form, self._point, self._assume)
            return False
        negative = _is_negative(form)
        return self.answers.get(negative) if isinstance(negative, Form) else None

    def made(self, value: Value, point: int) -> Value:
        """Return a value with those choices made that the answers decide, if it is asked about them."""
        if not self.answers or not isinstance(value, Form):
            return value
        if not may_be_unwritten(value) and not any(extremes_in(value)):
            return value
        return Restated(lambda truth: self._answer(truth, point), self._threads, {}).of(value)

    def _ask_signs(self, value: Form, threads: ThreadSet, point: int) -> None:
        """Ask whether numbers are negative of which masks clear the sign. Raises OpenError, NotFollowedError.

        Rests of divisions are known of sizes alone.
        """
        for form in self.residues.of_open_rest(value, self._sign):
            if sizes_in(form) is not None:
                raise NotFollowedError("what is left of a division depends on the sign of a size", point)
            small = self.told.of_sign(form)
            if small is not None:
                raise OpenError(small.truth, threads, point, small.reason)
            negative = _is_negative(form)
            if isinstance(negative, Form):
                raise OpenError(negative, threads, point)
        for form in self.residues.of_open_sign(value):
            negative = _is_negative(form)
            if isinstance(negative, Form) and not self.is_positive(form) and negative not in self.answers:
                raise OpenError(negative, threads, point)

    def _ask_untold(self, value: Form, point: int, *, is_needed: bool = True) -> None:
        """Ask for residues that rounds were to tell. Raises OpenError, NotFollowedError."""
        untold = self.told.question(value, point, is_needed=is_needed)
        if untold is not None:
            raise OpenError(self._open_part(untold.truth, point), 1, point, untold.reason)

    def concrete(self, value: Value, threads: ThreadSet, point: int) -> Value:
        self._point = point
        if isinstance(value, Form):
            self._ask_signs(value, threads, point)
        value = self._stated(value)
        if (
            not isinstance(value, Form)
            or not has_choice(value)
            or is_pointer(value)
            or is_of_variables(value)
        ):
            return value

        def decide(truth: Form) -> bool | None:
            answer = self._answer(truth, point)
            if answer is not None or (keeps_variables and is_of_variables(truth)):
                return answer
            made = self.made(truth, point)
            answer = bool(made & 1) if isinstance(made, int) else None
            if answer is None and isinstance(made, Form):
                answer = self._answer(made, point)
            if answer is None:
                raise self.open(made if isinstance(made, Form) else truth, threads, point)
            return answer

        if is_predicate(value) and not value.differs:
            return value
        keeps_variables = bool(self.residues.told)
        found = rebuild(value, decide, self._threads)
        if keeps_variables and isinstance(found, Form) and not is_of_variables(found) and has_choice(found):
            keeps_variables = False
            found = rebuild(value, decide, self._threads)
        if isinstance(found, Form) and self.residues.told:  # of what is chosen
            self._ask_signs(found, threads, point)
            found = self._stated(found)
        return found

    def chosen(self, value: Value, threads: ThreadSet, point: int, *, needs_rest: bool) -> Value:
        """Return a value with numbers for what is known, and choices by numbers of the host made.

        `needs_rest`: it is asked for residues that rounds were to tell. Raises OpenError, NotFollowedError.
        """
        if not isinstance(value, Form):
            return value
        self._point = point
        self._ask_signs(value, threads, point)
        value = self._stated(value)
        if isinstance(value, Form):
            self._ask_untold(value, point, is_needed=needs_rest)
        conditions = list(host_conditions(value)) if isinstance(value, Form) else []
        for truth in conditions:
            self.decide(truth, threads, point)
        if not conditions or not isinstance(value, Form):
            return value
        return rebuild(value, lambda truth: self._answer(truth, point), self._threads)

    def _answer(self, truth: Form, point: int) -> bool | None:
        made = self._plain(truth)
        if not isinstance(made, Form):
            assert isinstance(made, int)
            return bool(made & 1)
        truth = made
        known = self.answers.get(truth)
        if known is None:
            opposite = negate(truth)
            other = self.answers.get(opposite) if isinstance(opposite, Form) else None
            known = None if other is None else not other
        if known is None and self.residues.here:
            needed = self.told.needed_rest(truth)
            if needed is not None and self._answer(needed, point) is False:
                return not condition_of(truth)[1]
        if known is None and not truth.differs:
            joined = junction(truth)
            if joined is not None:
                return joined.truth(self._answer(joined.one, point), self._answer(joined.other, point))
            known = self._in_range(truth, point)
        return known

    def _plain(self, truth: Form) -> Value:
        """Return a predicate in the form that answers are kept in: what is asked is what is looked up."""
        stated = self._stated(truth)
        return plain(stated) if isinstance(stated, Form) else stated

    def _in_range(self, truth: Form, point: int) -> bool | None:
        """Return an unsigned comparison by its two parts, None where they do not decide it."""
        parts = self._parts_of(truth)
        if parts is None:
            return None
        form, negative, below, positive = parts
        is_size = self._sizes.has(form)
        is_negative = False if is_size else self._answer(negative, point)
        found = False if is_negative else self._answer(below, point) if is_negative is False else None
        if found is not None and is_size:
            self._sizes.note(form, point, self._assume)
        return None if found is None else found == positive

    def _parts_of(self, truth: Form) -> tuple[Form, Form, Form, bool] | None:
        parts = _parts(truth)
        if parts is None or (condition_of(truth)[0].relation == "lt" and not self._sizes.has(parts[0])):
            return None  # a quotient is a name of its own where its number may be a large unsigned one
        return parts

    def _open_part(self, truth: Form, point: int) -> Form:
        """Return what is open of a predicate: one of its parts, where it has two."""
        joined = None if truth.differs else junction(truth)
        if joined is not None:
            is_known = self._answer(joined.one, point) is not None
            made = self._plain(joined.other if is_known else joined.one)
            return self._open_part(made, point) if isinstance(made, Form) else truth
        parts = None if truth.differs else self._parts_of(truth)
        if parts is None:
            return truth
        form, negative, below, _ = parts
        if self._sizes.has(form):
            self._sizes.note(form, point, self._assume)
            return below
        return negative if self._answer(negative, point) is None else below

    def named(self, value: Form, threads: ThreadSet) -> Value | None:
        """Return a value that is one in these threads, by a name that no other threads have for theirs; else None."""
        return named(value, threads, self._threads)

    def reduced(self, value: Value) -> Value:
        return self._stated(value)

    def single(self, value: Form, threads: ThreadSet) -> Value:
        narrow = narrowed(value, threads, self._threads)
        return self._stated(value if narrow is None else narrow)

    def placed(self, address: Value) -> Value:
        address = self._stated(address)
        if isinstance(address, Form):
            self.wanted = lcm(self.wanted, period(address))
        return address

    def settled(self, value: Form, point: int) -> Value:
        stated = self._stated(value)
        if isinstance(stated, Form):
            self.residues.ask(stated)
            self._ask_untold(stated, point)
            self.wanted = lcm(self.wanted, period(stated))
        return stated

    def parity(self, value: Form, point: int) -> Value:
        low = low_bit(value)
        return self.settled(low, point) if isinstance(low, Form) else low

    def is_positive(self, value: Form) -> bool:
        return is_never_negative(value)

    def halt_at(self, value: Form) -> None:
        return None


def _parts(truth: Form) -> tuple[Form, Form, Form, bool] | None:
    """Return the number of an unsigned comparison, that it is negative, that it is below, and whether that is asked.

    That a quotient is a number, or that one of unsigned numbers is below another number, is taken apart in the same
    way. None for every other predicate.
    """
    condition, positive = condition_of(truth)
    form, bound = condition.form, condition.bound
    if condition.relation == "lt":
        return _of_quotient(form, bound, positive)
    if condition.relation == "eq" and any(undivided(name, 1) is not None for name, _ in form.terms):
        form, bound = Form(form.terms, form.constant - bound), 1
    elif condition.relation != "below" or bound > _MOST_SIGNED:
        return None
    return _taken_apart(form, form, bound, positive)


def _of_quotient(form: Form, bound: int, positive: bool) -> tuple[Form, Form, Form, bool] | None:
    """Take apart that a quotient of unsigned numbers, and what else is in a form, is below a number."""
    for place, (name, factor) in enumerate(form.terms):
        divided = undivided_natural(name)
        if divided is None or factor not in (1, -1):
            continue
        dividend, divisor = divided
        others = (each for each, _ in form.terms if each != name)
        is_multiple = any(abs(k) != 1 for _, k in dividend.terms)
        if is_multiple and all(each.kind is Kind.ORDINAL for each in others):
            return None  # the quotient is a number that rounds are counted to, and its multiple is none
        rest = Form((*form.terms[:place], *form.terms[place + 1 :]), form.constant - bound)
        if factor < 0:  # q > -rest is what is not below -rest + 1
            rest, positive = (
                Form(tuple((each, -k) for each, k in rest.terms), -rest.constant - 1),
                not positive,
            )
        moved = plus(dividend, rest, divisor)
        return None if isinstance(moved, int) else _taken_apart(dividend, moved, 0, positive)
    return None


def _taken_apart(
    form: Form, compared: Form, bound: int, positive: bool
) -> tuple[Form, Form, Form, bool] | None:
    negative = _is_negative(form)
    if not isinstance(negative, Form):
        return None
    if compared == form and bound == _MOST_SIGNED:  # no signed number of 32 bits is that bound
        below = negate(negative)
    elif not -_MOST_SIGNED <= compared.constant - bound < _MOST_SIGNED:
        return None
    else:
        below = compare(".lt", compared, bound, _WORD, signed_operands=True)
    return (form, negative, below, positive) if isinstance(below, Form) else None


def _is_negative(form: Form) -> Value:
    return compare(".lt", form, 0, _WORD, signed_operands=True)
