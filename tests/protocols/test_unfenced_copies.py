"""Operands of matrix instructions that reach shared memory without a proxy fence: by `cp.async`, and by stores."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.model.outcome import Flaw
from ptxcheck.verdict import Property, VerdictKind

from .corpus_runs import ROOT
from .verifying import kind, verified

STORE = "    st.shared.u32 [slot], step;\n"
FENCE = "    fence.proxy.async.shared::cta;\n"
COPY = """    ld.param.u64 a_desc, [source];
    cp.async.ca.shared.global [slot], [a_desc], 4;
    cp.async.wait_all;
"""
QUOTIENT = """
    setp.lt.u32 skip, n, 2;
    @skip bra DONE;
    ld.param.u32 at, [factor];
    mul.hi.u32 n, n, at;
    ld.param.u32 at, [shift];
    shr.u32 n, n, at;
"""
"""Rounds are what the host's factor and shift make of a number that something else is decided on."""


def kernel(write: str, fence: str = "", first: str = "") -> str:
    text = (ROOT / "wgmma" / "operand_written_by_threads.ptx").read_text()
    assert STORE + FENCE in text
    text = text.replace(STORE + FENCE, write + fence)
    parameters = (
        ".param .u32 rounds, .param .u64 source, .param .u32 factor, .param .u32 shift)\n.reqntid 160"
    )
    text = text.replace(".param .u32 rounds)", parameters)
    return text.replace("READY:\n    bar.sync 0;\n", f"READY:\n    bar.sync 0;\n{first}", 1)


def test_copies_of_threads_are_taken_to_be_visible_to_matrix_instructions() -> None:
    result = verified(kernel(COPY))
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.ASSUMES
    assert {problem.flaw for run in result.strict for problem in run.problems} == {Flaw.UNFENCED_COPY}
    assert any("cp.async" in text for text in result.tolerated[Property.SLOT_SAFETY])


def test_copies_with_a_fence_need_nothing_of_the_kind() -> None:
    result = verified(kernel(COPY, FENCE))
    assert not result.strict


def test_copies_that_nobody_waits_for_are_no_less_wrong() -> None:
    result = verified(kernel(COPY.replace("    cp.async.wait_all;\n", "")))
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.VIOLATED


@pytest.mark.parametrize("first", ["", QUOTIENT], ids=["rounds", "quotient"])
def test_stores_that_nothing_fences_are_certain_wherever_threads_come_to_them(first: str) -> None:
    assert kind(verified(kernel(STORE, first=first)), Property.SLOT_SAFETY) is VerdictKind.VIOLATED


def test_what_comes_of_a_quotient_is_not_certain_besides() -> None:
    """Without a wait for room the same run has a race, which other parameters might rule out."""
    text = kernel(STORE, FENCE, QUOTIENT).replace("    @!ready bra WAIT_EMPTY;\n", "")
    assert kind(verified(text), Property.SLOT_SAFETY) is VerdictKind.UNKNOWN
