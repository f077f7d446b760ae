"""Warps that do the same: two of them show of all what all of them would, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks.mutation.judge import launched
from ptxcheck.protocols.product import for_all as asked
from ptxcheck.protocols.product.for_all import Open, Shown
from ptxcheck.protocols.product.roles import Role
from ptxcheck.protocols.product.symmetry import by_symmetry
from ptxcheck.protocols.verify import shown_for_every_count
from ptxcheck.source import Source

KERNEL = """// ptxcheck: launch block=160 cluster=1
.version 8.6
.target sm_90a
.address_size 64

.visible .entry alike(.param .u32 rounds)
{
    .shared .align 8 .b64 full;
    .shared .align 8 .b64 empty;
    .shared .align 4 .b32 box;
    .shared .align 4 .b8 own[512];
    .reg .pred skip, teller, ready, leads, more, some;
    .reg .b32 thread, lane, warp, n, step, parity, value, mine, theirs;

    ld.param.u32 n, [rounds];
    mov.u32 thread, %tid.x;
    and.b32 lane, thread, 31;
    shr.u32 warp, thread, 5;
    setp.ne.u32 skip, thread, 0;
    @skip bra READY;
    mbarrier.init.shared::cta.b64 [full], 1;
    mbarrier.init.shared::cta.b64 [empty], 4;
READY:
    bar.sync 0;
    mov.u32 step, 0;
    setp.eq.u32 leads, lane, 0;
    setp.ge.u32 teller, thread, 128;
    @teller bra TELL;
    mov.u32 value, own;
    shl.b32 mine, thread, 2;
    add.u32 theirs, mine, 128;
    and.b32 theirs, theirs, 511;
    add.u32 mine, mine, value;
    add.u32 theirs, theirs, value;
    mov.u32 parity, 0;
HEAR:
    setp.ge.u32 more, step, n;
    @more bra DONE;
WAIT_FULL:
    mbarrier.try_wait.parity.shared::cta.b64 ready, [full], parity;
    @!ready bra WAIT_FULL;
    ld.shared.u32 value, [box];
    st.shared.u32 [mine], value;
    bar.sync 1, 128;
    ld.shared.u32 value, [theirs];
    bar.sync 1, 128;
    @leads mbarrier.arrive.shared::cta.b64 _, [empty];
    xor.b32 parity, parity, 1;
    add.u32 step, step, 1;
    bra HEAR;

TELL:
    @!leads bra DONE;
    mov.u32 parity, 1;
NEXT:
    setp.ge.u32 more, step, n;
    @more bra DONE;
WAIT_EMPTY:
    mbarrier.try_wait.parity.shared::cta.b64 ready, [empty], parity;
    @!ready bra WAIT_EMPTY;
    st.shared.u32 [box], step;
    mbarrier.arrive.shared::cta.b64 _, [full];
    xor.b32 parity, parity, 1;
    add.u32 step, step, 1;
    bra NEXT;
DONE:
    ret;
}
"""
READ_THEIRS = "    ld.shared.u32 value, [theirs];\n"
MEET = "    bar.sync 1, 128;\n"
CHOOSE = "    setp.eq.u32 some, warp, 2;\n    selp.b32 theirs, theirs, mine, some;\n"
STORE = "    st.shared.u32 [mine], value;\n"
RIGHT = {
    "as it is": [],
    "what is its own needs no barrier": [(STORE + MEET + READ_THEIRS + MEET, STORE + MEET)],
    "all read one word": [(READ_THEIRS, "    ld.shared.u32 value, [own+8];\n")],
}
WRONG = {
    "its own store hides none of another one's reads": [
        (STORE + MEET + READ_THEIRS + MEET, READ_THEIRS + "    st.shared.u32 [own+8], step;\n" + MEET)
    ],
    "all store to one word behind reads of it": [
        (READ_THEIRS, READ_THEIRS + "    st.shared.u32 [own+8], value;\n")
    ],
    "read in front of the barrier": [(STORE + MEET + READ_THEIRS, STORE + READ_THEIRS + MEET)],
    "not told before the next store": [(READ_THEIRS + MEET, MEET + READ_THEIRS)],
    "two of the warps alone": [(STORE + MEET + READ_THEIRS, STORE + CHOOSE + READ_THEIRS + MEET)],
    "all store to one word": [(STORE, "    st.shared.u32 [own], thread;\n")],
    "one arrival too few": [("[empty], 4;", "[empty], 5;")],
    "one arrival too many": [("[empty], 4;", "[empty], 3;")],
    "a barrier of two warps": [(STORE + MEET, STORE + "    bar.sync 1, 64;\n")],
    "one lane more of each arrives": [("setp.eq.u32 leads, lane, 0;", "setp.le.u32 leads, lane, 1;")],
}  # fmt: skip


def shown(edits: Sequence[tuple[str, str]], seconds: float = 6.0) -> Shown | Open:
    text = KERNEL
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return shown_for_every_count(*launched(Source("k.ptx", text), "alike"), seconds=seconds)


@pytest.mark.parametrize("name", RIGHT)
def test_two_warps_show_what_all_would(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    strands: list[tuple[int, int, int]] = []

    def noted(roles: Sequence[Role]) -> tuple[Role, ...]:
        found = by_symmetry(roles)
        strands.append((len(roles), len(found), max(role.info.copies for role in found)))
        return found

    monkeypatch.setattr(asked, "by_symmetry", noted)
    fewer = shown(RIGHT[name])
    assert isinstance(fewer, Shown)
    assert all(few < many and copies == 2 for many, few, copies in strands)
    monkeypatch.setattr(asked, "by_symmetry", tuple)
    every = shown(RIGHT[name])
    assert isinstance(every, Shown)
    assert fewer == every


@pytest.mark.parametrize("name", WRONG)
def test_two_warps_show_nothing_else(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(shown(WRONG[name]), Open)
    monkeypatch.setattr(asked, "by_symmetry", tuple)
    assert isinstance(shown(WRONG[name]), Open)


IN_A_CIRCLE = """// ptxcheck: launch block=32 cluster=4
.version 8.6
.target sm_90a
.address_size 64

.visible .entry circle()
{
    .shared .align 8 .b64 told;
    .reg .pred skip, ready;
    .reg .b32 thread, rank, next, there;

    mov.u32 thread, %tid.x;
    mov.u32 rank, %cluster_ctarank;
    setp.ne.u32 skip, thread, 0;
    @!skip mbarrier.init.shared::cta.b64 [told], 1;
    @!skip fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    @skip bra DONE;
    add.u32 next, rank, 1;
    and.b32 next, next, 3;
    mov.u32 there, told;
    mapa.shared::cluster.u32 there, there, next;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];
WAIT:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 ready, [told], 0;
    @!ready bra WAIT;
DONE:
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ret;
}
"""
"""Each CTA tells the next one: warps of several CTAs that do much the same, and are no class."""
SILENT = "    mapa.shared::cluster.u32 there, there, next;\n"


def test_warps_of_several_ctas_are_no_class() -> None:
    def ask(text: str) -> Shown | Open:
        return shown_for_every_count(*launched(Source("k.ptx", text), "circle"), seconds=6.0)

    assert isinstance(ask(IN_A_CIRCLE), Shown)
    last_tells_itself = SILENT.replace(
        "    mapa", "    setp.eq.u32 skip, rank, 3;\n    @skip mov.u32 next, 3;\n    mapa"
    )
    assert isinstance(ask(IN_A_CIRCLE.replace(SILENT, last_tells_itself)), Open)
