"""Numbers that threads hand each other through shared memory: who else writes the bytes that were read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ptxcheck.protocols.actions import Access, Action, Protocol, Span, Strand, Transfer
from ptxcheck.protocols.handed_numbers import is_handed_on

WORD = Span(0, 64, 4)
LOAD, STORE = 7, 3
READ = Access(LOAD, reads=(WORD,))
WRITE = Access(STORE, writes=(WORD,))


def run_of(*actions: Action) -> Protocol:
    return Protocol((Strand(0, 0, 1, "warp 0", actions),), 1)


def test_what_the_stores_alone_write_is_handed_on() -> None:
    assert is_handed_on(run_of(WRITE, READ), LOAD, {STORE})
    assert is_handed_on(run_of(WRITE, READ, Access(4, writes=(Span(0, 68, 4),))), LOAD, {STORE})
    assert is_handed_on(run_of(WRITE, READ, Access(4, writes=(replace(WORD, cta=1),))), LOAD, {STORE})


@pytest.mark.parametrize(
    "other",
    [
        Access(4, writes=(Span(0, 66, 4),)),
        Access(4, writes=(Span(0, -1, 4, exact=False),)),
        Transfer(4, (), "bulk", writes=(Span(0, 0, 128),)),
    ],
    ids=["store", "store somewhere", "copy"],
)
def test_what_something_else_writes_is_not(other: Action) -> None:
    assert not is_handed_on(run_of(WRITE, READ, other), LOAD, {STORE})


def test_a_load_that_is_not_followed_shows_nothing() -> None:
    assert not is_handed_on(run_of(WRITE), LOAD, {STORE})
    assert not is_handed_on(run_of(WRITE, Access(LOAD, reads=(replace(WORD, start=-1),))), LOAD, {STORE})
