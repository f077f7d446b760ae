"""Values that a run took for what roles read: those that one schedule can read."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ptxcheck.cfg import build
from ptxcheck.launches.hints import from_directives
from ptxcheck.parser import parse_module
from ptxcheck.protocols.model.actions import (
    Access,
    Action,
    Protocol,
    Span,
    Strand,
    Transfer,
)
from ptxcheck.protocols.model.outcome import Step
from ptxcheck.protocols.proof.first.read_values import Answers, Path, are_possible
from ptxcheck.protocols.symex.values.symbol import Atom, Condition, Form
from ptxcheck.protocols.symex.values.trace import Shape, Trace
from ptxcheck.protocols.verify import verify
from ptxcheck.source import Source
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel

WORD = Span(0, 64, 16)
ASK, LOAD, STORE, TEST = 3, 7, 9, "is-canceled"
ASKED = Transfer(ASK, (), writes=(WORD,))
READ = Access(LOAD, reads=(WORD,))
ANSWERS = Answers(frozenset({ASK}), frozenset({TEST}))


def answer(visit: int) -> Atom:
    return Atom(("shared", WORD.start, 128, visit))


def decided(*answers: tuple[int, bool]) -> Path:
    """Return a path that decides whether there was work, by the number of the read."""
    return compared(*((Atom((TEST, 0, answer(visit))), truth) for visit, truth in answers))


def compared(*read: tuple[Atom, bool]) -> Path:
    """Return a path that compares what was read with one."""
    return [(Condition("eq", Form(((atom, 1),)), 1), truth) for atom, truth in read]


def can_read(order: Sequence[tuple[int, int]], path: Path, *roles: Sequence[Action]) -> bool:
    """Judge a schedule of strands, given as pairs of strand and action; each read of a strand is its next visit."""
    strands, events, loaded = [], 0, dict[int, tuple[Atom, ...]]()
    for warp, actions in enumerate(roles):
        numbers = tuple(range(events, events + len(actions)))
        events += len(actions)
        reads = [number for number, action in zip(numbers, actions, strict=True) if action is READ]
        loaded.update({number: (answer(visit),) for visit, number in enumerate(reads)})
        strands.append(Strand(0, warp, 1, f"warp {warp}", tuple(actions), numbers))
    trace = Trace(0, Shape((64, 1, 1)), (), (), (), loaded)
    steps = [Step(strand, index, None) for strand, index in order]
    protocol = Protocol(tuple(strands), len(strands))
    return are_possible(protocol, steps, [trace], path, ANSWERS, lambda _: True)


TWICE = ((ASKED, READ, ASKED, READ), (READ, READ))
IN_TURN = [(0, 0), (0, 1), (1, 0), (0, 2), (0, 3), (1, 1)]


def test_each_read_of_a_role_is_of_one_answer() -> None:
    assert can_read(IN_TURN, decided((0, True), (1, False)), *TWICE)


def test_a_role_that_is_late_reads_another_answer() -> None:
    late = [(0, 0), (0, 1), (0, 2), (1, 0), (0, 3), (1, 1)]
    assert not can_read(late, decided((0, True), (1, False)), *TWICE)


def test_two_reads_of_one_answer_agree() -> None:
    once = ((ASKED, READ, READ),)
    order = [(0, 0), (0, 1), (0, 2)]
    assert can_read(order, decided((0, True), (1, True)), *once)
    assert not can_read(order, decided((0, True), (1, False)), *once)


def test_copies_of_unknown_extent_stay_in_their_slots() -> None:
    apart, inside = (Transfer(11, (), writes=(Span(0, at, 16, exact=False),)) for at in (128, 72))
    order = [(0, 0), (0, 1), (0, 2)]
    assert can_read(order, decided((0, True)), (ASKED, apart, READ))
    assert not can_read(order, decided((0, True)), (ASKED, inside, READ))


def test_reads_that_a_schedule_does_not_come_to_say_nothing() -> None:
    assert can_read(IN_TURN[:1], compared((answer(0), True), (answer(1), False)), (ASKED,), (READ, READ))


@pytest.mark.parametrize(
    "other", [Access(STORE, writes=(WORD,)), Transfer(STORE, (), writes=(WORD,))], ids=["store", "copy"]
)
def test_what_is_no_answer_may_not_be_anything(other: Action) -> None:
    assert not can_read([(0, 0), (0, 1)], decided((0, True)), (other, READ))
    assert can_read([(0, 0), (0, 1), (0, 2)], decided((0, True)), (other, ASKED, READ))


def test_only_whether_there_is_work_is_free() -> None:
    assert not can_read(
        [(0, 0), (0, 1)], compared((Atom(("get_first_ctaid", 0, answer(0))), True)), (ASKED, READ)
    )


ROUND = """
.reg .b128 %q1;
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p9, %r9, 0; mov.u32 %r5, 0;
@%p9 mbarrier.init.shared.b64 [%r1], 1; @%p9 mbarrier.init.shared.b64 [%r1+8], {readers};
bar.sync 0;
L: xor.b32 %r6, %r5, 1; @!%p9 bra R;
W: mbarrier.try_wait.parity.shared.b64 %p1, [%r1+8], %r6; @!%p1 bra W;
mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 16;
clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1+16], [%r1];
R: mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r5; @!%p1 bra R;
ld.shared.b128 %q1, [%r1+16];
fence.proxy.async.shared::cta;
mbarrier.arrive.shared.b64 _, [%r1+8];
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q1;
xor.b32 %r5, %r5, 1; @%p2 bra L;
"""


@pytest.mark.parametrize(
    ("readers", "kind"),
    [(64, VerdictKind.ASSUMES), (65, VerdictKind.VIOLATED)],
    ids=["all readers counted", "one too many counted"],
)
def test_a_loop_that_asks_for_work(readers: int, kind: VerdictKind) -> None:
    text = kernel(ROUND.format(readers=readers), threads=64).replace("sm_90a", "sm_100a")
    module = parse_module(Source("k.ptx", text))
    (function,) = module.entries
    assert function.body is not None
    assert not function.body.problems
    result = verify(build(function), function, module, from_directives(function), for_every_count=False)
    found = {verdict.property: verdict.kind for verdict in result.verdicts()}
    assert found[Property.DEADLOCK_FREEDOM] is kind


@pytest.mark.parametrize(
    ("start", "size", "reach", "is_known"),
    [(4096, 16, 0, True), (0, 16, 48, True), (0, 16, 80, False), (0, 0, 1 << 20, False), (-1, 16, 0, False)],
)
def test_what_may_have_been_written_over_an_answer(start: int, size: int, reach: int, is_known: bool) -> None:
    other = Access(STORE, writes=(Span(0, start, size, exact=not reach, reach=reach),))
    over = Access(STORE, writes=(Span(1, 0, 1 << 20),))
    order = [(0, 0), (0, 1), (0, 2), (0, 3)]
    assert can_read(order, decided((0, True)), (ASKED, other, over, READ)) is is_known
