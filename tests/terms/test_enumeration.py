"""Claims decided by trying numbers: as every number one by one decides them, and as little as is known allows."""

from __future__ import annotations

import random
from itertools import product

import pytest

from ptxcheck.terms.bit_pool import Pool
from ptxcheck.terms.bitvectors import Bits, Kind, in_order
from ptxcheck.terms.enumeration import Never, enumerated
from ptxcheck.terms.smt import BitVectorSolver

from .test_bitvectors import EFFORT, WIDTH, random_term, value


def _claims(pool: Pool, seed: int, leaves: list[Bits]) -> list[Bits]:
    chosen = random.Random(seed)
    terms = [random_term(pool, chosen, leaves, 3) for _ in range(4)]
    first = pool.eq(terms[0], terms[1])
    second = pool.slt(terms[2], terms[3]) if seed % 2 else pool.ult(terms[2], terms[3])
    return [first if seed % 3 else pool.not_(first), second]


@pytest.mark.parametrize("seed", range(40))
def test_what_few_numbers_decide(seed: int) -> None:
    pool = Pool()
    x, y = pool.variable("x", WIDTH, 3, 18), pool.variable("y", WIDTH, 0, 12)
    claims = _claims(pool, seed, [x, y])
    found = enumerated(claims, claims)
    if found is None:
        signed = (Kind.SDIV, Kind.SREM)
        assert any(term.kind in signed for term in in_order(*claims)) or not {x, y} & {*in_order(*claims)}
        return
    pairs = product(range(3, 19), range(13))
    holds = [(a, b) for a, b in pairs if all(value(claim, {x: a, y: b}) for claim in claims)]
    if found is Never.NEVER:
        assert not holds
    else:
        assert (found.get(x, 3), found.get(y, 0)) in holds
        assert all(found[claim] for claim in claims)


@pytest.mark.parametrize("seed", range(40))
def test_a_variable_of_many_numbers_is_left_open(seed: int) -> None:
    """What is decided all the same, the solver decides alike."""
    pool = Pool()
    x, many = pool.variable("x", WIDTH, 3, 18), pool.variable("many", 32)
    claims = _claims(pool, seed, [x, pool.extract(many, 0, WIDTH)])
    found = enumerated(claims, claims)
    solver = BitVectorSolver()
    solver.assume(pool.bounds(x))
    if found is Never.NEVER:
        assert solver.numbers(claims, [], EFFORT) is None
    elif found is not None:
        numbers = {x: found.get(x, 3), many: found.get(many, 0)}
        assert all(value(claim, numbers) for claim in claims)


def test_threads_apart_by_words_never_meet() -> None:
    pool = Pool()
    one, two, data = (
        pool.variable("one", 32, 0, 255),
        pool.variable("two", 32, 0, 255),
        pool.variable("d", 32),
    )
    meet = pool.eq(pool.and_(one, pool.number(252, 32)), pool.and_(two, pool.number(252, 32)))
    apart = pool.not_(pool.eq(pool.lshr(one, pool.number(2, 32)), pool.lshr(two, pool.number(2, 32))))
    guard = pool.ult(data, pool.number(7, 32))
    assert enumerated([meet, apart, guard], []) is Never.NEVER
    found = enumerated([meet, pool.not_(pool.eq(one, two)), guard], [])
    assert isinstance(found, dict)
    assert found[one] >> 2 == found[two] >> 2 and found[one] != found[two] and found[data] < 7  # noqa: PT018
