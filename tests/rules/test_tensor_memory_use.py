"""Rules about the use of tensor memory: near misses and cases beyond the kernels of the rules themselves."""

from __future__ import annotations

import pytest

from ptxcheck.source import Source

from .kernels import agrees
from .tensor_memory_kernels import (
    ADDRESS,
    ALLOCATE,
    BARRIER,
    CLOSE,
    COMMIT,
    FREE,
    INIT,
    LOAD,
    MULTIPLY,
    OPEN,
    WAIT,
    expect,
    kernel,
)  # fmt: skip

BRANCH = "setp.eq.u32 %p5, %r9, 0;"
CLUSTER = ".reqntid 128\n.reqnctapercluster 2, 1, 1"
MEET = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;"
PAIR = "@%p1 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 128;"
PAIR_FREE = "@%p1 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r3, 128;"


def collector(use: str, guard: str = "@%p2 ") -> str:
    return f"{guard}tcgen05.mma.cta_group::1.kind::f16.collector::a::{use} [%r3], %rd1, %rd1, %r8, %p3;"


def d_at(column: int, rule: str = "") -> str:
    line = (
        f"add.u32 %r6, %r3, {column};\n@%p2 tcgen05.mma.cta_group::1.kind::f16 [%r6], %rd1, %rd1, %r8, %p3;"
    )
    return expect(line, rule) if rule else line


def by_warp(line: str, *, quarter: str = "and.b32 %r5, %r2, 3;", rule: str = "", column: int = 0) -> str:
    """Return an access at the address of the warp's own quarter, or of another one."""
    marked = expect(line, rule) if rule else line
    return f"{quarter}\nshl.b32 %r5, %r5, 21;\nadd.u32 %r6, %r3, %r5;\nadd.u32 %r6, %r6, {column};\n{marked}"


LD = "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r10, %r11, %r12, %r13}, [%r6];"
ST = "tcgen05.st.sync.aligned.32x32b.x4.b32 [%r6], {%r10, %r11, %r12, %r13};"
WAIT_LD, WAIT_ST = "tcgen05.wait::ld.sync.aligned;", "tcgen05.wait::st.sync.aligned;"
NEXT = "add.u32 %r5, %r2, 1;\nand.b32 %r5, %r5, 3;"
USED = "st.shared.b32 [tile], %r11;"


def d_in_lane(lane: int, rule: str = "", word: str = "0x8100490") -> str:
    line = "@%p2 tcgen05.mma.cta_group::1.kind::f16 [%r6], %rd1, %rd1, %r8, %p3;"
    return f"mov.b32 %r8, {word};\nadd.u32 %r6, %r3, {lane << 16};\n{expect(line, rule) if rule else line}"


def a_in_lane(lane: int, d: int, rule: str = "", word: str = "0x4100490") -> str:
    line = "@%p2 tcgen05.mma.cta_group::1.kind::f16 [%r6], [%r7], %rd1, %r8, %p3;"
    lanes = f"add.u32 %r6, %r3, {d << 16};\nadd.u32 %r7, %r3, {(lane << 16) + 64};"
    return f"mov.b32 %r8, {word};\n{lanes}\n{expect(line, rule) if rule else line}"


CASES = {
    "TM013 each warp its own lanes": ("TM013", kernel(OPEN, by_warp(LD), WAIT_LD, CLOSE)),
    "TM013 each warp the next lanes": (
        "TM013", kernel(OPEN, by_warp(LD, quarter=NEXT, rule="TM013"), WAIT_LD, CLOSE)
    ),
    "TM013 stores": ("TM013", kernel(OPEN, by_warp(ST, quarter=NEXT, rule="TM013"), WAIT_ST, CLOSE)),
    "TM013 the slot is used again afterwards": (
        "TM013",
        kernel(OPEN, "bar.sync 0;", "st.shared.b32 [slot], %r1;", by_warp(LD, quarter=NEXT, rule="TM013"), WAIT_LD,
               CLOSE),
    ),
    "TM013 the slot is written before it is read": (
        "TM013",
        kernel(ALLOCATE, BARRIER, "st.shared.b32 [slot], %r1;", ADDRESS, by_warp(LD, quarter=NEXT), WAIT_LD, CLOSE),
    ),
    "TM013 a number from outside": (
        "TM013", kernel(OPEN, by_warp(LD, quarter="and.b32 %r5, %r9, 3;"), WAIT_LD, CLOSE)
    ),
    "TM016 between quarters": (
        "TM016",
        kernel(OPEN, by_warp(LD, rule="TM016", column=16 << 16), WAIT_LD, CLOSE),
    ),
    "TM015 of each warp, fits": ("TM015", kernel(OPEN, by_warp(LD, column=124), WAIT_LD, USED, CLOSE)),
    "TM015 of each warp, does not": (
        "TM015", kernel(OPEN, by_warp(LD, column=127, rule="TM015"), WAIT_LD, USED, CLOSE)
    ),
    "TM015 registers that nobody reads": (
        "TM015", kernel(OPEN, by_warp(LD, column=126), WAIT_LD, USED, CLOSE)
    ),
    "TM015 stores count in full": ("TM015", kernel(OPEN, by_warp(ST, column=126, rule="TM015"), WAIT_ST, CLOSE)),
    "TM016 D in lane 0": ("TM016", kernel(INIT, OPEN, d_in_lane(0), COMMIT, WAIT, CLOSE)),
    "TM016 D of all lanes in lane 16": ("TM016", kernel(INIT, OPEN, d_in_lane(16, "TM016"), COMMIT, WAIT, CLOSE)),
    "TM016 D of half of the lanes in lane 16": (
        "TM016", kernel(INIT, OPEN, d_in_lane(16, word="0x4100490"), COMMIT, WAIT, CLOSE)
    ),
    "TM016 D of half of the lanes in lane 8": (
        "TM016", kernel(INIT, OPEN, d_in_lane(8, "TM016", word="0x4100490"), COMMIT, WAIT, CLOSE)
    ),
    "TM016 A in the half that D has not": (
        "TM016", kernel(INIT, OPEN, a_in_lane(0, 16, "TM016"), COMMIT, WAIT, CLOSE)
    ),
    "TM016 A in the half that D has": ("TM016", kernel(INIT, OPEN, a_in_lane(16, 16), COMMIT, WAIT, CLOSE)),
    "TM016 A of all lanes": (
        "TM016", kernel(INIT, OPEN, a_in_lane(16, 0, word="0x8100490"), COMMIT, WAIT, CLOSE)
    ),
    "TM002 another address is written over this one": (
        "TM002", kernel(expect(ALLOCATE, "TM002"), OPEN, CLOSE)
    ),
    "TM002 read in between": (
        "TM002", kernel(OPEN, "mov.u32 %r7, %r3;", ALLOCATE, BARRIER, ADDRESS, CLOSE, FREE.replace("%r3", "%r7"))
    ),
    "TM009 multiplied behind a barrier": (
        "TM009",
        kernel(INIT, OPEN, by_warp(ST, rule="TM009"), BARRIER, MULTIPLY, COMMIT, WAIT, WAIT_ST, CLOSE),
    ),
    "TM009 waited for before": (
        "TM009", kernel(INIT, OPEN, by_warp(ST), WAIT_ST, BARRIER, MULTIPLY, COMMIT, WAIT, CLOSE)
    ),
    "TM009 other columns are multiplied": (
        "TM009", kernel(INIT, OPEN, by_warp(ST, column=64), MULTIPLY, WAIT_ST, COMMIT, WAIT, CLOSE)
    ),
    "TM027 on ways that exclude each other": (
        "TM027",
        kernel(OPEN, LOAD, BARRIER, BRANCH, "@%p5 bra $other;", FREE, "bra.uni $end;", "$other:", FREE, "$end:"),
    ),
    "TM027 one way falls through": (
        "TM027", kernel(OPEN, LOAD, BARRIER, BRANCH, "@%p5 bra $other;", FREE, "$other:", expect(FREE, "TM027"))
    ),
    "TM027 allocated again between": ("TM027", kernel(OPEN, LOAD, CLOSE, BARRIER, OPEN, CLOSE)),
    "TM028 the same address in another register": (
        "TM028", kernel(OPEN, LOAD, BARRIER, "add.u32 %r6, %r3, 64;", "sub.u32 %r3, %r6, 64;", FREE)
    ),
    "TM028 in another lane": (
        "TM028", kernel(OPEN, LOAD, BARRIER, "add.u32 %r3, %r3, 0x200000;", expect(FREE, "TM028"))
    ),
    "TM029 filled on one way only": (
        "TM029",
        kernel(INIT, OPEN, BRANCH, "@%p5 bra $skip;", collector("fill"), "$skip:", expect(collector("use"), "TM029"),
               COMMIT, WAIT, CLOSE),
    ),
    "TM029 filled before the loop": (
        "TM029",
        kernel(INIT, OPEN, collector("fill"), "$loop:", collector("use"), "sub.u32 %r9, %r9, 1;",
               "setp.ne.u32 %p5, %r9, 0;", "@%p5 bra $loop;", COMMIT, WAIT, CLOSE),
    ),
    "TM029 discard needs no fill": ("TM029", kernel(INIT, OPEN, collector("discard"), COMMIT, WAIT, CLOSE)),
    "TM015 D fits": ("TM015", kernel(INIT, OPEN, d_at(64), COMMIT, WAIT, CLOSE)),
    "TM015 D ends behind the allocation": ("TM015", kernel(INIT, OPEN, d_at(72, "TM015"), COMMIT, WAIT, CLOSE)),
    "TM032 another buffer is loaded": (
        "TM032", kernel(INIT, OPEN, d_at(64), COMMIT, LOAD, WAIT, CLOSE)
    ),
    "TM032 waited in a loop": ("TM032", kernel(INIT, OPEN, MULTIPLY, COMMIT, WAIT, LOAD, MULTIPLY, COMMIT, CLOSE)),
    "TM032 multiplied again after the wait": (
        "TM032",
        kernel(INIT, OPEN, MULTIPLY, COMMIT, WAIT, MULTIPLY, LOAD.replace(";", "; // expect: TM032", 1), COMMIT, CLOSE),
    ),
    "TM034 met before": ("TM034", kernel(MEET, PAIR, MEET, ADDRESS, PAIR_FREE, directives=CLUSTER)),
    "TM034 only arrived": (
        "TM034",
        kernel("barrier.cluster.arrive.aligned;", expect(PAIR, "TM034"), "barrier.cluster.wait.aligned;", ADDRESS,
               PAIR_FREE, directives=CLUSTER),
    ),
    "TM034 one CTA": ("TM034", kernel(OPEN, CLOSE)),
    "TM035 a warp frees what it alone loads": (
        "TM035", kernel(OPEN, "@!%p1 bra $end;", LOAD, FREE.removeprefix("@%p1 "), "$end:")
    ),
    "TM035 waits for an mbarrier": ("TM035", kernel(INIT, OPEN, LOAD, WAIT, FREE)),
    "TM036 the allocating warp itself": ("TM036", kernel(ALLOCATE, "@!%p1 bra $end;", ADDRESS, FREE, "$end:")),
    "TM036 waits for an mbarrier": ("TM036", kernel(INIT, ALLOCATE, WAIT, ADDRESS, BARRIER, FREE)),
    "TM036 another warp alone": (
        "TM036", kernel(ALLOCATE, "@%p1 bra $end;", expect(ADDRESS, "TM036"), "$end:", BARRIER)
    ),
    "TM037 met between": ("TM037", kernel(PAIR, MEET, ADDRESS, PAIR_FREE, directives=CLUSTER)),
    "TM037 met before only": (
        "TM037", kernel(MEET, PAIR, BARRIER, ADDRESS, expect(PAIR_FREE, "TM037"), directives=CLUSTER)
    ),
    "TM030 freed in each round": (
        "TM030",
        kernel("$loop:", ALLOCATE, BARRIER, ADDRESS, CLOSE, "sub.u32 %r9, %r9, 1;", "setp.ne.u32 %p5, %r9, 0;",
               "@%p5 bra $loop;"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    rule_id, text = CASES[name]
    assert agrees(rule_id, Source("k.ptx", text))


def test_unknown_block_size_is_silent() -> None:
    for rule_id in ("TM035", "TM036"):
        text = kernel(ALLOCATE, ADDRESS, LOAD, FREE, directives=".maxntid 128")
        assert agrees(rule_id, Source("k.ptx", text))
