"""Accesses that are told apart without a solver, held to all pairs of threads and all numbers of what is loaded."""

from __future__ import annotations

from itertools import product

import pytest

from ptxcheck.protocols.races.disjoint import are_apart
from ptxcheck.protocols.races.geometry import Geometry
from ptxcheck.terms.bit_pool import Pool

_THREADS = 4
_LOADED = 3
"""Bits of what each thread loads."""


def _meet(one: tuple[int, int, int, int], two: tuple[int, int, int, int], sizes: tuple[int, int]) -> bool:
    """Compare all bytes of two accesses `(by thread, by low bits, by high bits, start)`, for all that may be loaded."""
    loaded = range(1 << _LOADED)
    for x, y, mine, its in product(range(_THREADS), range(_THREADS), loaded, loaded):
        if x == y:
            continue
        a = one[0] * x + one[1] * (mine & 1) + one[2] * (mine >> 1) + one[3]
        b = two[0] * y + two[1] * (its & 1) + two[2] * (its >> 1) + two[3]
        if not {(a + i) % 2**32 for i in range(sizes[0])}.isdisjoint(
            (b + i) % 2**32 for i in range(sizes[1])
        ):
            return True
    return False


def _are_apart(
    one: tuple[int, int, int, int], two: tuple[int, int, int, int], sizes: tuple[int, int]
) -> bool:
    pool = Pool()
    geometry = Geometry((_THREADS, 1, 1))
    indices = (geometry.thread(pool, 1), geometry.thread(pool, 2))
    addresses = []
    for number, (factors, index) in enumerate(zip((one, two), indices, strict=True)):
        loaded = pool.variable(f"loaded~{number}", 32, 0, (1 << _LOADED) - 1)
        low, high = pool.and_(loaded, pool.number(1, 32)), pool.lshr(loaded, pool.number(1, 32))
        address = pool.number(factors[3], 32)
        for factor, term in zip(factors, (index.axes[0], low, high), strict=False):
            address = pool.add(address, pool.times(term, factor))
        addresses.append(address)
    return are_apart(pool.sub(*addresses), max(sizes), ({}, {}), *indices)


_WORD = (4, 0, 0, 0)
_COUNTERS = (4, 2, 64, 0)
APART = {
    "words": (_WORD, _WORD, (4, 4)),
    "words of rows": ((4, 0, 64, 0), (4, 0, 64, 0), (4, 4)),
    "words of other rows": ((4, 0, 0, 64), (4, 0, 64, 0), (4, 2)),
    "backwards": ((-4, 0, 64, 0), (-4, 0, 64, 128), (2, 2)),
}  # fmt: skip
MEETING = {
    "bytes beyond the word": (_WORD, _WORD, (8, 4)),
    "halves of the next word": ((4, 4, 0, 0), _WORD, (2, 4)),
    "rows that are too short": ((4, 0, 8, 0), (4, 0, 8, 0), (4, 4)),
    "a start within the next word": ((4, 0, 0, 2), _WORD, (4, 4)),
    "one half too far": ((4, 2, 64, 2), _COUNTERS, (2, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", APART)
def test_accesses_that_stay_in_what_is_the_thread_s(name: str) -> None:
    assert not _meet(*APART[name])
    assert _are_apart(*APART[name])


@pytest.mark.parametrize("name", MEETING)
def test_accesses_that_reach_into_what_is_another_thread_s(name: str) -> None:
    assert _meet(*MEETING[name])
    assert not _are_apart(*MEETING[name])


def test_nothing_is_told_apart_that_meets() -> None:
    told = 0
    factors = product((4, -8), (0, 2, -2, 4), (0, 8, 32, -64), (0, 2, -2, 6, 64))
    for by_thread, low, high, start in factors:
        for sizes in ((2, 2), (4, 2), (2, 4), (8, 2)):
            one, two = (by_thread, low, high, start), (by_thread, -low, high, 0)
            if _are_apart(one, two, sizes):
                told += 1
                assert not _meet(one, two, sizes), (one, two, sizes)
    assert told
