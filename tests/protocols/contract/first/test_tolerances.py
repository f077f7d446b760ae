"""What is taken for granted of `wgmma` and `cp.async`, and what no tolerance excuses."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.model.outcome import Flaw
from ptxcheck.rules import RULES
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.corpus_runs import ROOT
from tests.protocols.verifying import kind, verified

_GOOD = next(rule.good for rule in RULES if rule.id == "WG024")
_PROXY_FENCE = "    fence.proxy.async.shared::cta;\n"
_MEET_BEFORE_THE_ROUNDS = "    bar.sync 0;\nWAIT_FULL"
_TWO_WARPGROUPS = ((".reqntid 128", ".reqntid 256"), ("other[4096]", "other[8192]"))
_FENCE_BEHIND_THE_BARRIER = (
    (_PROXY_FENCE, ""),
    (_MEET_BEFORE_THE_ROUNDS, f"    bar.sync 0;\n{_PROXY_FENCE}WAIT_FULL"),
)
"""The proxy fence lies behind the barrier: that of a writer then comes in front of its own wgmma alone."""
_FENCE_OF_ONE_THREAD = (
    (_PROXY_FENCE, ""),
    (_MEET_BEFORE_THE_ROUNDS, f"    bar.sync 0;\n    @!skip bra BARE;\n{_PROXY_FENCE}BARE:\nWAIT_FULL"),
)
"""One thread alone fences."""
_FENCED_IN_TIME = "a proxy fence behind the barrier is in time for what other warps multiply, too"
_SEEN_IN_THE_WARPGROUP = (
    "wgmma sees what all warps of its warpgroup stored, or copied and waited for, before they came to it"
)


def _good_kernel_with(*changes: tuple[str, str]) -> str:
    text = _GOOD
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ((), VerdictKind.PROVED),
        (((_MEET_BEFORE_THE_ROUNDS, "WAIT_FULL"),), VerdictKind.ASSUMES),
        (((_MEET_BEFORE_THE_ROUNDS, "WAIT_FULL"), (_PROXY_FENCE, "")), VerdictKind.VIOLATED),
        (((_MEET_BEFORE_THE_ROUNDS, "WAIT_FULL"), *_TWO_WARPGROUPS), VerdictKind.VIOLATED),
        (_TWO_WARPGROUPS, VerdictKind.PROVED),
        (_FENCE_BEHIND_THE_BARRIER, VerdictKind.ASSUMES),
        ((*_FENCE_BEHIND_THE_BARRIER, *_TWO_WARPGROUPS), VerdictKind.ASSUMES),
        (_FENCE_OF_ONE_THREAD, VerdictKind.VIOLATED),
    ],
)
def test_what_warps_of_one_warpgroup_store_is_taken_to_be_seen(
    changes: tuple[tuple[str, str], ...], expected: VerdictKind
) -> None:
    """With 256 threads, both warpgroups multiply what the first one stores."""
    result = verified(_good_kernel_with(*changes))
    assert kind(result, Property.SLOT_SAFETY) is expected
    taken = {each.text for each in result.tolerated.get(Property.SLOT_SAFETY, {}).values()}
    if expected is not VerdictKind.VIOLATED:
        named = _FENCED_IN_TIME if changes[:2] == _FENCE_BEHIND_THE_BARRIER else _SEEN_IN_THE_WARPGROUP
        assert taken == ({named} if expected is VerdictKind.ASSUMES else set())


_WAIT_FOR_WGMMA = "    wgmma.wait_group.sync.aligned 0;\n"
_MEET = "    bar.sync 0;\n"
_WAITED_FOR_THE_WARPGROUP = "a warp that waits for its wgmma waits for those of its whole warpgroup"


def _refilled_behind(behind: str, threads: int) -> str:
    text = (ROOT / "wgmma" / "refilled_behind_a_barrier.ptx").read_text()
    assert _WAIT_FOR_WGMMA + _MEET in text
    return text.replace(_WAIT_FOR_WGMMA + _MEET, behind).replace(" tiles)\n", f" tiles) .reqntid {threads}\n")


@pytest.mark.parametrize(
    ("behind", "threads", "expected"),
    [
        (_WAIT_FOR_WGMMA + _MEET, 128, VerdictKind.PROVED),
        (_WAIT_FOR_WGMMA + _MEET, 256, VerdictKind.PROVED),
        (_MEET + _WAIT_FOR_WGMMA, 128, VerdictKind.ASSUMES),
        (_WAIT_FOR_WGMMA, 128, VerdictKind.ASSUMES),
        (_MEET + _WAIT_FOR_WGMMA, 256, VerdictKind.VIOLATED),
        (_MEET, 128, VerdictKind.VIOLATED),
    ],
)
def test_the_wait_of_one_warp_is_taken_for_its_warpgroup_and_for_no_other(
    behind: str, threads: int, expected: VerdictKind
) -> None:
    result = verified(_refilled_behind(behind, threads))
    assert kind(result, Property.SLOT_SAFETY) is expected
    taken = {each.text for each in result.tolerated.get(Property.SLOT_SAFETY, {}).values()}
    if expected is not VerdictKind.VIOLATED:
        assert taken == ({_WAITED_FOR_THE_WARPGROUP} if expected is VerdictKind.ASSUMES else set())


_STORE_OF_AN_OPERAND = "    st.shared.u32 [slot], step;\n"
_COPY_OF_AN_OPERAND = """    ld.param.u64 a_desc, [source];
    cp.async.ca.shared.global [slot], [a_desc], 4;
    cp.async.wait_all;
"""
_ROUNDS_BY_A_QUOTIENT = """
    setp.lt.u32 skip, n, 2;
    @skip bra DONE;
    ld.param.u32 at, [factor];
    mul.hi.u32 n, n, at;
    ld.param.u32 at, [shift];
    shr.u32 n, n, at;
"""
"""Rounds are what the host's factor and shift make of a number that something else is decided on."""


def _operand_kernel(write: str, fence: str = "", first: str = "") -> str:
    text = (ROOT / "wgmma" / "operand_written_by_threads.ptx").read_text()
    assert _STORE_OF_AN_OPERAND + _PROXY_FENCE in text
    text = text.replace(_STORE_OF_AN_OPERAND + _PROXY_FENCE, write + fence)
    parameters = (
        ".param .u32 rounds, .param .u64 source, .param .u32 factor, .param .u32 shift)\n.reqntid 160"
    )
    text = text.replace(".param .u32 rounds)", parameters)
    return text.replace("READY:\n    bar.sync 0;\n", f"READY:\n    bar.sync 0;\n{first}", 1)


def test_copies_of_threads_are_taken_to_be_visible_to_matrix_instructions() -> None:
    result = verified(_operand_kernel(_COPY_OF_AN_OPERAND))
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.ASSUMES
    assert {problem.flaw for run in result.strict for problem in run.problems} == {Flaw.UNFENCED_COPY}
    assert any("cp.async" in text for text in result.tolerated[Property.SLOT_SAFETY])


def test_copies_with_a_fence_need_nothing_of_the_kind() -> None:
    result = verified(_operand_kernel(_COPY_OF_AN_OPERAND, _PROXY_FENCE))
    assert not result.strict


def test_copies_that_nobody_waits_for_are_no_less_wrong() -> None:
    result = verified(_operand_kernel(_COPY_OF_AN_OPERAND.replace("    cp.async.wait_all;\n", "")))
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.VIOLATED


@pytest.mark.parametrize("first", ["", _ROUNDS_BY_A_QUOTIENT], ids=["rounds", "quotient"])
def test_stores_that_nothing_fences_are_certain_wherever_threads_come_to_them(first: str) -> None:
    assert (
        kind(verified(_operand_kernel(_STORE_OF_AN_OPERAND, first=first)), Property.SLOT_SAFETY)
        is VerdictKind.VIOLATED
    )


def test_what_comes_of_a_quotient_is_not_certain_besides() -> None:
    """Without a wait for room the same run has a race where it finds another phase, which parameters might rule out."""
    text = _operand_kernel(_STORE_OF_AN_OPERAND, _PROXY_FENCE, _ROUNDS_BY_A_QUOTIENT).replace(
        "    @!ready bra WAIT_EMPTY;\n", ""
    )
    result = verified(text)
    assert kind(result, Property.PHASE_SAFETY) is VerdictKind.UNKNOWN
    verdict = next(each for each in result.verdicts() if each.property is Property.SLOT_SAFETY)
    assert verdict.kind is VerdictKind.PROVED_BOUNDED
    assert [each.text.split()[0:2] for each in verdict.reasons[:2]] == [["as", "far"], ["in", "schedules"]]
