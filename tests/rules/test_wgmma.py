"""WG rules: near misses and cases beyond the kernels of the rules themselves."""

from __future__ import annotations

import pytest

from .kernels import agrees, kernel, proved

SETUP = """
.reg .f32 %f<16>;
ld.param.u64 %rd1, [in];
ld.param.u32 %r1, [n];
mov.b64 %rd2, 64;
ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
"""
MMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd2, %rd2, 1, 1, 1, 0, 0;"
OTHER = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f5, %f6, %f7, %f8}, %rd2, %rd2, 0, 1, 1, 0, 0;"
FENCE = "wgmma.fence.sync.aligned;\n"
COMMIT = "wgmma.commit_group.sync.aligned;\n"
STORE = "st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};"


def wait(left: int) -> str:
    return f"wgmma.wait_group.sync.aligned {left};\n"


def loop(body: str) -> str:
    return f"$next:\n{body}sub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra $next;\n"


def columns(body: str) -> str:
    """Return a loop over columns, of which there may be none, in steps of 64."""
    return f"""
        mul.wide.u32 %rd5, %r1, %r1;
        cvt.u32.u64 %r1, %rd5;
        cvt.u64.u32 %rd4, %r1;
        mov.b64 %rd3, 0;
        setp.lt.s32 %p3, %r1, 1;
        @%p3 bra $none;
        $column:
        {body}
        add.s64 %rd3, %rd3, 64;
        setp.lt.u64 %p1, %rd3, %rd4;
        @%p1 bra $column;
        $none:
    """


ROUND = MMA + "\n" + COMMIT


def rounds_of_two(commits: str, mark: str) -> str:
    """Six rounds, of which every second one commits."""
    return (
        f"mov.u32 %r3, 0;\n$again: {FENCE}{MMA}{mark}\nand.b32 %r4, %r3, 1;\nsetp.{commits}.u32 %p2, %r4, 0;\n"
        f"@!%p2 bra $none;\n{COMMIT}$none:\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p3, %r3, 6;\n@%p3 bra $again;\n"
        f"{wait(0)}{STORE}"
    )


CASES = {
    # fences
    "WG001 fence on one way only": (
        "WG001",
        f"setp.eq.u32 %p2, %r1, 0;\n@%p2 bra $skip;\n{FENCE}$skip:\n{MMA} // expect: WG001\n"
        f"{COMMIT}{wait(0)}",
    ),
    "WG001 no way around the fence": (
        "WG001",
        f"setp.gt.s32 %p2, %r1, 0;\n@!%p2 bra $skip;\n{FENCE}{ROUND}$skip:\n"
        f"setp.lt.s32 %p3, %r1, 2;\n@%p3 bra $none;\n{ROUND}$none:\n{wait(0)}",
    ),
    "WG001 a way around the fence with negative numbers": (
        "WG001",
        f"setp.gt.s32 %p2, %r1, 0;\n@!%p2 bra $skip;\n{FENCE}{ROUND}$skip:\n"
        f"setp.lt.s32 %p3, %r1, -2;\n@%p3 bra $none;\n{MMA} // expect: WG001\n{COMMIT}$none:\n{wait(0)}",
    ),
    "WG001 fence in a loop": ("WG001", loop(FENCE + ROUND + wait(0))),
    "WG001 read of the result": ("WG001", FENCE + ROUND + wait(0) + STORE + "\n" + ROUND),
    "WG001 written in the loop": (
        "WG001",
        FENCE + loop(f"{MMA} // expect: WG001\n{COMMIT}{wait(0)}add.f32 %f1, %f1, %f1;\n"),
    ),
    "WG001 moved after the fence": ("WG001", f"{FENCE}mov.f32 %f1, %f9;\n{ROUND}{wait(0)}"),
    "WG001 written, fenced, moved": ("WG001", f"add.f32 %f9, %f1, %f1;\n{FENCE}mov.f32 %f1, %f9;\n{ROUND}"),
    "WG001 written after the fence, then moved": (
        "WG001",
        f"{FENCE}add.f32 %f9, %f1, %f1;\nmov.f32 %f1, %f9;\n{MMA} // expect: WG001\n{COMMIT}{wait(0)}",
    ),
    "WG001 other registers": ("WG001", f"{FENCE}add.f32 %f9, %f1, %f1;\n{ROUND}{wait(0)}"),
    # groups
    "WG002 committed later": ("WG002", f"{FENCE}{MMA}\n{wait(0)}{COMMIT}{wait(0)}{STORE}"),
    "WG002 never used": ("WG002", f"{FENCE}{MMA} // expect: WG002"),
    "WG002 one commit for two": ("WG002", f"{FENCE}{MMA}\n{OTHER}\n{COMMIT}{wait(0)}{STORE}"),
    "WG002 commit on one way only": (
        "WG002",
        f"{FENCE}{MMA} // expect: WG002\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra $skip;\n"
        f"{COMMIT}$skip:\n{wait(0)}{STORE}",
    ),
    "WG002 commit in odd rounds, of which the last is one": ("WG002", rounds_of_two("ne", "")),
    "WG002 commit in even rounds, and the last is odd": ("WG002", rounds_of_two("eq", " // expect: WG002")),
    # waits
    "WG003 older of two groups": ("WG003", f"{FENCE}{ROUND}{OTHER}\n{COMMIT}{wait(1)}{STORE}"),
    "WG003 newer of two groups": (
        "WG003", f"{FENCE}{OTHER}\n{COMMIT}{ROUND}{wait(1)}{STORE} // expect: WG003",
    ),
    "WG003 next round": (
        "WG003", loop(f"{FENCE}{ROUND}{wait(1)}") + f"{STORE} // expect: WG003",
    ),
    "WG003 waited after the loop": ("WG003", FENCE + loop(ROUND + wait(1)) + wait(0) + STORE),
    "WG003 used in the next round": (
        "WG003",
        loop(f"add.f32 %f9, %f1, %f9; // expect: WG003\n{FENCE}{ROUND}{wait(1)}") + wait(0),
    ),
    "WG003 moved before the wait": (
        "WG003",
        f"{FENCE}{ROUND}mov.f32 %f9, %f1;\n{wait(0)}st.global.f32 [%rd1], %f9;",
    ),
    "WG003 moved and used before the wait": (
        "WG003", f"{FENCE}{ROUND}mov.f32 %f9, %f1;\nst.global.f32 [%rd1], %f9; // expect: WG003\n{wait(0)}",
    ),
    "WG003 moved, used after the next round began": (
        "WG003", f"{FENCE}{ROUND}{wait(0)}mov.f32 %f9, %f1;\n{ROUND}st.global.f32 [%rd1], %f9;\n{wait(0)}",
    ),
    "WG003 accumulators set anew in flight": (
        "WG003", f"{FENCE}{ROUND}mov.f32 %f1, 0f3F800000; // expect: WG003\n{wait(0)}",
    ),
    "WG003 wait on one way only": (
        "WG003",
        f"{FENCE}{ROUND}setp.eq.u32 %p2, %r1, 0;\n@%p2 bra $skip;\n{wait(0)}$skip:\n{STORE} // expect: WG003",
    ),
    "WG003 waited for too little behind a loop": (
        "WG003", columns(FENCE + wait(0) + ROUND) + wait(1) + STORE + " // expect: WG003",
    ),
    "WG003 waited for behind a loop": ("WG003", columns(FENCE + wait(0) + ROUND) + wait(0) + STORE),
    "WG003 moved out of a loop and used there": (
        "WG003",
        columns(f"{FENCE}{wait(0)}{ROUND}mov.f32 %f9, %f1;\n")
        + f"{wait(1)}st.global.f32 [%rd1], %f9; // expect: WG003\n{wait(0)}",
    ),
    "WG003 waited for and used on one way behind a loop": (
        "WG003",
        columns(FENCE + wait(0) + ROUND)
        + f"""{wait(1)}ld.global.u32 %r2, [%rd1];
        setp.eq.u32 %p2, %r2, 0;
        @%p2 bra $end;
        {wait(0)}{STORE}
        $end: {wait(0)}""",
    ),
    "WG003 wait and use on the same way": (
        "WG003",
        f"""{FENCE}{ROUND}setp.eq.u32 %p2, %r1, 0;
        @%p2 bra $skip;
        {wait(0)}
        $skip:
        @%p2 bra $end;
        {STORE}
        $end:""",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    rule_id, body = CASES[name]
    assert agrees(rule_id, kernel(SETUP + body))


def test_zero_of_straight_code_is_possible() -> None:
    zero = "mov.f32 %f1, 0f00000000;\nmov.f32 %f2, %f1;\nmov.f32 %f3, %f1;\nmov.f32 %f4, %f1;\n"
    straight = FENCE + zero + MMA + " // expect: WG001\n" + COMMIT + wait(0)
    assert agrees("WG001", kernel(SETUP + straight))
    assert proved("WG001", kernel(SETUP + straight)) == []
    again = FENCE + zero + loop(MMA + "\n" + COMMIT + wait(0))
    assert proved("WG001", kernel(SETUP + again)) != []


WARP = "mov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;\n"
GROUP = "mov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 7;\n"
LANES_END = """mov.u32 %r1, %tid.x;
and.b32 %r2, %r1, 31;
ld.param.u32 %r3, [n];
setp.ge.u32 %p1, %r2, {};
@%p1 bra $j;
"""
ONE = "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra $j;\n"


ROLE = "mov.u32 %r1, %tid.x;\nld.global.u32 %r2, [%rd1];\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra $j;\n"
JOIN = "\n$j:\nbar.sync 0;"
FIRST = "setp.eq.u32 %p1, %r2, 0;\n"
MORE = "\nbar.sync 0;\nsetmaxnreg.dec.sync.aligned.u32 24;"


@pytest.mark.parametrize(
    ("rule_id", "body", "directives"),
    [
        ("WG004", WARP + ONE + FENCE.strip() + " // expect: WG004\n$j:\nbar.sync 0;", ".reqntid 256"),
        ("WG004", GROUP + ONE + FENCE + "$j:\nbar.sync 0;", ".reqntid 256"),
        ("WG004", GROUP + ONE + FENCE + "$j:\nbar.sync 0;", ".reqntid 160"),
        ("WG004", FENCE.strip() + " // expect: WG004", ".maxntid 64"),
        ("WG004", FENCE, ".maxntid 192"),
        ("WG004", FENCE, ""),
        (
            "WG004",
            ROLE
            + "and.b32 %r2, %r1, 127;\nsetp.lt.u32 %p1, %r2, 32;\n@%p1 "
            + FENCE.strip()
            + " // expect: WG004"
            + JOIN,
            ".reqntid 256",
        ),
        ("WG004", ROLE + "setp.ge.u32 %p1, %r1, 128;\n@%p1 " + FENCE.strip() + JOIN, ".reqntid 256"),
        ("WG004", f"{LANES_END.format('1')}{FENCE.strip()} // expect: WG004\n$j:", ".reqntid 128"),
        ("WG004", LANES_END.format("%r3") + FENCE + "$j:", ".reqntid 128"),
        ("WG004", LANES_END.format("1") + FENCE + "$j:\nbar.sync 0;", ".reqntid 128"),
        ("WG005", WARP + ONE + FENCE + "$j:\nbar.sync 0;", ".reqntid 256"),
        ("WG009", "setmaxnreg.inc.sync.aligned.u32 200;", ".maxnreg 232"),
        (
            "WG009",
            "setmaxnreg.inc.sync.aligned.u32 200;\nsetmaxnreg.inc.sync.aligned.u32 160; // expect: WG009",
            ".maxnreg 128",
        ),
        ("WG009", "setmaxnreg.dec.sync.aligned.u32 64;\nsetmaxnreg.dec.sync.aligned.u32 40;", ".maxnreg 128"),
        ("WG010", GROUP + ONE + "setmaxnreg.dec.sync.aligned.u32 40;\n$j:\nbar.sync 0;", ".reqntid 256"),
        (
            "WG010",
            WARP + ONE + "setmaxnreg.dec.sync.aligned.u32 40; // expect: WG010\n$j:\nbar.sync 0;",
            ".reqntid 256",
        ),
        ("WG010", WARP + ONE + "setmaxnreg.dec.sync.aligned.u32 40;\n$j:\nbar.sync 0;", ".maxntid 256"),
        *(
            (
                "WG010",
                f"mov.u32 %r1, %tid.x;\nsetp.{side}.u32 %p1, %r1, {split};\n@%p1 bra $more;\n"
                "setmaxnreg.dec.sync.aligned.u32 56;\nbra $j;\n"
                f"$more:\nsetmaxnreg.inc.sync.aligned.u32 152;{mark}\n$j:\nbar.sync 0;",
                ".reqntid 256 .maxnreg 104",
            )
            for side, split, mark in (
                ("ge", 160, " // expect: WG010"),
                ("lt", 160, " // expect: WG010"),
                ("ge", 128, ""),
                ("lt", 128, ""),
            )
        ),
        ("WG009", "setmaxnreg.dec.sync.aligned.u32 136; // expect: WG009", ".maxnreg 128"),
        ("WG009", "setmaxnreg.dec.sync.aligned.u32 128;", ".maxnreg 128"),
        (
            "WG010",
            WARP + FIRST + "@%p1 setmaxnreg.dec.sync.aligned.u32 40; // expect: WG010" + MORE,
            ".reqntid 256",
        ),
        ("WG010", GROUP + FIRST + "@%p1 setmaxnreg.dec.sync.aligned.u32 40;" + MORE, ".reqntid 256"),
        (
            "WG010",
            WARP
            + FIRST
            + "@%p1 setmaxnreg.dec.sync.aligned.u32 40;\n@!%p1 setmaxnreg.dec.sync.aligned.u32 72;"
            + MORE,
            ".reqntid 128",
        ),
        ("WG011", "setmaxnreg.dec.sync.aligned.u32 40;", ".maxnreg 128"),
        ("WG011", "setmaxnreg.dec.sync.aligned.u32 40; // expect: WG011", ".minnctapersm 1"),
        ("WG013", "setmaxnreg.inc.sync.aligned.u32 160;", ".reqntid 384 .minnctapersm 1"),
        (
            "WG013",
            "setmaxnreg.inc.sync.aligned.u32 176; // expect: WG013",
            ".reqntid 384 .minnctapersm 1",
        ),
        ("WG013", "setmaxnreg.inc.sync.aligned.u32 176;", ".maxntid 384 .minnctapersm 1"),
    ],
)
def test_who_executes(rule_id: str, body: str, directives: str) -> None:
    assert agrees(rule_id, kernel(body, directives))
