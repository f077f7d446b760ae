"""Calls that are not followed, and answers of `try_cancel` that are one for all CTAs of a cluster."""

from __future__ import annotations

import pytest

from ptxcheck.cfg import build
from ptxcheck.launches.hints import from_directives
from ptxcheck.parser import parse_module
from ptxcheck.protocols.proof.first.deciding import Answers, Question
from ptxcheck.protocols.symex.interpreter.machine import Machine
from ptxcheck.protocols.symex.slice.layout import layout_of
from ptxcheck.protocols.symex.slice.sliced_program import Program
from ptxcheck.protocols.symex.values.solver import SolverOracle
from ptxcheck.protocols.symex.values.symbol import Atom, Decisions
from ptxcheck.protocols.symex.values.trace import Shape
from ptxcheck.source import Source
from ptxcheck.verdict import VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import verified

CALLER = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p1, %r9, 0; ld.param.u64 %rd1, [p];
@!%p1 bra S; mbarrier.init.shared::cta.b64 [%r1], 64; S: bar.sync 0;
{{ .param .b32 a; .param .b64 b; st.param.b32 [a], %r1; st.param.b64 [b], %rd1; call f, (a, b); }}
mbarrier.arrive.shared::cta.b64 _, [%r1];
W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0; @!%p2 bra W;
"""
CALLED_FUNCTION = """
.func f(.param .b32 a, .param .b64 b)
{{ .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>; ld.param.b32 %r1, [a]; ld.param.b64 %rd1, [b];
mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 5; {does} ret; }}
.visible .entry"""


@pytest.mark.parametrize(
    ("does", "verdict"),
    [
        ("st.global.u32 [%rd1], %r2;", VerdictKind.PROVED),
        ("st.shared.u32 [%r1], %r2;", VerdictKind.UNKNOWN),
        ("ld.shared.u32 %r3, [%r1]; st.global.u32 [%rd1], %r3;", VerdictKind.UNKNOWN),
        ("st.u32 [%rd1], %r2;", VerdictKind.UNKNOWN),
        ("@%p1 exit;", VerdictKind.UNKNOWN),
        ("bar.sync 0;", VerdictKind.UNKNOWN),
    ],
)
def test_functions_that_touch_shared_memory_or_end_threads_are_not_passed_over(
    does: str, verdict: VerdictKind
) -> None:
    text = kernel(CALLER.format(), threads=64).replace(
        ".visible .entry", CALLED_FUNCTION.format(does=does), 1
    )
    assert all(each.kind is verdict for each in verified(text).verdicts())


_ANSWER_OF_A_CANCELLATION = """.version 8.6
.target sm_100a
.address_size 64
.visible .entry k()
.reqntid 32
{{
.reg .pred %p<4>;
.reg .b32 %r<9>;
.reg .b128 %answer;
.shared .align 16 .b8 response[16];
.shared .align 8 .b64 bar;
clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes{multicast}.b128 [response], [bar];
ld.shared.b128 %answer, [response];
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %answer;
@%p1 mbarrier.arrive.shared.b64 _, [bar];
ld.shared.b32 %r1, [response];
setp.ne.b32 %p2, %r1, 0;
@%p2 mbarrier.arrive.shared.b64 _, [bar];
ret;
}}
"""
"""Answers of `clusterlaunchcontrol.try_cancel` that come to every CTA of a cluster are one number for all of them."""


@pytest.mark.parametrize(("multicast", "agree"), [(".multicast::cluster::all", True), ("", False)])
def test_ctas_read_one_answer_when_it_is_multicast(multicast: str, agree: bool) -> None:
    module = parse_module(Source("k.ptx", _ANSWER_OF_A_CANCELLATION.format(multicast=multicast)))
    (function,) = module.entries
    program = Program(build(function), module, from_directives(function), accesses=True)
    layout, decisions = layout_of(function, module), Decisions(SolverOracle())
    asked: list[Atom] = []

    def refuse(question: Question) -> bool:
        asked.append(question.condition.form.terms[0][0])
        return False

    for rank in range(2):
        Machine(program, layout, Shape((32, 1, 1), (2, 1, 1)), rank, decisions, Answers(refuse)).run()
    answers = [name for name in asked if "is_canceled" in str(name)]
    others = [name for name in asked if "is_canceled" not in str(name)]
    assert len(answers) == (1 if agree else 2)
    assert len(others) == 2, "what else is read there is of each CTA"
