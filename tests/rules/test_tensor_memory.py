"""TM rules: near misses and cases beyond the kernels of the rules themselves."""

from __future__ import annotations

import pytest

from .kernels import agrees, kernel, proved

WARP = """
.shared .align 4 .b32 slot;
.shared .align 4 .b32 slot2;
mov.u32 %r1, %tid.x;
shr.u32 %r2, %r1, 5;
setp.eq.u32 %p1, %r2, 0;
setp.eq.u32 %p2, %r2, 1;
"""


def alloc(columns: int | str, slot: str = "slot", guard: str = "@%p1 ", expect: str = "") -> str:
    note = f" // expect: {expect}" if expect else ""
    return f"{guard}tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [{slot}], {columns};{note}\n"


def dealloc(columns: int | str, guard: str = "@%p1 ", expect: str = "") -> str:
    note = f" // expect: {expect}" if expect else ""
    return f"{guard}tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, {columns};{note}\n"


BAR = "bar.sync 0;\n"
ADDRESS = "ld.shared.b32 %r3, [slot];\n"
RELINQUISH = "@%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
LOAD = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3];\n"
STORE = "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r3], {%r1};"
WAIT_LOAD = "tcgen05.wait::ld.sync.aligned;\n"
WAIT_STORE = "tcgen05.wait::st.sync.aligned;\n"
USE = "add.u32 %r5, %r4, 1;"
OPEN = alloc(32) + BAR + ADDRESS
CLOSE = BAR + dealloc(32)
ELECT = "elect.sync _|%p3, -1;\n"
MMA = "tcgen05.mma.cta_group::1.kind::f16 [%r3], %rd1, %rd2, %r6, 0;"
COMMIT = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];"
PARAMETER = "ld.param.u32 %r7, [n];\nsetp.eq.u32 %p4, %r7, 0;\n"

CASES = {
    "TM001 not known": ("TM001", "ld.param.u32 %r7, [n];\n" + alloc("%r7")),
    "TM001 rounded up to 16": (
        "TM001",
        "ld.param.u32 %r7, [n];\nor.b32 %r7, %r7, 16;\n" + alloc("%r7", expect="TM001"),
    ),
    # freed
    "TM002 freed by another warp": ("TM002", OPEN + BAR + dealloc(32, "@%p2 ")),
    "TM002 freed by one role or the other": (
        "TM002", OPEN + f"@%p1 bra $a;\n{dealloc(32, '@%p2 ')}bra.uni $end;\n$a:\n{BAR}$end:",
    ),
    "TM002 early end of some threads": (
        "TM002",
        OPEN + "setp.gt.u32 %p5, %r2, 1;\n@%p5 ret;\n" + dealloc(32),
    ),
    "TM002 early end of all threads": (
        "TM002", PARAMETER + alloc(32, expect="TM002") + BAR + ADDRESS + "@%p4 ret;\n" + CLOSE,
    ),
    "TM002 early end before": ("TM002", PARAMETER + "@%p4 ret;\n" + OPEN + CLOSE),
    "TM002 freed on both ways": (
        "TM002", PARAMETER + OPEN + f"@!%p4 bra $go;\n{dealloc(32)}ret;\n$go:\n" + CLOSE,
    ),
    "TM002 trap": ("TM002", PARAMETER + OPEN + "@%p4 trap;\n" + CLOSE),
    "TM003 either size": (
        "TM003",
        PARAMETER + "selp.b32 %r8, 32, 64, %p4;\n" + alloc("%r8") + BAR + ADDRESS + dealloc(64),
    ),
    "TM003 second of two": ("TM003", alloc(64) + alloc(32, "slot2") + BAR + ADDRESS + dealloc(32)),
    "TM004 same": ("TM004", alloc(64) + alloc(64, "slot2")),
    "TM004 in a loop": (
        "TM004",
        f"mov.u32 %r8, 0;\n$next:\n{alloc(32)}{BAR}{ADDRESS}{CLOSE}add.u32 %r8, %r8, 1;\n"
        f"setp.lt.u32 %p4, %r8, 4;\n@%p4 bra $next;",
    ),
    "TM004 by different warps": ("TM004", alloc(32) + alloc(64, "slot2", "@%p2 ")),
    "TM005 after the last": ("TM005", OPEN + RELINQUISH + CLOSE),
    "TM005 on ways that exclude each other": (
        "TM005", PARAMETER + f"@%p4 bra $a;\n{RELINQUISH}$a:\n@!%p4 bra $b;\n{alloc(32)}$b:",
    ),
    "TM006 freed between": ("TM006", alloc(512) + BAR + ADDRESS + dealloc(512) + alloc(512, "slot2")),
    "TM006 freed by another warp": (
        "TM006", alloc(512) + BAR + ADDRESS + dealloc(512, "@%p2 ") + alloc(512, "slot2") + CLOSE,
    ),
    "TM006 half each": ("TM006", alloc(256) + alloc(256, "slot2")),
    "TM006 in a loop": (
        "TM006",
        f"mov.u32 %r8, 0;\n$next:\n{alloc(512, expect='TM006')}add.u32 %r8, %r8, 1;\n"
        f"setp.lt.u32 %p4, %r8, 4;\n@%p4 bra $next;",
    ),
    "TM007 guard of a whole warp": ("TM007", OPEN + CLOSE),
    "TM007 other lanes have ended": (
        "TM007",
        "and.b32 %r8, %r1, 31;\nsetp.ne.u32 %p5, %r8, 0;\n@%p5 ret;\n" + alloc(32),
    ),
    # loads and stores
    "TM008 two loads, one wait": (
        "TM008", OPEN + LOAD + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r6}, [%r3];\n" + WAIT_LOAD + USE,
    ),
    "TM008 wait for stores": ("TM008", OPEN + LOAD + WAIT_STORE + USE + " // expect: TM008"),
    "TM008 moved": ("TM008", OPEN + LOAD + "mov.b32 %r6, %r4;\n" + WAIT_LOAD + "add.u32 %r5, %r6, 1;"),
    "TM009 waited at last": ("TM009", OPEN + STORE + "\n" + BAR + WAIT_STORE),
    "TM009 several stores, one wait": ("TM009", OPEN + STORE + "\n" + STORE + "\n" + WAIT_STORE),
    "TM009 load of another place": (
        "TM009",
        OPEN + STORE + "\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3 + 8];\n" + WAIT_LOAD
        + WAIT_STORE,
    ),
    "TM009 load of the same place": (
        "TM009",
        OPEN + STORE + " // expect: TM009\n" + LOAD + WAIT_LOAD + WAIT_STORE,
    ),
    "TM009 wait for loads": ("TM009", OPEN + STORE + " // expect: TM009\n" + WAIT_LOAD + CLOSE),
    # one thread
    "TM010 elected twice": (
        "TM010",
        OPEN
        + f"mov.b32 %r8, -1;\nelect.sync _|%p3, %r8;\n@%p3 {MMA}\nbar.warp.sync -1;\n"
        f"elect.sync _|%p5, -1;\n@%p5 {COMMIT}\n",
    ),
    "TM010 commit on one way only": (
        "TM010",
        PARAMETER + OPEN + ELECT + f"@%p3 {MMA} // expect: TM010\n@%p4 bra $j;\n@%p3 {COMMIT}\n$j:\n"
        + CLOSE,
    ),
    "TM010 commit for several": ("TM010", OPEN + ELECT + f"@%p3 {MMA}\n@%p3 {MMA}\n@%p3 {COMMIT}\n" + CLOSE),
    "TM011 thread 0": ("TM011", OPEN + f"setp.eq.u32 %p3, %r1, 0;\n@%p3 {MMA}\n@%p3 {COMMIT}\n" + CLOSE),
    "TM011 one of each warp": ("TM011", OPEN + ELECT + f"@%p3 {MMA}\n@%p3 {COMMIT}\n" + CLOSE),
    "TM011 not known": (
        "TM011",
        OPEN + f"ld.shared.b32 %r8, [data];\nsetp.eq.u32 %p3, %r8, %r1;\n@%p3 {MMA}\n" + CLOSE,
    ),
    "TM011 two lanes": (
        "TM011",
        OPEN + f"and.b32 %r8, %r1, 31;\nsetp.lt.u32 %p3, %r8, 2;\n@%p3 {MMA} // expect: TM011\n" + CLOSE,
    ),
    # addresses
    "TM012 alike in the warp": ("TM012", OPEN + "shl.b32 %r8, %r2, 21;\nadd.u32 %r3, %r3, %r8;\n" + LOAD),
    "TM013 own lanes": ("TM013", OPEN + "@!%p1 bra $j;\n" + LOAD + "$j:\n" + CLOSE),
    "TM013 second warp": (
        "TM013",
        OPEN + "@!%p2 bra $j;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3 + 2097152];\n$j:\n"
        + CLOSE,
    ),
    "TM013 second warp, lanes of the first": (
        "TM013", OPEN + f"@!%p2 bra $j;\n{LOAD.strip()}\n$j:\n" + CLOSE,
    ),
    "TM013 first warp, lanes of the second": (
        "TM013",
        OPEN + "@!%p1 bra $j;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3 + 2097152]; // expect: TM013\n"
        "$j:\n" + CLOSE,
    ),
    "TM044 own lanes": ("TM044", OPEN + "@!%p1 bra $j;\n" + LOAD + "$j:\n" + CLOSE),
    "TM044 second warp, lanes of the first": (
        "TM044", OPEN + f"@!%p2 bra $j;\n{LOAD.strip()} // expect: TM044\n$j:\n" + CLOSE,
    ),
    "TM044 first warp, lanes of the second": (
        "TM044",
        OPEN + "@!%p1 bra $j;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3 + 2097152];\n$j:\n" + CLOSE,
    ),
    "TM013 address written anew": ("TM013", OPEN + "st.shared.b32 [slot], %r1;\n" + ADDRESS + LOAD + CLOSE),
    "TM015 last column": ("TM015", OPEN + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3 + 31];\n"),
    "TM015 wide shape": (
        "TM015",
        OPEN + "tcgen05.ld.sync.aligned.16x64b.x1.b32 {%r4}, [%r3 + 30];\n"
        "tcgen05.ld.sync.aligned.16x64b.x1.b32 {%r4}, [%r3 + 31]; // expect: TM015\n",
    ),
    "TM016 middle of a quarter": (
        "TM016",
        OPEN + "tcgen05.ld.sync.aligned.16x64b.x1.b32 {%r4}, [%r3 + 1048576];\n",
    ),
    "TM018 no use": ("TM018", BAR),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    rule_id, body = CASES[name]
    assert agrees(rule_id, kernel(WARP + body, target="sm_100a"))


def test_number_of_warps_must_be_known() -> None:
    body = WARP + alloc(32, guard="") + ADDRESS
    assert proved("TM017", kernel(body, ".maxntid 128", target="sm_100a")) == []
    assert proved("TM017", kernel(body, ".reqntid 128", target="sm_100a")) != []
    assert proved("TM017", kernel(body, ".reqntid 32", target="sm_100a")) == []


@pytest.mark.parametrize(("group", "other"), [(2, 1), (1, 2)])
def test_tensor_copies_have_a_group_of_their_own(group: int, other: int) -> None:
    copy = (
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        f".cta_group::{group} [data], [%rd1, {{0}}], [bar];\n"
    )
    body = WARP + (OPEN + CLOSE).replace("cta_group::1", f"cta_group::{other}") + copy
    assert proved("TM033", kernel(body, ".reqntid 128 .reqnctapercluster 2", target="sm_100a")) == []


@pytest.mark.parametrize(
    ("cluster", "fires"), [("", 0), (".reqnctapercluster 4", 0), (".reqnctapercluster 3", 2)]
)
def test_pairs_need_even_clusters(cluster: str, fires: int) -> None:
    body = (WARP + OPEN + CLOSE).replace("cta_group::1", "cta_group::2")
    assert len(proved("TM014", kernel(body, ".reqntid 128 " + cluster, target="sm_100a"))) == fires
