"""Loads of words that the kernel itself writes."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.symex.slice.global_rewrites import Rewrites

from ....cfg.kernels import facts_of, point_of

_POINTER = "ld.param.u64 %rd1, [data]; cvta.to.global.u64 %rd1, %rd1; add.s64 %rd2, %rd1, 16; "


@pytest.mark.parametrize(
    "write",
    [
        "st.global.u32 [%rd1], %r2;",
        "red.global.add.u32 [%rd1], 1;",
        "atom.global.add.u32 %r3, [%rd1], 1;",
        "st.global.v4.u32 [%rd2+-16], {%r2, %r2, %r2, %r2};",
        "@%p1 st.global.u8 [%rd1+3], %r2;",
        "discard.global.L2 [%rd1], 128;",
        "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};",
    ],
)
def test_a_write_of_the_same_bytes(write: str) -> None:
    facts = facts_of(f"{_POINTER}ld.global.u32 %r1, [%rd1]; {write} ret;")
    assert Rewrites(facts.cfg, facts).is_of(point_of(facts, "ld.global.u32"))


@pytest.mark.parametrize(
    "write",
    [
        "st.global.u32 [%rd1+4], %r2;",
        "st.global.v4.u32 [%rd2+-12], {%r2, %r2, %r2, %r2};",
        "st.shared.u32 [tile], %r2;",
        "mul.wide.u32 %rd3, %r2, 4; add.s64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], %r2;",
    ],
)
def test_other_bytes_or_perhaps_others(write: str) -> None:
    facts = facts_of(f"{_POINTER}ld.global.u32 %r1, [%rd1]; {write} ret;")
    assert not Rewrites(facts.cfg, facts).is_of(point_of(facts, "ld.global.u32"))
