"""No run is made with numbers that the user rules out."""

from __future__ import annotations

import re

import pytest

from ptxcheck.checker import check
from ptxcheck.config import Config
from ptxcheck.launches.hints import parse_assumption
from ptxcheck.report.json import render_json
from ptxcheck.source import Source
from ptxcheck.verdict import VerdictKind

TEXT = """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u32 n) .reqntid 64
{
    .reg .pred %p<8>;
    .reg .b32 %r<16>;
    .shared .align 8 .b64 full;
    .shared .align 8 .b64 empty;
    ld.param.u32 %r1, [n];
    mov.u32 %r0, %tid.x;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra READY;
    mbarrier.init.shared::cta.b64 [full], 32;
    mbarrier.init.shared::cta.b64 [empty], 32;
READY:
    bar.sync 0;
    mov.u32 %r3, 0;
    mov.u32 %r4, 1;
    mov.u32 %r5, 0;
    setp.ge.u32 %p1, %r0, 32;
    @%p1 bra CONSUME;
PRODUCE:
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [empty], %r4;
    @!%p3 bra PRODUCE;
    mbarrier.arrive.shared::cta.b64 _, [full];
    xor.b32 %r4, %r4, 1;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p2, %r3, %r1;
    @%p2 bra PRODUCE;
DRAIN:
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [empty], %r4;
    @!%p3 bra DRAIN;
    bra DONE;
CONSUME:
    setp.eq.u32 %p5, %r1, 0;
    @%p5 bra DONE;
TAKE:
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [full], %r5;
    @!%p3 bra TAKE;
    mbarrier.arrive.shared::cta.b64 _, [empty];
    xor.b32 %r5, %r5, 1;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p2, %r3, %r1;
    @%p2 bra TAKE;
DONE:
    ret;
}
"""
"""It hangs where n is 0, and nowhere else."""


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ((), VerdictKind.VIOLATED),
        (("n >= 0",), VerdictKind.VIOLATED),
        (("n >= 1",), VerdictKind.PROVED),
        (("n >= 2",), VerdictKind.PROVED),
        (("n >= 1000",), VerdictKind.PROVED),
    ],
)
def test_a_size_that_is_ruled_out_says_nothing(said: tuple[str, ...], kind: VerdictKind) -> None:
    config = Config(launch=tuple(map(parse_assumption, said)))
    report = check(Source("k.ptx", TEXT), config=config)
    (kernel,) = report.kernels
    assert not report.problems
    assert kernel.verification is not None
    assert kernel.verification.verdicts[0].kind is kind
    reasons = [reason.text for each in kernel.verification.verdicts for reason in each.reasons]
    assert kind is VerdictKind.VIOLATED or not any("n is 0" in text for text in reasons)


@pytest.mark.parametrize(
    ("is_for_every_size", "said", "shown"),
    [
        (False, (), "n is 0"),
        (True, (), "n is 3"),
        (True, ("n >= 1",), "n is 3"),
        (True, ("n >= 4",), "n is 4"),
    ],
)
def test_a_failure_is_shown_with_a_size_that_is_not_ruled_out(
    is_for_every_size: bool, said: tuple[str, ...], shown: str
) -> None:
    arrivals = "mbarrier.init.shared::cta.b64 [empty], "
    text = TEXT.replace(f"{arrivals}32;", f"{arrivals}33;") if is_for_every_size else TEXT
    told = render_json(check(Source("k.ptx", text), config=Config(launch=tuple(map(parse_assumption, said)))))
    assert set(re.findall(r"n is \d+", told)) == {shown}
