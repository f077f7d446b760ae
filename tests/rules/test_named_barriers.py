"""NB rules: near misses and cases beyond the kernels of the rules themselves."""

from __future__ import annotations

import pytest

from .kernels import agrees, kernel, proved

LANE = """
mov.u32 %r1, %tid.x;
and.b32 %r2, %r1, 31;
"""
WARP = """
mov.u32 %r1, %tid.x;
shr.u32 %r2, %r1, 5;
"""
FIRST_ARRIVES = WARP + "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra $w;\nbar.arrive 1, 160;\n$w:\n"
LAST_ARRIVES = WARP + "setp.ne.u32 %p1, %r2, 3;\n@%p1 bra $w;\nbar.arrive 1, 160;\n$w:\n"

CASES = {
    # numbers and counts
    "NB001 literal 15": ("NB001", "bar.sync 15, 128;"),
    "NB001 computed": ("NB001",
        "mov.u32 %r1, %tid.x;\nor.b32 %r2, %r1, 16;\nbar.sync %r2, 128; // expect: NB001"
    ),
    "NB001 may be in range": ("NB001", "ld.param.u32 %r1, [n];\nbar.sync %r1, 128;"),
    "NB001 dead code": ("NB001", "bra $end;\nmov.b32 %r1, 99;\nbar.sync %r1, 128;\n$end:"),
    "NB001 by the warp": (
        "NB001",
        "mov.u32 %r1, %tid.x;\nshr.u32 %r1, %r1, 5;\nadd.u32 %r1, %r1, 13;\nbarrier.sync %r1, 32; // expect: NB001",
    ),
    "NB001 by the warp, in range": (
        "NB001",
        "mov.u32 %r1, %tid.x;\nshr.u32 %r1, %r1, 5;\nadd.u32 %r1, %r1, 12;\nbarrier.sync %r1, 32;",
    ),
    "NB001 by the warp, guarded": (
        "NB001",
        "mov.u32 %r1, %tid.x;\nshr.u32 %r1, %r1, 5;\nadd.u32 %r1, %r1, 13;\nsetp.gt.u32 %p1, %r1, 15;\n"
        "@%p1 bra $end;\nbarrier.sync %r1, 32;\n$end:",
    ),
    "NB001 arrive": ("NB001", "mov.b32 %r1, 16;\nbarrier.arrive %r1, 128; // expect: NB001"),
    "NB002 odd multiple": ("NB002", "ld.param.u32 %r1, [n];\nshl.b32 %r1, %r1, 5;\nbar.sync 1, %r1;"),
    "NB002 never a multiple": (
        "NB002",
        "ld.param.u32 %r1, [n];\nshl.b32 %r1, %r1, 5;\nadd.u32 %r1, %r1, 16;\n"
        "bar.sync 1, %r1; // expect: NB002",
    ),
    "NB002 zero threads arrive": ("NB002", "mov.b32 %r1, 0;\nbar.arrive 1, %r1; // expect: NB002"),
    "NB002 zero threads sync": ("NB002", "mov.b32 %r1, 0;\nbar.sync 1, %r1;"),
    "NB003 arrival": ("NB003", "bar.arrive 1, 256;"),
    "NB003 the first warp counts twice": ("NB003", FIRST_ARRIVES + "bar.sync 1, 160;"),
    "NB003 more than that": ("NB003",
        FIRST_ARRIVES.replace("160", "192") + "bar.sync 1, 192; // expect: NB003"
    ),
    "NB003 arrives again and again": ("NB003",
        "mov.u32 %r4, 0;\n$l:\nbar.arrive 1, 512;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 3;\n@%p1 bra $l;\n"
        "bar.sync 1, 512;"
    ),
    # part of a warp
    "NB004 by warp": ("NB004",
        WARP + "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra $j;\nbar.sync 1, 32;\n$j:\nbar.sync 0;"
    ),
    "NB004 guard": ("NB004",
        LANE + "setp.eq.u32 %p1, %r2, 0;\n@%p1 bar.arrive 1, 128; // expect: NB004\n"
        "bar.sync 1, 128;"
    ),
    "NB004 others have ended": ("NB004", LANE + "setp.ge.u32 %p1, %r2, 16;\n@%p1 ret;\nbar.sync 0;"),
    "NB004 others jump to the end": (
        "NB004", LANE + "setp.ge.u32 %p1, %r2, 16;\n@%p1 bra $end;\nbar.sync 0;\n$end:"
    ),
    "NB004 unaligned": (
        "NB004", LANE + "setp.ge.u32 %p1, %r2, 16;\n@%p1 bra $j;\nbarrier.sync 1, 128;\n$j:\nbar.sync 0;"
    ),
    "NB004 elected": (
        "NB004",
        "elect.sync _|%p1, -1;\n@!%p1 bra $j;\nbar.sync 1, 128; // expect: NB004\n$j:\nbar.sync 0;",
    ),
    "NB004 by a loaded value": (
        "NB004",
        "ld.param.u32 %r1, [n];\nsetp.ge.u32 %p1, %r1, 16;\n@%p1 bra $j;\nbar.sync 1, 128;\n$j:\nbar.sync 0;",
    ),
    "NB010 in whole warps": (
        "NB010",
        WARP + "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra $j;\n"
        "movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r2;\n$j:\nbar.sync 0;",
    ),
    # counts that disagree
    "NB005 in turns": (
        "NB005", WARP + "bar.sync 1, 128;\nsetp.ge.u32 %p1, %r1, 64;\n@%p1 bra $j;\n"
        "bar.sync 1, 64;\n$j:\nbar.sync 0;"
    ),
    "NB005 ordered by a barrier": (
        "NB005",
        WARP + """
setp.ge.u32 %p1, %r1, 64;
@%p1 bra $u;
bar.sync 1, 64;
bar.arrive 2, 128;
bra.uni $j;
$u:
bar.sync 2, 128;
bar.sync 1, 32;
$j:
bar.sync 0;""",
    ),
    "NB005 never both": (
        "NB005",
        WARP + """
ld.param.u32 %r3, [n];
setp.eq.u32 %p2, %r3, 0;
setp.ge.u32 %p1, %r1, 64;
@%p1 bra $u;
@%p2 bra $j;
bar.sync 1, 64;
bra.uni $j;
$u:
@!%p2 bra $j;
bar.sync 1, 32;
$j:
bar.sync 0;""",
    ),
    "NB006 one site": ("NB006", WARP + "bar.sync 5, 128;"),
    "NB006 arrive and sync": (
        "NB006",
        WARP + "setp.ge.u32 %p1, %r1, 64;\n@%p1 bra $u;\nbar.arrive 5, 128;\nbra.uni $j;\n$u:\n"
        "bar.sync 5, 128;\n$j:",
    ),
    "NB007 number in a register": ("NB007", "ld.param.u32 %r1, [n];\nbar.arrive 1, 128;\nbar.sync %r1, 128;"),
    # masks
    "NB008 matching mask": (
        "NB008", LANE + "setp.ge.u32 %p1, %r2, 16;\n@%p1 bra $j;\nbar.warp.sync 0xffff;\n"
        "$j:\nbar.warp.sync -1;"
    ),
    "NB008 mask without the lane": (
        "NB008",
        LANE + "setp.lt.u32 %p1, %r2, 16;\n@%p1 bra $j;\n"
        "bar.warp.sync 0xffff; // expect: NB008\n$j:\nbar.warp.sync -1;",
    ),
    "NB008 both arms elect, first half names all": (
        "NB008",
        LANE + "setp.ge.u32 %p1, %r2, 16;\n@%p1 bra $j;\nelect.sync _|%p2, 0xffffffff; // expect: NB008\nbra $k;\n"
        "$j:\nelect.sync _|%p2, 0xffff0000;\n$k:\nbar.warp.sync -1;",
    ),
    "NB008 both arms elect, second half names all": (
        "NB008",
        LANE + "setp.ge.u32 %p1, %r2, 16;\n@%p1 bra $j;\nelect.sync _|%p2, 0xffff;\nbra $k;\n"
        "$j:\nelect.sync _|%p2, 0xffffffff; // expect: NB008\n$k:\nbar.warp.sync -1;",
    ),
    "NB008 both arms elect, each half names itself": (
        "NB008",
        LANE + "setp.ge.u32 %p1, %r2, 16;\n@%p1 bra $j;\nelect.sync _|%p2, 0xffff;\nbra $k;\n"
        "$j:\nelect.sync _|%p2, 0xffff0000;\n$k:\nbar.warp.sync -1;",
    ),
    "NB008 both arms meet": (
        "NB008",
        LANE + """
setp.ge.u32 %p1, %r2, 16;
@%p1 bra $u;
bar.warp.sync -1;
bra.uni $j;
$u:
bar.warp.sync -1;
$j:
bar.sync 0;""",
    ),
    "NB008 others have ended": (
        "NB008", LANE + "setp.ge.u32 %p1, %r2, 16;\n@%p1 ret;\nshfl.sync.bfly.b32 %r3, %r2, 8, 31, -1;"
    ),
    "NB008 elect under elect": (
        "NB008",
        """
elect.sync _|%p1, -1;
@!%p1 bra $j;
redux.sync.add.u32 %r3, 1, -1; // expect: NB008
$j:
bar.sync 0;""",
    ),
    "NB008 active mask": (
        "NB008",
        LANE + "setp.ge.u32 %p1, %r2, 16;\n@%p1 bra $j;\nactivemask.b32 %r4;\n"
        "bar.warp.sync %r4;\n$j:\nbar.sync 0;",
    ),
    "NB009 not zero": ("NB009", "ld.param.u32 %r1, [n];\nvote.sync.any.pred %p1, 1, %r1;"),
    # arrivals
    "NB011 the first warp counts twice": ("NB011", FIRST_ARRIVES + "bar.sync 1, 160;"),
    "NB011 the last warp counts twice": ("NB011", LAST_ARRIVES + "bar.sync 1, 160;"),
    "NB011 it arrives twice": ("NB011",
        WARP + "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra $w;\nbar.arrive 1, 160;\nbar.arrive 1, 160;\nbra $e;\n$w:\n"
        "bar.sync 1, 160;\n$e:"
    ),
    "NB011 the count has no part for the arrival": ("NB011",
        FIRST_ARRIVES.replace("160", "128") + "bar.sync 1, 128; // expect: NB011"
    ),
    "NB011 a part too few for two arrivals": ("NB011",
        FIRST_ARRIVES.replace("$w:", "bar.arrive 1, 160; // expect: NB011\n$w:")
        + "bar.sync 1, 160; // expect: NB011"
    ),
    "NB011 other barrier in between": ("NB011", "bar.arrive 1, 128;\nbar.sync 2, 128;\nbar.arrive 1, 128;"),
    "NB011 arrive then sync": ("NB011", "bar.arrive 1, 128;\nbar.sync 1, 128; // expect: NB011"),
    "NB011 in two branches": (
        "NB011",
        """
ld.param.u32 %r1, [n];
setp.eq.u32 %p1, %r1, 0;
@%p1 bra $u;
bar.arrive 1, 256;
$u:
@!%p1 bra $j;
bar.arrive 1, 256;
$j:""",
    ),
    "NB011 spin on a flag": (
        "NB011",
        "ld.param.u64 %rd1, [in];\nbar.arrive 1, 256;\nld.acquire.gpu.b32 %r1, [%rd1];\nbar.arrive 1, 256;",
    ),
    "NB012 a barrier for each group": (
        "NB012",
        WARP + """
shr.u32 %r3, %r1, 6;
add.u32 %r4, %r3, 2;
bar.arrive %r4, 128;
xor.b32 %r5, %r3, 1;
add.u32 %r5, %r5, 2;
bar.sync %r5, 128;
bar.sync 2, 128;""",
    ),
    "NB012 both sides": (
        "NB012",
        WARP + "setp.ge.u32 %p1, %r1, 64;\n@%p1 bra $u;\nbar.arrive 5, 128;\nbra.uni $j;\n$u:\n"
        "bar.sync 5, 128;\n$j:",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    rule_id, body = CASES[name]
    assert agrees(rule_id, kernel(body))


def test_counts_need_a_known_block() -> None:
    body = "bar.sync 1, 160; // expect: NB003"
    assert proved("NB003", kernel(body, ".maxntid 128")) == [("NB003", 12)]
    assert proved("NB003", kernel(body, ".maxntid 160")) == []
    assert proved("NB003", kernel(body, "")) == []


def test_partial_last_warp_counts_whole() -> None:
    assert proved("NB003", kernel("bar.sync 1, 64;", ".reqntid 48")) == []


def test_lanes_of_an_unknown_block_are_possible() -> None:
    body = (
        LANE + "setp.ge.u32 %p1, %r2, 16;\n@%p1 bra $j;\nbar.sync 1, 128; // expect: NB004\n$j:\nbar.sync 0;"
    )
    assert proved("NB004", kernel(body, "")) == []
    assert agrees("NB004", kernel(body, ""))


def test_one_thread_has_a_warp_of_its_own() -> None:
    body = "elect.sync _|%p1, -1;\n@!%p1 bra $j;\nbar.sync 1, 32;\n$j:\nbar.sync 0;"
    assert agrees("NB004", kernel(body, ".reqntid 1"))
