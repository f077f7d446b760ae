"""CL rules: near misses and cases beyond the kernels of the rules themselves."""

from __future__ import annotations

import pytest

from .kernels import agrees, kernel, proved

CLUSTER = ".reqntid 128 .reqnctapercluster 2"
WARP = "mov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;\n"
ARRIVE = "barrier.cluster.arrive.aligned;\n"
WAIT = "barrier.cluster.wait.aligned;\n"
MET = "barrier.cluster.wait.aligned; // expect: CL006\n"
PEER = "mov.u32 %r3, data;\nmapa.shared::cluster.u32 %r4, %r3, 1;\n"


def sides(first_warp: str, others: str) -> str:
    """Return a body in which the first warp does one thing and the others another."""
    return f"{WARP}setp.ne.u32 %p1, %r2, 0;\n@%p1 bra $o;\n{first_warp}bra $e;\n$o:\n{others}$e:"


CASES = {
    "CL001 twice": ("CL001", ARRIVE + WAIT + "barrier.cluster.wait.aligned; // expect: CL001"),
    "CL001 in a loop": (
        "CL001",
        f"mov.b32 %r1, 0;\n$l:\n{ARRIVE}{WAIT}add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 4;\n@%p1 bra $l;",
    ),
    "CL001 same condition twice": (
        "CL001",
        f"""
ld.param.u32 %r1, [n];
setp.lt.s32 %p1, %r1, 2;
@%p1 bra $a;
{ARRIVE}$a:
setp.lt.s32 %p2, %r1, 2;
@%p2 bra $b;
{WAIT}$b:""",
    ),
    "CL001 one round under way": (
        "CL001",
        f"""
{ARRIVE}ld.param.u32 %r1, [n];
$l:
{WAIT}{ARRIVE}sub.u32 %r1, %r1, 1;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra $l;
{WAIT}""",
    ),
    "CL002 in a loop": (
        "CL002",
        """
mov.b32 %r1, 0;
$l:
barrier.cluster.arrive.aligned; // expect: CL002
add.u32 %r1, %r1, 1;
setp.lt.u32 %p1, %r1, 4;
@%p1 bra $l;
barrier.cluster.wait.aligned;""",
    ),
    "CL002 either way": (
        "CL002",
        "ld.param.u32 %r1, [n];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra $a;\n"
        f"{ARRIVE}bra.uni $b;\n$a:\n{ARRIVE}$b:\n{WAIT}",
    ),
    "CL003 both waited for": ("CL003", ARRIVE + WAIT),
    "CL004 fence": (
        "CL004",
        PEER + "st.shared.b32 [%r3], %r3;\nfence.acq_rel.cluster;\nbarrier.cluster.arrive.relaxed.aligned;\n"
        + WAIT + "ld.shared::cluster.b32 %r5, [%r4];",
    ),
    "CL004 fence by one thread behind a barrier": (
        "CL004",
        PEER + """
st.shared.b32 [%r3], %r3;
bar.sync 0;
elect.sync _|%p1, -1;
@%p1 fence.acq_rel.cluster;
barrier.cluster.arrive.relaxed.aligned;
barrier.cluster.wait.aligned;
ld.shared::cluster.b32 %r5, [%r4];""",
    ),
    "CL004 other bytes": (
        "CL004",
        PEER + "st.shared.b32 [%r3+64], %r3;\nbarrier.cluster.arrive.relaxed.aligned;\n"
        + WAIT + "ld.shared::cluster.b32 %r5, [%r4];",
    ),
    "CL004 same bytes of each thread": (
        "CL004",
        WARP + """
shl.b32 %r6, %r1, 2;
mov.u32 %r3, data;
add.u32 %r3, %r3, %r6;
mapa.shared::cluster.u32 %r4, %r3, 1;
st.shared.b32 [%r3], %r1;
bar.sync 0;
barrier.cluster.arrive.relaxed.aligned; // expect: CL004
barrier.cluster.wait.aligned;
ld.shared::cluster.b32 %r5, [%r4];""",
    ),
    "CL005 own rank": ("CL005", "mov.u32 %r1, %cluster_ctarank;\nmapa.shared::cluster.u32 %r2, %r1, %r1;"),
    "CL005 computed": (
        "CL005", "mov.u32 %r1, %cluster_ctarank;\nadd.u32 %r1, %r1, 2;\n"
        "mapa.shared::cluster.u32 %r2, %r1, %r1; // expect: CL005",
    ),
    "CL006 lanes": (
        "CL006",
        f"""
mov.u32 %r1, %laneid;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra $j;
barrier.cluster.arrive.aligned; // expect: CL006
$j:
bar.sync 0;
{WAIT}""",
    ),
    "CL006 both roles": (
        "CL006",
        WARP + f"""
setp.ne.u32 %p1, %r2, 0;
@%p1 bra $other;
{ARRIVE}{WAIT}bra.uni $j;
$other:
{ARRIVE}{WAIT}$j:
bar.sync 0;""",
    ),
    "CL006 others end": ("CL006", WARP + f"setp.ne.u32 %p1, %r2, 0;\n@%p1 bra $j;\n{ARRIVE}{WAIT}$j:"),
    "CL006 both meet by two instructions": (
        "CL006", sides(f"bar.sync 1, 128;\n{ARRIVE}{WAIT}", f"bar.sync 1, 128;\n{ARRIVE}{WAIT}")
    ),
    "CL006 arrives where the others wait": (
        "CL006", sides(f"bar.arrive 1, 128;\n{ARRIVE}{WAIT}", f"bar.sync 1, 128;\n{ARRIVE}{WAIT}")
    ),
    "CL006 the number may be that of the others": (
        "CL006",
        "ld.param.u32 %r3, [n];\n"
        + sides(f"bar.sync %r3, 128;\n{ARRIVE}{WAIT}", f"bar.sync 1, 128;\n{ARRIVE}{WAIT}"),
    ),
    "CL006 another number": (
        "CL006", sides(f"bar.sync 2, 32;\n{ARRIVE}{MET}", f"bar.sync 1, 128;\n{ARRIVE}{WAIT}")
    ),
    "CL006 the cluster first": (
        "CL006", sides(f"{ARRIVE}{MET}bar.sync 1, 128;\n", f"bar.sync 1, 128;\n{ARRIVE}{WAIT}")
    ),
    "CL006 the others meet the cluster first": (
        "CL006", sides(f"bar.sync 1, 128;\n{ARRIVE}{WAIT}", f"{ARRIVE}{MET}bar.sync 1, 128;\n")
    ),
    "CL010 own CTA": (
        "CL010", "mov.u32 %r1, %cluster_ctarank;\nmov.u32 %r3, data;\n"
        "mapa.shared::cluster.u32 %r4, %r3, %r1;\nst.shared::cluster.b32 [%r4], %r1;",
    ),
    "CL010 behind a barrier of the block": (
        "CL010", PEER + "bar.sync 0;\nst.shared::cluster.b32 [%r4], %r3; // expect: CL010"
    ),
    "CL010 by rank": (
        "CL010",
        PEER + "mov.u32 %r5, %cluster_ctarank;\nsetp.ne.u32 %p1, %r5, 1;\n@%p1 bra $j;\n"
        "st.shared::cluster.b32 [%r4], %r3;\n$j:",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    rule_id, body = CASES[name]
    assert agrees(rule_id, kernel(body, CLUSTER))


def test_sizes_of_clusters() -> None:
    assert proved("CL007", kernel("", ".reqnctapercluster 4, 5")) == [("CL007", 5)]
    assert proved("CL007", kernel("", ".reqnctapercluster 16")) == []
    assert proved("CL007", kernel("", "")) == []


def test_ranks_need_a_known_cluster() -> None:
    assert proved("CL005", kernel(PEER.replace("1;", "9;"), ".reqntid 128")) == []
    assert proved("CL010", kernel(PEER + "st.shared::cluster.b32 [%r4], %r3;", ".reqntid 128")) == []
