"""PT rules: near misses, and cases that ptxas 13.0 was asked about."""

from __future__ import annotations

import pytest

from ptxcheck.source import Source

from .kernels import agrees, kernel, proved

CASES = {
    "PT001 upper case": ("PT001", "MOV.b32 %r1, 1; // expect: PT001"),
    "PT002 order is free": ("PT002", "ld.param.u64 %rd1, [in];\nld.b32.global %r1, [%rd1];"),
    "PT003 too few": ("PT003", "add.u32 %r1, %r2; // expect: PT003"),
    "PT003 literal out of range": ("PT003", "bar.sync 16, 128; // expect: PT003"),
    "PT003 scale-d as a number": (
        "PT003",
        ".reg .f32 %f<5>;\n"
        "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f1, %f2, %f3, %f4}, %rd1, %rd1, 1, 1, 1;\n"
        "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f1, %f2, %f3, %f4}, %rd1, %rd1, 2, 1, 1;"
        " // expect: PT003",
    ),
    "PT003 narrow addresses": (
        "PT003",
        "st.global.u32 [%r1], %r2; // expect: PT003\nld.b32 %r2, [%r1+4]; // expect: PT003\n"
        "mbarrier.arrive.b64 _, [%r1]; // expect: PT003\nst.shared.u32 [%r1], %r2;\nld.local.u32 %r2, [%r1];",
    ),
    "PT003 wider load": ("PT003", "ld.param.u64 %rd1, [in];\nld.global.u8 %r1, [%rd1];"),
    "PT006 label of an inner block": ("PT006", "bra IN; // expect: PT006\n{\nIN:\nmov.b32 %r1, 1;\n}"),
    "PT006 label of an outer block": ("PT006", "{\nbra OUT;\n}\nOUT:\nmov.b32 %r1, 1;"),
    "PT006 register of an inner block": (
        "PT006", "{\n.reg .b32 t;\nmov.b32 t, 1;\n}\nmov.b32 %r1, t; // expect: PT006"
    ),
    "PT006 shadowed": ("PT006", "{\n.reg .b32 %r99;\nmov.b32 %r99, 1;\n}"),
    "PT006 special": ("PT006", "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %envreg31;\nmov.u64 %rd1, %clock64;"),
    "PT006 not special": ("PT006", "mov.u32 %r1, %tidd; // expect: PT006"),
    "PT006 guard": ("PT006", "@%p9 mov.u32 %r1, 1; // expect: PT006"),
    "PT006 parameter": ("PT006", "mov.u64 %rd1, in;\nadd.u32 %r1, %r2, WARP_SZ;"),
    "PT006 function": ("PT006", "call helper; // expect: PT006"),
    "PT006 jump table": ("PT006", "$t: .branchtargets A, B;\nbrx.idx %r1, $t;\nA:\nmov.b32 %r1, 1;\nB:"),
    "PT006 overlapping ranges": ("PT006", ".reg .b32 %r1<20>;\nmov.b32 %r119, 1;"),
    "PT007 register in a range": ("PT007", ".reg .b32 %r3; // expect: PT007"),
    "PT007 register beyond a range": ("PT007", ".reg .b32 %r16;"),
    "PT007 same range": ("PT007", ".reg .b64 %r<4>; // expect: PT007"),
    "PT007 label and variable": ("PT007", "data: // expect: PT007\nmov.b32 %r1, 1;"),
    "PT007 shadows a parameter": ("PT007", ".reg .b32 n; // expect: PT007"),
    "PT007 inner block": ("PT007", "{\n.reg .b32 %r<4>;\n.reg .b32 n;\n}"),
    "PT007 blocks side by side": ("PT007", "{\n.reg .pred q;\nL:\n}\n{\n.reg .pred q;\nL:\n}"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    rule_id, body = CASES[name]
    assert agrees(rule_id, kernel(body))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (".global .u32 x;\n.global .u32 x;", [4]),
        (".extern .global .u32 x;\n.visible .global .u32 x;", []),
        (".extern .shared .b8 x[];\n.extern .shared .b8 x[];", []),
        (".func f(.param .u32 a);\n.func f(.param .u32 a) { ret; }", []),
        (".func f() { ret; }\n.func f() { ret; }", [4]),
        (".global .u32 k;", [4]),
    ],
)
def test_names_of_a_module(text: str, lines: list[int]) -> None:
    source = Source("m.ptx", f".version 9.0\n.target sm_90a\n{text}\n.visible .entry k()\n{{\nret;\n}}\n")
    assert proved("PT007", source) == [("PT007", line) for line in lines]


def test_unknown_instructions_of_a_later_version_prove_nothing() -> None:
    assert proved("PT001", kernel("frobnicate.b32 %r1, %r2;")) == [("PT001", 12)]
    assert proved("PT001", kernel("frobnicate.b32 %r1, %r2;", version="10.0")) == []


def test_target_newer_than_the_version() -> None:
    assert proved("PT004", kernel("", target="sm_100a", version="8.0")) == [("PT004", 2)]
    assert proved("PT004", kernel("", target="sm_100a", version="8.6")) == []


def test_family_targets() -> None:
    body = "redux.sync.min.f32 %r1, %r2, -1;"
    assert proved("PT005", kernel(body, target="sm_90a", version="8.8")) == [("PT005", 12)]
    assert proved("PT005", kernel(body, target="sm_103f", version="8.8")) == []


@pytest.mark.parametrize(
    ("directives", "count"),
    [
        (".maxntid 128 .reqntid 128", 1),
        (".maxntid 128 .maxntid 128", 0),
        (".reqntid 0", 1),
        (".maxclusterrank 8 .reqnctapercluster 2", 1),
        (".explicitcluster .maxclusterrank 8", 0),
        (".blocksareclusters .reqnctapercluster 4", 1),
        (".blocksareclusters .reqntid 64 .reqnctapercluster 4", 0),
    ],
)
def test_launch_directives(directives: str, count: int) -> None:
    assert len(proved("PT010", kernel("", directives))) == count
