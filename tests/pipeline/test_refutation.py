"""What whole-kernel verification has refuted is no default finding; what it has not covered stays."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ptxcheck
from ptxcheck.config import Config
from ptxcheck.finding import Confidence, Finding
from ptxcheck.opcodes.op import Op
from ptxcheck.rules.rule import Hits, KernelView, Property, Rule
from ptxcheck.source import Source

from .. import fakes


def claims(*approximates: Property, op: Op = Op.BAR_SYNC, is_beyond: bool = False) -> Rule:
    """Return a rule that calls every instruction of one kind wrong."""
    at = fakes.hits_at(op, "this is wrong")

    def check(view: KernelView) -> Hits:
        return (replace(hit, is_beyond=is_beyond) for hit in at(view))

    return fakes.rule(check=check, approximates=approximates)


PHASES = Property.PHASE_SAFETY
BOTH_HALVES = """
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra OTHER;
    bar.sync 1, 64;
    bra JOIN;
OTHER:
    bar.sync 1, 64;
JOIN:
"""
ROUNDS = """
    ld.param.u32 %r2, [rows];
    ld.param.u32 %r3, [columns];
    mov.u32 %r4, 0;
ROWS:
    setp.ge.u32 %p1, %r4, %r2;
    @%p1 bra DONE;
    mov.u32 %r5, 0;
COLUMNS:
    bar.sync 1, 64;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p2, %r5, %r3;
    @%p2 bra COLUMNS;
    add.u32 %r4, %r4, 1;
    bra ROWS;
DONE:
"""
"""Two loops of open length: runs do not show all counts, and the product of role automata does."""
BROKEN = """
    bar.arrive 1, 64;
    bar.sync 1, 64;
"""
NOBODY_COMES = """
    setp.ge.u32 %p1, %r1, 64;
    @%p1 bar.sync 1, 64;
    bar.arrive 2, 64;
"""


def kernel(body: str) -> Source:
    text = f"""
.version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .u32 rows, .param .u32 columns) .reqntid 64
{{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    mov.u32 %r1, %tid.x;
{body}
    ret;
}}
"""
    return Source("k.ptx", text)


def findings(
    body: str, rule: Rule, *, verify: bool = True, possible: bool = False, for_every_count: bool = True
) -> tuple[Finding, ...]:
    config = Config(verify=verify, possible=possible, for_every_count=for_every_count)
    report = ptxcheck.check(kernel(body), rules=(rule,), config=config)
    assert report.problems == ()
    return report.active


def test_what_all_runs_refute_is_possible_at_most() -> None:
    rule = claims(PHASES)
    assert findings(BOTH_HALVES, rule) == ()
    told = findings(BOTH_HALVES, rule, possible=True)
    assert [finding.confidence for finding in told] == [Confidence.POSSIBLE, Confidence.POSSIBLE]
    assert "phase-safety" in told[0].message


def test_runs_with_some_counts_refute_nothing() -> None:
    rule = claims(PHASES)
    by_runs = findings(ROUNDS, rule, for_every_count=False)
    assert Confidence.PROVED in {finding.confidence for finding in by_runs}
    assert findings(ROUNDS, rule) == ()


@pytest.mark.parametrize(
    ("body", "rule", "verify"),
    [
        pytest.param(BOTH_HALVES, claims(PHASES), False, id="not verified"),
        pytest.param(BOTH_HALVES, claims(), True, id="about no property of whole kernels"),
        pytest.param(BOTH_HALVES, claims(PHASES, is_beyond=True), True, id="beyond what is looked at"),
        pytest.param(BROKEN, claims(PHASES), True, id="the property does not hold"),
        pytest.param(BOTH_HALVES, claims(PHASES, Property.DESCRIPTOR_ORDER), True, id="one of two"),
        pytest.param(BOTH_HALVES, claims(PHASES, op=Op.SETP), True, id="not followed"),
        pytest.param(NOBODY_COMES, claims(PHASES), True, id="no thread comes there"),
    ],
)
def test_what_was_not_covered_stays(body: str, rule: Rule, verify: bool) -> None:
    told = findings(body, rule, verify=verify)
    assert Confidence.PROVED in {finding.confidence for finding in told}
