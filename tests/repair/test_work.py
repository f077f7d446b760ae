"""The work of kernels: a repair that takes some away is no safe one."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxcheck.config import Config
from ptxcheck.opcodes.op import Op
from ptxcheck.patching.judge import TextJudge
from ptxcheck.repair.search import repair
from ptxcheck.repair.trial import Runs
from ptxcheck.repair.weighing import Assembler, Safety
from ptxcheck.repair.work import Workload, work_of
from ptxcheck.rules import RULES, select_rules
from ptxcheck.view import KernelView

_PROTOCOLS = Path(__file__).parents[2] / "corpus" / "protocols"


def _judge() -> TextJudge:
    config = Config(verify_seconds=2)
    rules = select_rules(RULES, config.select, config.ignore, pedantic=False, possible=False)
    return TextJudge("k.ptx", rules, config)


def _text(name: str) -> str:
    return (_PROTOCOLS / f"{name}.ptx").read_text(encoding="utf-8")


def _view(text: str) -> KernelView:
    (view,) = _judge()(text).views.values()
    return view


def _is_lost(before: str, after: str) -> bool:
    return Workload.of(_view(before)).is_lost(Runs(_view(after)))


def test_what_is_counted() -> None:
    work = work_of(_view(_text("ring/one_stage")), 4)
    assert work is not None
    assert work.done[Op.CP_ASYNC_BULK] == 4
    assert work.done[Op.LD] == work.fed[Op.LD] == 4 * 32
    assert work.used[Op.CP_ASYNC_BULK] == 4


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("ring/one_stage.never_released", "setp.ne.u32 skip, thread, 0;", "setp.ne.u32 skip, thread, 99;"),
        (
            "groups/cp_async_three_stages.no_barrier_after_the_wait",
            "setp.ge.u32 stop, step, n;",
            "setp.ge.u32 stop, step, step;",
        ),
        ("waits/copy_outstanding.consumer_not_counted", "@other bra CONSUMER;", ""),
        (
            "cluster/tells_its_peer.read_before_told",
            "setp.ne.u32 other, rank, 0;",
            "setp.ne.u32 other, rank, 1;",
        ),
        ("cluster/two_ctas_in_step.one_round_less", "xor.b32 peer, rank, 1;", "xor.b32 peer, rank, 0;"),
        ("groups/store_of_each_warp.leader_alone_fences", "@!leads bra DONE;", ""),
        ("pingpong/named_barriers.nobody_begins", "@other bra SECOND;", ""),
        (  # nobody waits any more for what is copied
            "waits/copy_outstanding.consumer_not_counted",
            """USE:
WAIT_FULL:
    mbarrier.try_wait.parity.shared::cta.b64 ready, [both], parity;  // <- here
    @!ready bra WAIT_FULL;
""",
            "USE:\n",
        ),
        (  # it copies where there is nothing to copy
            "roles/tiles_without_work.waits_without_work",
            "    @last bra TOLD;\n    mbarrier",
            "    mbarrier",
        ),
        ("tcgen05/scale_factors_by_copies.over_an_accumulator", "scales_a, %r5, 16;", "scales_a, %r5, 17;"),
        (
            "tcgen05/two_accumulators.loads_the_other_one",
            "xor.b32 %r13, %r13, 16;",
            "xor.b32 %r13, %r13, 15;",
        ),
        (  # a copy that no thread executes
            "ring/four_stages_filled_ahead.refill_not_guarded",
            "    @skip bra STEP;\n    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;\n    cp",
            "    @skip bra STEP;\n    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;\n    @skip cp",
        ),
        (  # stages that nobody uses any more
            "ring/six_stages_by_multiplication.shift_one_short",
            "shr.u32 lap, lap, 2;\n    mul.lo.u32 at, lap, 6;",
            "shr.u32 lap, lap, 1;\n    mul.lo.u32 at, lap, 3;",
        ),
        (  # who arrives and waits only arrives
            "cluster/two_ctas_in_step.one_barrier",
            """WAIT_TOLD:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 ready, [bar], parity;  // <- here
    @!ready bra WAIT_TOLD;
""",
            "",
        ),
        ("handover/three_roles_meet.one_role_less", "@other sub.u32 n, n, 1;", "sub.u32 n, n, 1;"),
    ],
)
def test_work_that_is_taken_away(name: str, old: str, new: str) -> None:
    broken = _text(name)
    assert old in broken
    assert _is_lost(broken, broken.replace(old, new))


def test_what_is_read_has_to_be_written_before() -> None:
    broken, store = _text("cluster/reads_its_peer.relaxed_arrival"), "st.shared.u32 [slot], thread;"
    at_the_end = broken.replace(store, "").replace("ret;", f"{store} ret;")
    assert _is_lost(broken, at_the_end)


@pytest.mark.parametrize(
    "name",
    [
        "ring/three_stages.consumer_stops_early",
        "ring/drained_by_its_producer.drained_by_a_third_role",
        "groups/cp_async_three_stages.no_barrier_after_the_wait",
        "cluster/tells_its_peer.read_before_told",
        "cluster/multicast_pair.no_cluster_barrier_at_exit",
        "pingpong/consumers_in_turn.both_start_with_the_first",
        "persistent/first_step_peeled.empty_split",
        "tcgen05/scale_factors_by_copies.over_an_accumulator",
        "cluster/rows_of_four.mask_of_the_first_row",
        "cluster/rows_of_four.releases_to_the_other_row",
        "groups/cp_async_three_stages.refills_the_stage_being_read",
        "ring/four_stages_filled_ahead.refill_not_guarded",
        "ring/looks_ahead.counts_33",
        "ring/three_stages.wraps_one_late",
        "tcgen05/commits_release_stages.freed_while_read",
    ],
)
def test_the_correct_twin_does_no_less(name: str) -> None:
    assert not _is_lost(_text(name), _text(name.split(".")[0]))


def test_a_repair_keeps_the_work() -> None:
    broken = _text("waits/copy_outstanding.consumer_not_counted")
    judge = _judge()
    outcome = repair(
        broken, judge, Assembler(None, "sm_90a"), quick=judge.rules_only, brief=judge.brief, plain=judge.plain
    )
    assert not _is_lost(broken, outcome.text)
    assert all(each.safety is Safety.SUGGESTED for each in outcome.repairs)


_HALVES = """.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 memory[];
.visible .entry kernel(.param .u64 p_from, .param .u32 p_n) .reqntid 64
{{
    .reg .pred one, first, stop, ready;
    .reg .b32 thread, warp, base, tile, full, n, i, parity, word;
    .reg .b64 from;
    ld.param.u64 from, [p_from];
    ld.param.u32 n, [p_n];
    mov.u32 thread, %tid.x;
    mov.u32 base, memory;
    add.u32 full, base, 16384;
    setp.eq.u32 first, thread, 0;
    @first mbarrier.init.shared.b64 [full], 2;
    bar.sync 0;
    shr.u32 warp, thread, 5;
    shl.b32 tile, warp, {shift};
    add.u32 tile, tile, base;
    elect.sync _|one, -1;
    mov.u32 i, 0;
LOOP:
    setp.ge.u32 stop, i, n;
    @stop bra END;
    @one mbarrier.arrive.expect_tx.shared.b64 _, [full], 8192;
    @one cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [from], 8192, [full];
    and.b32 parity, i, 1;
WAIT:
    mbarrier.try_wait.parity.shared.b64 ready, [full], parity;
    @!ready bra WAIT;
    ld.shared.u32 word, [tile];
    bar.sync 0;
    add.u32 i, i, 1;
    bra LOOP;
END:
    ret;
}}
"""


def test_a_repair_stays_inside_what_the_launch_gives() -> None:
    """Where a copy is moved behind everything else, there may be no memory: an H100 faults."""
    assert not _is_lost(_HALVES.format(shift=12), _HALVES.format(shift=13))
    assert _is_lost(_HALVES.format(shift=12), _HALVES.format(shift=15))


def test_how_far_memory_goes_is_known_of_arrays() -> None:
    def declared(shift: int) -> str:
        text = _HALVES.format(shift=shift).replace(".extern .shared", ".shared")
        return text.replace("memory[]", "memory[65536]")

    assert not _is_lost(declared(12), declared(15))


_ASYNC_HALVES = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .align 64 .b8 map[128], .param .u32 p_n) .reqntid 128
{{
    .shared .align 1024 .b8 memory[16384];
    .shared .align 8 .b64 full;
    .reg .pred one, first, stop, ready, copies;
    .reg .b32 thread, warp, base, tile, n, i, parity;
    .reg .b64 from, a, b;
    .reg .f32 d<64>;
"""


def _half_of_an_operand(warps: int) -> str:
    sums = ", ".join(f"d{n}" for n in range(64))
    return (
        _ASYNC_HALVES.format()
        + f"""
    ld.param.u32 n, [p_n];
    mov.b64 from, map;
    cvta.param.u64 from, from;
    mov.u32 thread, %tid.x;
    mov.u32 base, memory;
    setp.eq.u32 first, thread, 0;
    @first mbarrier.init.shared.b64 [full], 1;
    bar.sync 0;
    shr.u32 warp, thread, 5;
    shl.b32 tile, warp, 13;
    add.u32 tile, tile, base;
    setp.lt.u32 copies, warp, {warps};
    elect.sync _|one, -1;
    and.pred copies, copies, one;
    shr.u32 warp, base, 4;
    cvt.u64.u32 b, warp;
    or.b64 b, b, 4611686293338849280;
    mov.u32 i, 0;
LOOP:
    setp.ge.u32 stop, i, n;
    @stop bra END;
    @first mbarrier.arrive.expect_tx.shared.b64 _, [full], 16384;
    bar.sync 0;
    @copies cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [tile], [from, {{i, i}}], [full];
    and.b32 parity, i, 1;
WAIT:
    mbarrier.try_wait.parity.shared.b64 ready, [full], parity;
    @!ready bra WAIT;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {{{sums}}}, b, b, 1, 1, 1, 0, 1;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    bar.sync 0;
    add.u32 i, i, 1;
    bra LOOP;
END:
    ret;
}}
"""
    )


def test_copies_are_used_where_an_operand_may_reach() -> None:
    """Of a tile of the matrix unit only parts are certain; no copy to its other half may go for that."""
    assert _is_lost(_half_of_an_operand(2), _half_of_an_operand(1))
