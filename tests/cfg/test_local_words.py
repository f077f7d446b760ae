"""Words of local memory at known places are registers to the verifier."""

from __future__ import annotations

import pytest

from ptxcheck.cfg.local_words import with_words_in_registers
from ptxcheck.ir import Function
from ptxcheck.parser import parse_module
from ptxcheck.source import Source

TEXT = """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
    .local .align 16 .b8 depot[64];
    .reg .b32 a, b, c;
    .reg .f32 f;
    .reg .b16 h;
    .reg .pred p;
    .reg .b64 sp, spl, at, w, other;
    ld.param.u64 other, [out];
    mov.u64 spl, depot;
    cvta.local.u64 sp, spl;
    BODY
    ret;
}
"""


def function(body: str) -> Function:
    module = parse_module(Source("k.ptx", TEXT.replace("BODY", body)))
    assert module.problems == ()
    return module.entries[0]


def moves(body: str) -> int:
    """Return how many loads and stores are moves of registers."""
    before = function(body)
    after = with_words_in_registers(before)
    assert before.body is not None
    assert after.body is not None
    assert len(before.body.instructions) == len(after.body.instructions)
    changed = [
        (one, other)
        for one, other in zip(before.body.instructions, after.body.instructions, strict=True)
        if one.operation != other.operation
    ]
    assert all(other.operation.text.startswith("mov.b") for _, other in changed)
    assert all(one.guard == other.guard and one.span == other.span for one, other in changed)
    return len(changed)


STORE_AND_LOAD = "st.local.u32 [spl+4], a; ld.u32 b, [sp+4];"


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (STORE_AND_LOAD, 2),
        ("@p st.u32 [sp], 7; @p ld.f32 f, [sp];", 2),
        ("st.local.u64 [depot+8], w; ld.local.u64 w, [spl+8];", 2),
        ("add.u64 at, sp, 8; st.u32 [at+4], a; ld.u32 b, [sp+12];", 2),
        ("st.u32 [sp], a; ld.v2.u32 {b, c}, [sp+8]; ld.u32 b, [sp];", 2),
        ("st.u32 [other], a;", 0),
        ("add.s64 at, sp, 0xfffffffffffffff8; st.u32 [sp], a; ld.u32 b, [at+8];", 2),
        ("add.u64 at, sp, 8; st.u32 [sp], a; ld.u32 b, [at+4294967288];", 2),
        ("ld.u32 b, [sp+4];", 0),
        ("st.u32 [sp], a; ld.u32 b, [sp]; ld.u32 c, [sp+64];", 0),
        ("st.u32 [sp], a; ld.u32 b, [sp]; ld.u32 c, [sp+-4];", 0),
    ],
)
def test_words_at_known_places(body: str, count: int) -> None:
    assert moves(body) == count


@pytest.mark.parametrize(
    "more",
    [
        "ld.u16 h, [sp+4];",
        "ld.u64 w, [sp];",
        "ld.v4.u32 {a, b, c, _}, [sp];",
        "st.global.u64 [other], sp;",
        "st.u64 [sp+8], spl;",
        "add.u64 at, sp, w;",
        "mul.lo.u64 at, spl, 2;",
        "@p add.u64 at, sp, 8;",
        "add.u64 at, sp, 8; add.u64 at, at, 8;",
        "mov.u64 at, sp; mov.u64 at, other;",
        "selp.b64 at, sp, other, p;",
        "atom.add.u32 a, [sp+4], 1;",
    ],
)
def test_words_that_something_else_may_touch(more: str) -> None:
    assert moves(STORE_AND_LOAD + more) == 0


def test_a_kernel_without_local_memory_stays_as_it_is() -> None:
    text = TEXT.replace(".local .align 16 .b8 depot[64];", ".shared .align 16 .b8 depot[64];")
    (kernel,) = parse_module(Source("k.ptx", text.replace("BODY", ""))).entries
    assert with_words_in_registers(kernel) is kernel
