"""Missing proxy fences are certain where no instruction of a kernel is one, whatever the launch."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.corpus_runs import ROOT
from tests.protocols.verifying import kind, verified

FENCE_OF_GLOBAL_MEMORY = "    fence.proxy.async.global;\n"
FENCE_ELSEWHERE = "    fence.proxy.async.shared::cta;\n"
ROUNDS_THROUGH_SHARED_MEMORY = """
    .shared .align 4 .b8 cell[8];
    and.b32 at, n, 4;
    mov.u32 slot, cell;
    add.u32 slot, slot, at;
    @!skip st.shared.u32 [slot], n;
    bar.sync 0;
    ld.shared.u32 n, [slot];
"""
"""The number of rounds comes through shared memory, at a place that is not known."""


def slot_safety(name: str, first: str = "") -> VerdictKind:
    """Verify a kernel of which only the largest block is known, with some code behind the initialisation."""
    text = (ROOT / "wgmma" / f"{name}.ptx").read_text()
    text = re.sub(r"\)\s*\{\n", ")\n.maxntid 160\n{\n", text, count=1)
    text = text.replace("READY:\n    bar.sync 0;\n", f"READY:\n    bar.sync 0;\n{first}", 1)
    result = verified(text)
    return kind(result, Property.SLOT_SAFETY)


@pytest.mark.parametrize("first", ["", FENCE_OF_GLOBAL_MEMORY, FENCE_ELSEWHERE])
def test_where_accesses_alone_go_wrong_the_block_does_not_matter(first: str) -> None:
    assert slot_safety("operand_written_by_threads.no_proxy_fence", first) is VerdictKind.VIOLATED


@pytest.mark.parametrize("fence", ["", FENCE_OF_GLOBAL_MEMORY])
def test_without_any_fence_it_does_not_matter_what_roles_read(fence: str) -> None:
    first = fence + ROUNDS_THROUGH_SHARED_MEMORY
    assert slot_safety("operand_written_by_threads.no_proxy_fence", first) is VerdictKind.VIOLATED


def test_with_a_fence_elsewhere_it_matters_what_roles_read() -> None:
    anywhere = ROUNDS_THROUGH_SHARED_MEMORY.replace(
        "and.b32 at, n, 4;", "mov.u32 at, %smid; and.b32 at, at, 4;"
    )
    first = FENCE_ELSEWHERE + anywhere
    assert slot_safety("operand_written_by_threads.no_proxy_fence", first) is VerdictKind.UNKNOWN


def test_what_roles_read_is_known_in_a_run_with_numbers() -> None:
    first = FENCE_ELSEWHERE + ROUNDS_THROUGH_SHARED_MEMORY
    assert slot_safety("operand_written_by_threads.no_proxy_fence", first) is VerdictKind.VIOLATED
    assert slot_safety("operand_written_by_threads", first) is not VerdictKind.VIOLATED


def test_the_good_twin_stays_silent() -> None:
    assert slot_safety("operand_written_by_threads") is VerdictKind.ASSUMES


def test_a_hang_that_rests_on_what_roles_read_alike_is_not_sure() -> None:
    """Red team 95: the scheduler goes by a counter of global memory, the others by what it stores in their CTAs."""
    path = Path(__file__).parents[4] / "benchmarks/red_team/95_scheduler_free_count.good.ptx"
    result = verified(path.read_text(encoding="utf-8"))
    assert kind(result, Property.DEADLOCK_FREEDOM) is not VerdictKind.VIOLATED
