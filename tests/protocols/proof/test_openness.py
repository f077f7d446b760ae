"""What keeps a property from being plainly proved or violated is told apart, with the option that settles it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxcheck.checker import check
from ptxcheck.config import Config
from ptxcheck.explain.advice import advice
from ptxcheck.launches.hints import parse_assumption
from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.results import PropertyVerdict, Report
from ptxcheck.rules.protocol_kernels import RING, changed
from ptxcheck.source import Source
from ptxcheck.sources.demangled_names import pattern_of
from ptxcheck.terms.effort import LEVELS
from ptxcheck.verdict import Need, Openness, Property, Reason, Verdict, VerdictKind
from tests.protocols.verifying import verified

CORPUS = Path(__file__).parents[3] / "corpus" / "protocols"
SKIPPED = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry gather(.param .u64 c, .param .u32 n)
.reqntid 64
{{
    .reg .pred %p<10>;
    .reg .b32 %r<20>;
    .reg .b64 %rd<8>;
    .shared .align 8 .b64 bar;
    ld.param.u64 %rd0, [c];
    ld.param.u32 %r2, [n];
    mov.u32 %r0, %tid.x;
    setp.ne.u32 %p0, %r0, 0;
    @!%p0 mbarrier.init.shared::cta.b64 [bar], 1;
    bar.sync 0;
    popc.b32 %r3, %r2;
    brev.b32 %r4, %r2;
    xor.b32 %r5, %r3, %r4;
    setp.eq.u32 %p5, %r5, 77;
    setp.eq.u32 %p6, %r4, 123;
    and.pred %p3, %p5, %p6;
    {asked}
    @%p3 bra WAIT;
    @!%p0 mbarrier.arrive.shared::cta.b64 _, [bar];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p4, [bar], 0;
    @!%p4 bra WAIT;
    ret;
}}
"""
"""The arrival is skipped for some numbers, of which nobody knows whether there are any."""
WITHOUT_C = SKIPPED.format(asked="setp.eq.u64 %p1, %rd0, 0; and.pred %p3, %p1, %p3;")
WITH_C = SKIPPED.format(asked="setp.ne.u64 %p1, %rd0, 0; and.pred %p3, %p1, %p3;")
WHATEVER = SKIPPED.format(asked="")


def verdicts(result: Verification) -> dict[Property, Verdict]:
    return {verdict.property: verdict for verdict in result.verdicts()}


def told(report: Report) -> dict[Property, PropertyVerdict]:
    (kernel,) = report.kernels
    assert kernel.verification is not None
    return {verdict.property: verdict for verdict in kernel.verification.verdicts}


def test_properties_are_judged_as_far_as_threads_come_beside_a_hang() -> None:
    text = changed(RING, ("[empty], 32;", "[empty], 33;"))
    found = verdicts(verified(text))
    assert found[Property.DEADLOCK_FREEDOM].kind is VerdictKind.VIOLATED
    for which in (Property.PHASE_SAFETY, Property.TX_BALANCE, Property.LIFECYCLE, Property.SLOT_SAFETY):
        assert found[which].kind is VerdictKind.PROVED_BOUNDED
        assert found[which].reasons[0].text.startswith("as far as threads come before the hang")
    assert found[Property.EXIT_SAFETY].openness is Openness.BEHIND_FAILURE


def test_bytes_are_not_balanced_beside_a_hang_that_lacks_bytes() -> None:
    found = verdicts(verified(changed(RING, ("_, [%r8], 1024;", "_, [%r8], 2048;"))))
    assert found[Property.DEADLOCK_FREEDOM].kind is VerdictKind.VIOLATED
    assert found[Property.TX_BALANCE].openness is Openness.BEHIND_FAILURE
    assert found[Property.LIFECYCLE].kind is VerdictKind.PROVED_BOUNDED


def test_properties_are_judged_for_schedules_in_order_beside_a_failure_of_others() -> None:
    """A consumer that takes every tile may arrive in the phase before; nothing goes wrong in other schedules."""
    found = told(check(str(CORPUS / "pingpong" / "consumers_in_turn.both_take_every_tile.ptx")))
    assert found.pop(Property.PHASE_SAFETY).kind is VerdictKind.VIOLATED
    for verdict in found.values():
        assert verdict.kind is VerdictKind.PROVED_BOUNDED
        assert verdict.reasons[0].text.startswith("in schedules in which actions count in the phases")


def test_nothing_is_claimed_behind_a_failure_that_leaves_no_order() -> None:
    text = changed(RING, ("[empty], 32;", "[empty], 31;"))
    found = verdicts(verified(text))
    violated = {which for which, verdict in found.items() if verdict.kind is VerdictKind.VIOLATED}
    assert violated
    others = [verdict for which, verdict in found.items() if which not in violated]
    assert {verdict.openness for verdict in others} == {Openness.BEHIND_FAILURE}


@pytest.mark.parametrize(("text", "unless"), [(WITHOUT_C, "c.u64 is 0"), (WITH_C, "c.u64 is not 0")])
def test_a_failure_under_some_values_is_a_condition(text: str, unless: str) -> None:
    report = check(Source("k.ptx", text))
    assert not report.active
    verdict = told(report)[Property.DEADLOCK_FREEDOM]
    assert (verdict.kind, verdict.openness) == (VerdictKind.ASSUMES, Openness.CONDITIONAL)
    assert verdict.reasons[0].text.startswith(f"holds unless {unless}: then, ")


@pytest.mark.parametrize(("text", "option"), [(WITHOUT_C, "c.u64 >= 1"), (WITH_C, "c.u64=0")])
def test_the_option_of_a_condition_settles_it(text: str, option: str) -> None:
    open_one = told(check(Source("k.ptx", text)))[Property.DEADLOCK_FREEDOM].reasons[0]
    assert open_one.advice in (f"--assume '{option}'", f"--assume {option}")
    settled = check(Source("k.ptx", text), config=Config(launch=(parse_assumption(option),)))
    assert told(settled)[Property.DEADLOCK_FREEDOM].openness is None
    assert told(settled)[Property.DEADLOCK_FREEDOM].kind is not VerdictKind.UNKNOWN


@pytest.mark.parametrize("text", [WITHOUT_C, WITH_C, WHATEVER])
def test_a_failure_under_some_values_is_listed_as_possible(text: str) -> None:
    (finding,) = check(Source("k.ptx", text), config=Config(possible=True)).active
    assert finding.rule == "MB020"


def test_a_failure_that_no_value_of_a_parameter_excuses_stays_open() -> None:
    verdict = told(check(Source("k.ptx", WHATEVER)))[Property.DEADLOCK_FREEDOM]
    assert (verdict.kind, verdict.openness) == (VerdictKind.UNKNOWN, Openness.NOT_DECIDED)
    assert verdict.reasons[0].advice == "--assume n=NUMBER"


def test_who_gave_the_highest_level_is_told_a_number() -> None:
    reason = Reason("", -1, Need.TIME)
    assert advice(reason, effort=LEVELS["normal"]) == "--effort high"
    assert advice(reason, effort=LEVELS["high"]) == f"--effort {4 * LEVELS['high']:g}"
    assert advice(Reason("", -1, Need.VALUES_OR_TIME), effort=100).endswith(", or --effort 400")


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        (Reason("", -1), ""),
        (Reason("", -1, Need.TIME), "--effort high"),
        (Reason("", -1, Need.BLOCK), "--launch block=THREADS"),
        (Reason("", -1, Need.BLOCK, ("block=160",)), "--launch block=160"),
        (Reason("", -1, Need.VALUES, ("n.s32 >= 1", "m=4")), "--assume 'n.s32 >= 1' --assume m=4"),
    ],
)
def test_advice_is_an_option_to_pass(reason: Reason, shown: str) -> None:
    assert advice(reason) == shown


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        (Reason("", -1), ""),
        (Reason("", -1, Need.TIME), "--effort high"),
        (Reason("", -1, Need.BLOCK), "--launch 'ring<2>: block=THREADS'"),
        (
            Reason("", -1, Need.VALUES, ("n.s32 >= 1", "m=4")),
            "--assume 'ring<2>: n.s32 >= 1' --assume 'ring<2>: m=4'",
        ),
    ],
)
def test_advice_names_the_kernel_where_there_are_several(reason: Reason, shown: str) -> None:
    assert advice(reason, "ring<2>") == shown


def test_advice_for_one_of_several_kernels_is_for_that_one() -> None:
    text = WHATEVER + "\n" + WHATEVER[WHATEVER.index(".visible") :].replace("gather(", "other(")
    report = check(Source("k.ptx", text))
    said = {
        kernel.name: remark.advice
        for kernel in report.kernels
        if kernel.verification is not None
        for verdict in kernel.verification.verdicts
        for remark in verdict.reasons
        if remark.advice
    }
    assert said == {"gather": "--assume 'gather: n=NUMBER'", "other": "--assume 'other: n=NUMBER'"}


def test_a_pattern_means_one_kernel() -> None:
    kernels = ["_Z4ringILi2EEvPi", "_Z4ringILi3EEvPi", "_Z4ringIfEvPf", "_Z4ringIdEvPd", "plain"]
    told = {each: pattern_of(each, kernels) for each in kernels}
    assert told == {
        "_Z4ringILi2EEvPi": "ring<2>",
        "_Z4ringILi3EEvPi": "ring<3>",
        "_Z4ringIfEvPf": "_Z4ringIfEvPf",
        "_Z4ringIdEvPd": "_Z4ringIdEvPd",
        "plain": "plain",
    }
