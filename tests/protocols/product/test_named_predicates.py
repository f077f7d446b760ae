"""A predicate that only its text names, and its negation, are one decision; what is left of a bound with residues."""

from __future__ import annotations

import pytest

from benchmarks.mutation.judge import launched
from ptxcheck.protocols.automata.known_residues import Residue
from ptxcheck.protocols.product.congruences import congruence_of
from ptxcheck.protocols.product.for_all import Open, Shown
from ptxcheck.protocols.product.intervals import Interval
from ptxcheck.protocols.product.sizes import empty_sizes
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.symbol import atom
from ptxcheck.protocols.verify import shown_for_every_count
from ptxcheck.source import Source
from tests.protocols.machine_runs import kernel

TEXT = """
mov.u32 %r1, smem; mov.u32 %r2, %tid.x; ld.param.u32 %r3, [n]; mov.u32 %r4, %nctaid.x; mov.u32 %r5, %ctaid.x;
setp.ge.s32 %p1, %r5, %r3; @%p1 bra DONE;
setp.ge.u32 %p2, %r2, 32; @%p2 bra OTHER;
ONE: barrier.sync 1, 64; add.u32 %r5, %r5, %r4; setp.{first}.s32 %p3, %r5, %r3; {one} bra ONE;
bra DONE;
OTHER: barrier.sync 1, 64; add.u32 %r5, %r5, %r4; setp.{second}.s32 %p3, %r5, %r3; {other} bra OTHER;
DONE:
"""
"""Two warps go through the tiles of a grid, and meet in each."""


def shown(first: str, one: str, second: str, other: str) -> Shown | Open:
    text = kernel(TEXT.format(first=first, one=one, second=second, other=other), threads=64)
    return shown_for_every_count(*launched(Source("k.ptx", text), "k"), seconds=6.0)


@pytest.mark.parametrize(
    ("second", "other"), [("lt", "@%p3"), ("ge", "@!%p3"), ("ge", "not.pred %p3, %p3; @%p3")]
)
def test_a_predicate_and_its_negation_are_one(second: str, other: str) -> None:
    assert isinstance(shown("lt", "@%p3", second, other), Shown)


@pytest.mark.parametrize(
    ("second", "other"), [("le", "@%p3"), ("gt", "@!%p3"), ("ge", "@%p3"), ("lt", "@!%p3")]
)
def test_another_predicate_is_another_decision(second: str, other: str) -> None:
    assert isinstance(shown("lt", "@%p3", second, other), Open)


def test_a_size_is_empty_where_its_residue_leaves_nothing_else() -> None:
    terms = atom(Kind.PARAM, "n", 0, 4).terms
    congruence = congruence_of(terms, {terms[0][0]: Residue(6, 0)})
    assert congruence is not None
    assert empty_sizes([(terms, Interval(None, 2))], {}) == frozenset()
    assert empty_sizes([(terms, Interval(None, 2))], {terms: congruence}) == {terms[0][0]}
    assert empty_sizes([(terms, Interval(None, 6))], {terms: congruence}) == frozenset()


FAR = """
mov.u32 %r1, smem; mov.u32 %r2, %tid.x; ld.param.u32 %r3, [n]; mov.u32 %r5, 0;
setp.ne.u32 %p1, %r2, 0; @%p1 bra READY; mbarrier.init.shared.b64 [%r1], 1;
READY: bar.sync 0;
setp.ge.u32 %p2, %r2, 32; @%p2 bra OTHER;
ONE: setp.ge.s32 %p3, %r5, %r3; @%p3 bra DONE;
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p8, [%r1], 0; @!%p8 bra WAIT;
add.u32 %r5, %r5, 1; bra ONE;
OTHER: ld.param.u32 %r4, [m];
GOES: setp.ge.s32 %p3, %r5, %r4; @%p3 bra LAST; add.u32 %r5, %r5, 1; bra GOES;
LAST: {last}
DONE:
"""


def test_nobody_is_taken_to_wait_for_ever_where_another_one_comes() -> None:
    comes = "setp.ne.u32 %p1, %r2, 32; @%p1 bra DONE; mbarrier.arrive.shared::cta.b64 _, [%r1];"
    for last, kind in ((comes, Shown), ("", Open)):
        text = kernel(FAR.format(last=last), threads=64)
        found = shown_for_every_count(*launched(Source("k.ptx", text), "k"), seconds=6.0)
        assert isinstance(found, kind)
