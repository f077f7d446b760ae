"""Names of decisions: what roles ask, in a form in which the same question has the same name.

Property: two askers with one name, at one place of the loops around, ask for the truth of one predicate.

Argument: a predicate is a condition on a linear form. Ordinals of loops are numbers for each asker, so what is left
is a form over what the host passes: its primitive part is the *direction*, and the question is whether it is below a
threshold, or equal to a number. Predicates on what threads have found themselves (results of instructions, what loops
widened) are asked by one group of threads at one node, and have that as their name; so are predicates that rounds
tell of in another way than by a threshold.

Not covered: a size that two loops one after the other are left by is a direction for each; so is one of an inner loop
in each round of the outer one: there is more freedom than the kernel has. A size with a constant added is compared as
an integer: who asks is told (`changes`), as it may wrap around at the end of its range."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd
from typing import TypeAlias

from ..automata.naming_decider import succeeds
from ..automata.nodes import Node, Question
from ..automata.quotients import undivided, undivided_truncated
from ..automata.received_values import is_received
from ..automata.round_names import OF_ROUND, ordinal, ordinals_in
from ..automata.variables import is_of_variables
from ..symex.values.comparison_marks import Change, changes_of
from ..symex.values.kinds import Kind
from ..symex.values.lane_arithmetic import condition_of, negate
from ..symex.values.recurrent_arithmetic import COUNTED
from ..symex.values.substitution import with_pins
from ..symex.values.symbol import FROM_SHARED, Atom, Form, atom, children
from ..symex.values.traversal import walk
from ..symex.values.value_ranges import interval_of
from .intervals import Interval

Terms: TypeAlias = tuple[tuple[Atom, int], ...]
_OF_LOOPS = frozenset({Kind.LOOP, Kind.LOOP_SHARED, Kind.LOOP_GLOBAL, Kind.LOOP_MEMORY})
"""What a loop has computed that is not followed, perhaps from what was read from shared memory in front of it."""
_ROUNDS = "rounds"
_HALF = 1 << 31
_MOST_ROUNDS = 24
"""The largest number of the text that rounds are told apart by: each one of them is a state."""
_OF_GROUP = OF_ROUND | {Kind.WIDENED, Kind.LANES, Kind.OPERAND}


@dataclass(frozen=True, slots=True)
class Below:
    """`direction < threshold` (or its negation): the threshold grows by a slope with each round of a loop."""

    terms: Terms
    constant: int
    """Threshold in the first rounds of all loops."""
    slopes: tuple[tuple[int, int], ...]
    """Header of each loop, and by how much the threshold grows in each of its rounds."""
    positive: bool
    equal: bool = False
    """It asks whether the direction is the threshold."""
    is_plain: bool = True
    """It is on one size itself, by steps of one: what is compared does not wrap around where the size does not."""
    changes: Change = Change.NONE
    """What is done to the direction before it is compared."""
    held: tuple[int, ...] = ()
    """Headers of loops around of which each round has a direction of its own, outermost first."""

    def threshold(self, ordinals: Mapping[int, int]) -> int:
        return self.constant + sum(slope * ordinals[header] for header, slope in self.slopes)

    def truth_in(self, known: Interval, threshold: int) -> bool | None:
        """Return the answer for a threshold that what is known of the direction implies, None where it is open."""
        truth = known.is_equal(threshold) if self.equal else known.is_below(threshold)
        return None if truth is None else truth == self.positive

    def narrowed(self, known: Interval, threshold: int, answer: bool) -> Interval:
        """Return what is known of the direction behind an answer."""
        holds = answer == self.positive
        return known.with_equal(threshold, holds) if self.equal else known.with_below(threshold, holds)


@dataclass(frozen=True, slots=True)
class Named:
    """A predicate that is named by its text, with the ordinals in it."""

    truth: Form
    ordinals: tuple[int, ...]
    """Headers of the loops whose ordinals are in it."""
    positive: bool = True
    """Whether that is asked, or its negation: both have one name."""


@dataclass(frozen=True, slots=True)
class Free:
    """A predicate of one group of threads."""


@dataclass(frozen=True, slots=True)
class OfReceived:
    """A predicate on values that its thread has received: who holds the same values has the same answer."""

    truth: Form


@dataclass(frozen=True, slots=True)
class Polled:
    """That a poll finds its phase complete: each strand has an answer of its own, each time."""


@dataclass(frozen=True, slots=True)
class OfStrand:
    """A predicate on what was made of a value in shared memory: each strand has an answer of its own, each time."""


@dataclass(frozen=True, slots=True)
class OfVariables:
    """A predicate on variables, which are numbers for each strand."""


Asked: TypeAlias = Below | Named | OfReceived | OfStrand | OfVariables | Polled | Free | bool


def round_number(terms: Terms) -> int | None:
    """Return the number of the text that rounds are compared with by a direction; None for any other direction.

    None, too, for a large one: no state knows it then, so that states are alike up to the rounds before.
    """
    name = terms[0][0] if len(terms) == 1 else None
    if name is None or name.kind is not Kind.CONSTANT or name[1] != _ROUNDS:
        return None
    number = name[2]
    return number if isinstance(number, int) and number <= _MOST_ROUNDS else None


def classified(
    node: Node, modulus: int, of_shared: Collection[Atom] = (), entered_again: Collection[int] = ()
) -> Asked:
    """Return what a node asks; symbols of `of_shared` are computed from what threads have read from shared memory.

    Of what is held at the headers `entered_again`, ordinals do not tell in which round.
    """
    question = node.question
    assert question is not None
    residues = dict(zip(node.loops, node.residues, strict=True))
    if question.truth == succeeds(question.point):
        return Polled()
    if is_of_variables(question.truth):
        return OfVariables()
    of_group = [each for each in walk(question.truth.terms) if each.inner_kind in _OF_GROUP]
    if of_group:
        is_of_received = all(map(is_received, of_group)) and not any(ordinals_in(question.truth))
        if is_of_received:
            return OfReceived(question.truth)
        is_own = (
            question.truth.origin & FROM_SHARED
            or not {*of_group}.isdisjoint(of_shared)
            or any(each.inner_kind in _OF_LOOPS for each in of_group)
        )
        if is_own:
            return OfStrand()
        is_held = all(
            each.inner_kind is Kind.WIDENED and each.inner[1] not in entered_again for each in of_group
        )
        asked = _below(question, residues, modulus) if is_held else None
        is_direction = isinstance(asked, Below) and asked.held
        return replace(asked, is_plain=False) if is_direction and isinstance(asked, Below) else Free()
    found = _below(question, residues, modulus)
    if found is not None:
        return found
    headers = {int(str(name[1])) for name in ordinals_in(question.truth)}
    if headers - residues.keys() or not all(_counts_in_addresses(name) for name, _ in question.truth.terms):
        return Free()
    _, positive = condition_of(question.truth)
    negated = None if positive else negate(question.truth)
    truth = negated if isinstance(negated, Form) else question.truth
    return Named(truth, tuple(sorted(headers)), positive=not isinstance(negated, Form))


def instantiated(
    named: Named, residues: Mapping[int, int], ordinals: Mapping[int, int], modulus: int, threads: int
) -> Hashable:
    """Return the name of a predicate for ordinals of loops: a truth where that is a number."""
    pins = {
        ordinal(header).terms[0][0]: (ordinals[header] - residues[header]) // modulus
        for header in named.ordinals
    }
    if not pins:
        return named.truth
    found = with_pins(named.truth, pins, threads)
    assert isinstance(found, int | Form)
    return bool(found & 1) if isinstance(found, int) else found


def _below(question: Question, residues: Mapping[int, int], modulus: int) -> Below | bool | None:
    condition, positive = condition_of(question.truth)
    if condition.relation == "below":
        return None
    split = _split(condition.form, residues, modulus)
    if split is None:
        return None
    terms, constant, rates, held = split
    loops = list(residues)
    if held and any(loops.index(header) <= loops.index(held[-1]) for header in rates):
        return None
    bound = condition.bound - constant
    if not terms and rates:
        terms, bound = [(atom(Kind.CONSTANT, _ROUNDS, bound).terms[0][0], -1)], 0
    scale = gcd(*(factor for _, factor in terms)) if terms else 1
    if terms and terms[0][1] < 0:
        scale = -scale
    primitive = tuple((name, factor // scale) for name, factor in terms)
    if abs(scale) != 1 and not _fits(primitive, scale, rates):
        return None
    slopes = tuple(sorted((header, -rate // scale) for header, rate in rates.items()))
    is_plain = len(terms) == 1 and abs(scale) == 1 and all(abs(slope) == 1 for _, slope in slopes)
    if condition.relation in ("eq", "ne"):
        is_equal = positive == (condition.relation == "eq")
        if bound % scale:
            return not is_equal
        is_plain = is_plain and not _changes_in(question.truth)
        return Below(primitive, bound // scale, slopes, is_equal, True, is_plain, held=held)
    changes = _changes_in(question.truth)
    is_plain = is_plain and not changes & Change.RAISED
    # scale * direction + ordinals < bound
    if scale > 0:
        return Below(primitive, -(-bound // scale), slopes, positive, False, is_plain, changes, held)
    # direction > bound / scale, that is, not below the next integer
    return Below(primitive, bound // scale + 1, slopes, not positive, False, is_plain, changes, held)


def _changes_in(truth: Form) -> Change:
    """Return what is done to symbols in the order that a predicate is, or the negation of which it is."""
    return next((changes_of(name) for name in walk(truth.terms) if name.inner_kind is Kind.CMP), Change.NONE)


def _fits(primitive: Terms, scale: int, rates: Mapping[int, int]) -> bool:
    """Tell whether a multiple of a direction does not wrap around by itself, and rounds count in steps of the multiple.

    One that wraps around is another question than the number itself. What is added to it is not known here.
    """
    ends = interval_of(Form(primitive), 0, 0)
    is_small = ends is not None and max(map(abs, ends)) * abs(scale) < _HALF
    return is_small and all(rate % scale == 0 for rate in rates.values())


def related(questions: Iterable[Below]) -> frozenset[Terms]:
    """Return the quotients that have to be asked of as what is divided: something else is asked of that, too.

    Of a quotient that all ask of, nothing has to be known: not even whether what is divided wraps around.
    """
    dividends: dict[Terms, set[Terms]] = {}
    for asked in questions:
        divided = undivided_question(asked)
        dividends.setdefault(divided.terms, set()).add(asked.terms)
    return frozenset(terms for every in dividends.values() if len(every) > 1 for terms in every)


def undivided_question(asked: Below) -> Below:
    """Return a question about a quotient as one about what is divided."""
    if asked.equal or len(asked.terms) != 1 or asked.terms[0][1] != 1:
        return asked
    least = asked.constant if all(slope >= 0 for _, slope in asked.slopes) else -(1 << 62)
    found = undivided(asked.terms[0][0], least)
    is_negative = found is None and not asked.slopes and asked.constant <= 0
    if is_negative:
        found = undivided_truncated(asked.terms[0][0])
    if found is None:
        return asked
    dividend, divisor = found
    if any(each.kind is Kind.ORDINAL for each, _ in dividend.terms) or [f for _, f in dividend.terms] != [1]:
        return asked
    slopes = tuple((header, divisor * slope) for header, slope in asked.slopes)
    threshold = divisor * (asked.constant - 1) + 1 if is_negative else divisor * asked.constant
    constant = threshold - dividend.constant
    return Below(dividend.terms, constant, slopes, asked.positive, False, is_plain=False, held=asked.held)


def _split(
    form: Form, residues: Mapping[int, int], modulus: int
) -> tuple[list[tuple[Atom, int]], int, dict[int, int], tuple[int, ...]] | None:
    """Return a form as terms, a constant, and the factors of ordinals of loops; None for another form.

    And the loops, outermost first, of which each round has terms of its own.
    """
    terms: list[tuple[Atom, int]] = []
    constant, rates = form.constant, dict[int, int]()
    held: set[int] = set()
    for name, factor in form.terms:
        if name.kind is Kind.ORDINAL:
            header = int(str(name[1]))
            if header not in residues or factor % modulus:
                return None
            rates[header] = factor // modulus
            constant -= factor // modulus * residues[header]
        else:
            rounds = _rounds_in(name, list(residues))
            if rounds is None:
                return None
            held |= rounds
            terms.append((name, factor))
    return terms, constant, rates, tuple(header for header in residues if header in held)


def _rounds_in(name: Atom, loops: Sequence[int]) -> frozenset[int] | None:
    """Return the headers of the loops whose rounds have another number each for what an atom stands for.

    None where it is no number that threads hold for a round of those loops.
    """
    outside = walk(name, lambda each: each.inner_kind is not Kind.LOAD)
    if any(each.inner_kind is Kind.ORDINAL for each in outside):
        return None
    counted = [each for each in walk(name) if each.inner_kind in COUNTED]
    found = frozenset(int(str(each.inner[1])) for each in counted)
    if any(each.differs for each in counted) or not found.issubset(loops):
        return None
    return found


def _counts_in_addresses(name: Atom) -> bool:
    """Tell whether ordinals stand only inside addresses of what is loaded, or are multiplied by a symbol.

    Of such an atom rounds tell nothing else.
    """
    if name.inner_kind is Kind.LOAD:
        return True
    if name.inner_kind is Kind.MUL:
        return all(each.kind is Kind.ORDINAL or _counts_in_addresses(each) for each in children(name.inner))
    return name.inner_kind not in COUNTED and all(map(_counts_in_addresses, children(name.inner)))
