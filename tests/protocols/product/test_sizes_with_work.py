"""Kernels that go wrong with an empty size alone: the size is asked of the host."""

from __future__ import annotations

import pytest

from benchmarks.mutation.judge import launched
from ptxcheck.protocols.product.for_all import Open, Shown
from ptxcheck.protocols.verify import shown_for_every_count, verify
from ptxcheck.source import Source
from ptxcheck.verdict import AssumptionKind, Evidence, VerdictKind

KERNEL = """// ptxcheck: launch block=64 cluster=1
.version 8.6
.target sm_90a
.address_size 64

.visible .entry waits_first(.param .u32 rounds)
{
    .shared .align 8 .b64 full;
    .shared .align 8 .b64 empty;
    .reg .pred skip, teller, ready, more;
    .reg .b32 thread, n, step, parity;

    ld.param.u32 n, [rounds];
    mov.u32 thread, %tid.x;
    setp.ne.u32 skip, thread, 0;
    @skip bra READY;
    mbarrier.init.shared::cta.b64 [full], 1;
    mbarrier.init.shared::cta.b64 [empty], 1;
READY:
    bar.sync 0;
    mov.u32 step, 0;
    setp.eq.u32 teller, thread, 32;
    @teller bra TELL;
    @skip bra DONE;
    mov.u32 parity, 0;
HEAR:
    mbarrier.try_wait.parity.shared::cta.b64 ready, [full], parity;
    @!ready bra HEAR;
    mbarrier.arrive.shared::cta.b64 _, [empty];
    xor.b32 parity, parity, 1;
    add.s32 step, step, 1;
    setp.lt.s32 more, step, n;
    @more bra HEAR;
    bra DONE;

TELL:
    mov.u32 parity, 1;
NEXT:
    setp.ge.s32 more, step, n;
    @more bra DONE;
WAIT_EMPTY:
    mbarrier.try_wait.parity.shared::cta.b64 ready, [empty], parity;
    @!ready bra WAIT_EMPTY;
    mbarrier.arrive.shared::cta.b64 _, [full];
    xor.b32 parity, parity, 1;
    add.s32 step, step, 1;
    bra NEXT;
DONE:
    ret;
}
"""


def test_it_holds_where_there_is_work() -> None:
    found = shown_for_every_count(*launched(Source("k.ptx", KERNEL), "waits_first"), seconds=6.0)
    assert isinstance(found, Shown)
    assert [str(name[1]) for name in found.not_empty] == ["rounds"]
    (said,) = found.of_work
    assert said.kind is AssumptionKind.SIZE
    assert said.text == "rounds is at least 1: with less, this was not shown"
    assert said.options == ("rounds.s32 >= 1",)


def test_the_verdict_asks_it_of_the_host() -> None:
    found = verify(*launched(Source("k.ptx", KERNEL), "waits_first"), seconds=6.0)
    assert {each.kind for each in found.verdicts()} == {VerdictKind.ASSUMES}
    assert {each.evidence for each in found.verdicts()} == {Evidence.FOR_ALL}
    (said,) = found.required.values()
    assert said.text.startswith("rounds is at least 1: with less, waits for phase 0")


def test_a_role_that_looks_for_no_work_is_a_run_of_its_own() -> None:
    """The teller goes on without work; the other hangs then, and that is no question for the host."""
    text = KERNEL.replace("NEXT:\n", "NEXT:\n    setp.eq.s32 more, n, 0;\n    @more bra DONE;\n")
    assert text != KERNEL
    found = verify(*launched(Source("k.ptx", text), "waits_first"), seconds=6.0)
    assert VerdictKind.VIOLATED in {each.kind for each in found.verdicts()}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    setp.lt.s32 more, step, n;\n", "    setp.le.s32 more, step, n;\n"),
        ("    mov.u32 step, 0;\n", "    mov.u32 step, 0;\n    @skip mov.u32 step, 1;\n"),
    ],
    ids=["a round too many", "a round too few"],
)
def test_what_goes_wrong_with_work_is_not_shown(old: str, new: str) -> None:
    text = KERNEL.replace(old, new)
    assert text != KERNEL
    found = shown_for_every_count(*launched(Source("k.ptx", text), "waits_first"), seconds=6.0)
    assert isinstance(found, Open)
