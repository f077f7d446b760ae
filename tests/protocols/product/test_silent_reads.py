"""Registers of tensor loads that threads read on a side of a branch on which they do nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.mutation.judge import launched
from ptxcheck.protocols.product.for_all import Open, Shown
from ptxcheck.protocols.verify import shown_for_every_count
from ptxcheck.source import Source

KERNEL = Path(__file__).parents[3] / "corpus/protocols/tcgen05/load_settled_by_its_use.ptx"
READ = "    st.global.b32 [%rd1], %r18;\n"
ARRIVES = "    mbarrier.arrive.shared::cta.b64 _, [%r12];\n    add.u32 %r6, %r6, 1;\n    bra EPILOGUE;\n"
LOWER_LANES = "and.b32 %r20, %r0, 31; setp.lt.u32 %p6, %r20, 16;"
FEWER_WARPS = "setp.lt.u32 %p6, %r2, 6;"


def shown(branch: str, one: str, other: str, *, is_apart: bool = False) -> Shown | Open:
    """Return what is shown where the warps of the epilogue do something on two sides, and add what they have found.

    With `is_apart` the branch begins a block of its own.
    """
    text = KERNEL.read_text(encoding="utf-8")
    apart = "bra.uni HERE; HERE: " if is_apart else ""
    sides = f"{apart}{branch} @%p6 bra OTHER; mov.u32 %r19, 0; {one} bra JOIN; OTHER: mov.u32 %r19, 0; {other} JOIN:"
    assert text.count(READ) == text.count(ARRIVES) == 1
    text = text.replace(READ, f"    {sides}\n").replace(ARRIVES, f"    add.u32 %r12, %r12, %r19;\n{ARRIVES}")
    return shown_for_every_count(*launched(Source("k.ptx", text), "load_settled_by_its_use"), seconds=6.0)


@pytest.mark.parametrize("branch", [LOWER_LANES, FEWER_WARPS])
@pytest.mark.parametrize("is_apart", [False, True])
def test_what_all_sides_read_is_over(branch: str, is_apart: bool) -> None:
    assert isinstance(shown(branch, READ, READ, is_apart=is_apart), Shown)


@pytest.mark.parametrize("branch", [LOWER_LANES, FEWER_WARPS])
@pytest.mark.parametrize("is_apart", [False, True])
@pytest.mark.parametrize(("one", "other"), [(READ, ""), ("", READ), ("", ""), ("", "add.u32 %r21, %r18, 1;")])
def test_what_some_threads_do_not_read_may_go_on(branch: str, one: str, other: str, is_apart: bool) -> None:
    found = shown(branch, one, other, is_apart=is_apart)
    assert isinstance(found, Open)
    assert found.reason.startswith("overwrite")


def test_a_further_branch_on_a_side() -> None:
    inner = "setp.lt.u32 %p7, %r20, 8; @%p7 bra LESS; {} bra MET; LESS: {} MET: mov.u32 %r22, 0;"
    assert isinstance(shown(LOWER_LANES, READ, inner.format(READ, READ)), Shown)
    assert isinstance(shown(LOWER_LANES, READ, inner.format(READ, "")), Open)
