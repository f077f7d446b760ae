"""Near misses of the mbarrier rules: what must fire, and what must stay silent."""

from __future__ import annotations

import pytest

import ptxcheck
from ptxcheck.config import Config
from ptxcheck.source import Source

HEAD = """
.version 8.6
.target sm_90a
.address_size 64

.visible .entry k(.param .u32 n, .param .u64 p) .reqntid {threads} {cluster}
{{
    .reg .pred %p<8>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<8>;
    .shared .align 16 .b8 mem[256];

    ld.param.u32 %r1, [n];
    mov.u32 %r0, %tid.x;
    setp.eq.u32 %p0, %r0, 0;
{body}
    ret;
}}
"""

INDEXED = "mov.u32 %r3, mem;\nadd.u32 %r3, %r3, %r2;\nld.shared.u32 %r4, [%r3];"
INIT = "@%p0 mbarrier.init.shared::cta.b64 [mem], 1;\nbar.sync 0;\n"


def fired(body: str, threads: int = 128, cluster: str = "", possible: bool = False) -> list[str]:
    text = HEAD.format(body=body, threads=threads, cluster=cluster)
    config = Config(select=("MB", "SM"), possible=possible)
    report = ptxcheck.check(Source("k.ptx", text), config=config)
    assert report.problems == ()
    return [finding.rule for finding in report.findings]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
    setp.eq.u32 %p1, %r0, 32;
    @%p0 mbarrier.init.shared::cta.b64 [mem], 1;
    @%p1 mbarrier.init.shared::cta.b64 [mem+8], 96;
    setp.lt.u32 %p2, %r0, 1;
    @%p2 mbarrier.arrive.shared::cta.b64 %rd1, [mem];
            """,
            id="the same thread by another comparison",
        ),
        pytest.param(
            """
    selp.u32 %r2, 1, 0, %p0;
    setp.eq.u32 %p1, %r2, 1;
    @%p0 mbarrier.init.shared::cta.b64 [mem], 1;
    @%p1 mbarrier.arrive.shared::cta.b64 %rd1, [mem];
            """,
            id="a predicate kept in a register",
        ),
        pytest.param(
            """
    setp.gt.u32 %p1, %r1, 4;
    and.pred %p2, %p1, %p0;
    setp.le.u32 %p3, %r1, 4;
    @%p2 mbarrier.init.shared::cta.b64 [mem], 1;
    and.pred %p4, %p3, %p0;
    @%p4 mbarrier.init.shared::cta.b64 [mem], 2;
            """,
            id="conditions that exclude each other",
        ),
        pytest.param(
            """
    mov.u32 %r2, 0;
LOOP:
    setp.eq.u32 %p1, %r2, 0;
    and.pred %p2, %p1, %p0;
    @%p2 mbarrier.init.shared::cta.b64 [mem], 1;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p3, %r2, %r1;
    @%p3 bra LOOP;
            """,
            id="first round only, by the counter",
        ),
        pytest.param(
            """
    mov.u32 %r2, 1;
LOOP:
    setp.ne.u32 %p1, %r2, 0;
    @!%p1 bra SKIP;
    @%p0 mbarrier.init.shared::cta.b64 [mem], 1;
    mov.u32 %r2, 0;
SKIP:
    bar.sync 0;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p3, %r3, %r1;
    @%p3 bra LOOP;
            """,
            id="first round only, by a flag",
        ),
        pytest.param(
            """
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r4, %nctaid.x;
LOOP:
    setp.lt.u32 %p1, %r2, %r4;
    and.pred %p2, %p1, %p0;
    @%p2 mbarrier.init.shared::cta.b64 [mem], 1;
    add.u32 %r2, %r2, %r4;
    setp.lt.u32 %p3, %r2, %r1;
    @%p3 bra LOOP;
            """,
            id="first round only, by a counter that starts at the block index",
        ),
        pytest.param(
            """
    mov.u32 %r2, 0;
    mov.u32 %r3, mem;
LOOP:
    @%p0 mbarrier.init.shared::cta.b64 [%r3], 1;
    add.u32 %r3, %r3, 8;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p3, %r2, 4;
    @%p3 bra LOOP;
    bar.sync 0;
    @%p0 mbarrier.arrive.shared::cta.b64 %rd1, [mem+16];
            """,
            id="an array initialised in a loop",
        ),
        pytest.param(
            """
    @%p0 mbarrier.init.shared::cta.b64 [mem], 1;
    bar.sync 0;
    setp.eq.u32 %p1, %r0, 32;
    @%p1 mbarrier.inval.shared::cta.b64 [mem];
    bar.sync 0;
    @%p0 mbarrier.init.shared::cta.b64 [mem], 1;
            """,
            id="invalidated by another thread",
        ),
        pytest.param(
            """
    @%p0 mbarrier.init.shared::cta.b64 [mem], 1;
    bar.sync 0;
    @%p0 mbarrier.inval.shared::cta.b64 [mem];
    bar.sync 0;
    setp.eq.u32 %p1, %r0, 32;
    @%p1 mbarrier.init.shared::cta.b64 [mem], 1;
    bar.sync 0;
    @%p0 mbarrier.arrive.shared::cta.b64 %rd1, [mem];
            """,
            id="initialised again by another thread",
        ),
        pytest.param(
            """
    mov.u32 %r2, 0;
    @%p0 st.shared.u32 [mem], %r2;
    @%p0 mbarrier.init.shared::cta.b64 [mem], 1;
    @%p0 st.shared.u32 [mem+8], %r2;
            """,
            id="cleared before, and data beside",
        ),
        pytest.param(INIT + "@%p0 mbarrier.arrive.shared::cta.b64 %rd1, [mem], 1;", id="one of one"),
        pytest.param(INIT + "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 %rd1, [mem], 0;", id="no bytes"),
        pytest.param("ld.param.u64 %rd1, [p]; st.u64 [%rd1], 1; mov.u64 %rd2, mem;", id="nothing of it"),
    ],
)
def test_silent(body: str) -> None:
    assert fired(body) == []


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (INIT + "@%p0 mbarrier.init.shared::cta.b64 [mem], 1;", "MB004"),
        (INIT + "setp.lt.u32 %p1, %r0, 2;\n@%p1 mbarrier.init.shared::cta.b64 [mem], 1;", "MB004"),
        (INIT + "mov.u64 %rd1, mem;\n@%p0 st.shared.v2.u64 [%rd1], {%rd1, %rd1};", "MB006"),
        (INIT + "mov.u64 %rd1, mem;\ncvta.shared.u64 %rd2, %rd1;\n@%p0 st.u64 [%rd2], 0;", "MB006"),
        ("mbarrier.arrive.shared::cta.b64 %rd1, [mem];", "MB003"),
        ("setp.lt.u32 %p1, %r0, 2;\n@%p1 mbarrier.init.shared::cta.b64 [mem], 1;", "MB007"),
        (INIT + "mbarrier.arrive.expect_tx.shared::cta.b64 %rd1, [mem], 64;", "MB015"),
        (INIT + "@%p0 mbarrier.arrive.shared::cta.b64 %rd1, [mem], 2;", "MB009"),
        (INIT + "mov.u32 %r2, -16;\n@%p0 mbarrier.expect_tx.relaxed.cta.b64 [mem], %r2;", "MB008"),
        ("ld.shared.u32 %r2, [mem+254];", "SM001"),
        ("shl.b32 %r2, %r0, 1;" + INDEXED, "SM001"),
        ("shl.b32 %r2, %r0, 2;" + INDEXED, "SM002"),
    ],
)
def test_fires(body: str, rule: str) -> None:
    assert rule in fired(body)


def test_threads_that_the_index_lets_through_are_checked_alone() -> None:
    guarded = """
    setp.ge.u32 %p1, %r0, 64;
    @%p1 bra END;
    shl.b32 %r2, %r0, 2;
    mov.u32 %r3, mem;
    add.u32 %r3, %r3, %r2;
    ld.shared.u32 %r4, [%r3];
END:
    """
    assert fired(guarded) == []
    assert fired(guarded.replace("64", "65")) == ["SM002"]


def test_a_single_thread_may_do_what_many_may_not() -> None:
    body = "mbarrier.init.shared::cta.b64 [mem], 1;\nmbarrier.arrive.shared::cta.b64 %rd1, [mem];"
    assert fired(body, threads=1) == []
    assert "MB007" in fired(body, threads=2)


@pytest.mark.parametrize(("rank", "cluster", "rules"), [
    ("mov.u32 %r2, %cluster_ctarank;", ".reqnctapercluster 2", []),
    ("mov.u32 %r2, %cluster_ctarank;\nxor.b32 %r2, %r2, 1;", ".reqnctapercluster 2", ["SM006"]),
    ("mov.u32 %r2, 0;", ".reqnctapercluster 2", ["SM006"]),
    ("mov.u32 %r2, 0;", ".reqnctapercluster 1", []),
    ("mov.u32 %r2, 0;", "", []),
    ("mov.u32 %r2, %r1;", ".reqnctapercluster 2", []),
])  # fmt: skip
def test_whose_memory(rank: str, cluster: str, rules: list[str]) -> None:
    body = f"{rank}\nmapa.shared::cluster.u32 %r3, mem, %r2;\nld.shared.u32 %r4, [%r3];"
    assert fired(body, cluster=cluster) == rules


WAIT = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [mem], 0;\n@!%p1 bra WAIT;\n"
UNREAD = "mbarrier.try_wait.parity.shared::cta.b64 %p2, [mem+{at}], 1;\n"


def test_a_look_ahead_that_nobody_reads_is_possible() -> None:
    arrive = INIT + "mbarrier.arrive.shared::cta.b64 _, [mem];\n"
    looks_ahead = arrive + WAIT + UNREAD.format(at=0)
    assert "MB011" not in fired(looks_ahead)
    assert "MB011" in fired(looks_ahead, possible=True)
    assert "MB011" in fired(arrive + UNREAD.format(at=0))
    assert "MB011" in fired(arrive + WAIT + UNREAD.format(at=8))
