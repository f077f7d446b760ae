"""Parameters with which threads may come to where they are stuck: a run with them decides.

Property: no verdict rests on the numbers. A run is made with them, and what goes wrong is told of that run.

Argument: a direction that is a lone parameter is asked for an example. Where others are known, such as a quotient,
the solver is given all as claims, and numbers are chosen one after the other, above zero if possible.

Not covered: what has been dropped as nobody can ask it again, predicates on rounds, residues beside quotients.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...terms.effort import Effort
from ..automata.quotients import undivided
from ..symex.values.kinds import Kind
from ..symex.values.lane_arithmetic import condition_of
from ..symex.values.solver import SolverOracle
from ..symex.values.substitution import leaves
from ..symex.values.symbol import Atom, Condition, Form
from .congruences import Congruence
from .intervals import ANYTHING, Interval
from .questions import Terms

Claims = Sequence[tuple[Condition, bool]]


def sizes_of(
    known: Iterable[tuple[Terms, Interval]],
    answers: Iterable[tuple[Form, bool]],
    congruences: Mapping[Terms, Congruence],
    effort: Effort,
) -> dict[Atom, int]:
    """Return numbers for parameters; none where there are none, or one would be negative.

    `answers` are predicates with their truths, and `congruences` the residues that directions are known to have.
    """
    intervals: dict[Terms, Interval] = {}
    for terms, interval in known:
        intervals[terms] = interval.within(intervals.get(terms, ANYTHING))
    found = _examples(intervals, congruences)
    of_answers = [*_decided(answers)]
    if of_answers or not all(_parameter(terms) for terms in intervals):
        of_directions = [claim for each in intervals.items() for claim in _claims(*each)]
        found = _solved([*of_directions, *of_answers], effort) or _solved(of_directions, effort) or found
    return found if all(number >= 0 for number in found.values()) else {}


def empty_sizes(
    known: Iterable[tuple[Terms, Interval]], congruences: Mapping[Terms, Congruence]
) -> frozenset[Atom]:
    """Return the parameters that are known not to be above zero, and perhaps are zero."""

    def most(terms: Terms, interval: Interval) -> int | None:
        congruence = congruences.get(terms)
        return (interval if congruence is None else congruence.tightened(interval)).high

    found = (_undivided(terms, most(terms, interval)) for terms, interval in known)
    return frozenset(name for terms, high in found if (name := _parameter(terms)) is not None and high == 0)


def _undivided(terms: Terms, high: int | None) -> tuple[Terms, int | None]:
    """Return what is divided, and the most that it is, for a quotient and the most that that is."""
    quotient = undivided(terms[0][0], high + 1) if terms == ((terms[0][0], 1),) and high is not None else None
    if quotient is None or high is None:
        return terms, high
    dividend, divisor = quotient
    return dividend.terms, divisor * (high + 1) - dividend.constant - 1


def _decided(answers: Iterable[tuple[Form, bool]]) -> Iterator[tuple[Condition, bool]]:
    for predicate, truth in answers:
        condition, is_positive = condition_of(predicate)
        yield condition, truth == is_positive


def _parameter(terms: Terms) -> Atom | None:
    """Return the parameter that a direction is, None for another one."""
    return terms[0][0] if len(terms) == 1 and terms[0][1] == 1 and terms[0][0].kind is Kind.PARAM else None


def _examples(
    intervals: Mapping[Terms, Interval], congruences: Mapping[Terms, Congruence]
) -> dict[Atom, int]:
    found: dict[Atom, int] = {}
    for terms, interval in intervals.items():
        name, number = _parameter(terms), _example(congruences.get(terms), interval)
        if name is not None and number is not None:
            found[name] = number
    return found


def _example(congruence: Congruence | None, known: Interval) -> int | None:
    """Return a number of an interval, one that is not negative where there is one."""
    natural = None if congruence is None else congruence.tightened(known.within(Interval(0)))
    return known.example if natural is None or natural.is_empty else natural.example


def _claims(terms: Terms, known: Interval) -> Iterator[tuple[Condition, bool]]:
    form = Form(terms)
    if known.low is not None:
        yield Condition("lt", form, known.low), False
    if known.high is not None:
        yield Condition("lt", form, known.high + 1), True
    for number in sorted(known.excluded):
        yield Condition("eq", form, number), False


def _solved(claims: Claims, effort: Effort) -> dict[Atom, int]:
    oracle = SolverOracle(effort)
    named = dict.fromkeys(name for condition, _ in claims for name in leaves(condition.form))
    given, found = list(claims), dict[Atom, int]()
    for name in (each for each in named if each.kind is Kind.PARAM):
        number = oracle.positive(name, given)
        if number is None:
            return {}
        found[name] = number
        given.append((Condition("eq", Form(((name, 1),)), number), True))
    return found
