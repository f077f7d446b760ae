"""What a thread has met when it is in a round of a loop: the branch back, at the end of the round before.

Property: `has_gone_round(terms, loop, context)` holds whenever the thread is in the loop, in the round that the context
names.

Argument: it is the first round, or the thread went back at the end of the round before, and of the first one. What
decides that is the term of the branch in these rounds: all else in it has to be the same in each round of the loop, or
nothing is said.

Not covered: the rounds between, so that a number may wrap in them; loops with several branches back, and branches that
numbers decide which no round gives.
"""

from __future__ import annotations

from ...cfg import Loop
from ...terms.bitvectors import Bits, Kind, in_order, variables_of
from .passages import Context, Round
from .thread_terms import MADE_AT, ROUNDS, ThreadTerms

_OPEN = frozenset({Round.ANY, Round.HELD})


def has_gone_round(terms: ThreadTerms, loop: Loop, context: Context) -> Bits:
    """Return what holds of a thread in a round of a loop."""
    pool, kernel = terms.pool, terms.kernel
    passage = context.of(loop.index)
    back = [
        edge for latch in loop.latches for edge in kernel.cfg.edges_from(latch) if edge.target == loop.header
    ]
    if passage is None or passage.round not in _OPEN or len(back) != 1:
        return pool.true
    goes_back, rounds = terms.taken(back[0], context), terms.rounds(loop, context)
    if rounds.constant is not None:
        return pool.true
    around = {terms.rounds(each, context) for each in kernel.cfg.loops_around(loop.header)}
    variables = variables_of(goes_back)
    if not all(each in around or _is_fixed(each) for each in variables):
        return pool.true
    zero, one = pool.number(0, rounds.width), pool.number(1, rounds.width)
    before = pool.variable(f"before {rounds.name}", rounds.width, 0, rounds.high - 1)
    first, last = (_in_round(terms, goes_back, rounds, each) for each in (zero, before))
    last = pool.both(last, pool.eq(rounds, pool.add(before, one)))
    return pool.either(pool.eq(rounds, zero), pool.both(first, last))


def _is_fixed(variable: Bits) -> bool:
    """Tell whether a variable is the same all the time: a parameter, or a place in the block or the grid."""
    return MADE_AT not in variable.name and not variable.name.startswith(ROUNDS)


def _in_round(terms: ThreadTerms, term: Bits, rounds: Bits, number: Bits) -> Bits:
    """Return a term in another round, whose number is within the bounds of all rounds: those of the term stay right."""
    pool = terms.pool
    its: dict[Bits, Bits] = {rounds: number}
    for each in in_order(term):
        if each in its:
            continue
        parts = tuple(its[part] for part in each.parts)
        if each.kind is Kind.SUM and parts != each.parts:
            found = pool.number(each.number, each.width)
            for part, factor in zip(parts, each.factors, strict=True):
                found = pool.add(found, pool.times(part, factor))
            its[each] = found
        else:
            its[each] = pool.copied(each, parts)
    return its[term]
