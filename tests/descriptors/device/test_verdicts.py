"""Verdicts on maps that kernels make: what is proved, what is assumed of the host, what is not known."""

from __future__ import annotations

from ptxcheck.pipeline.device_map_verdicts import descriptor_verdicts
from ptxcheck.verdict import Property, VerdictKind

from .kernels import COPY, FILL, kernel, view

LEGALITY, RANK, ORDER = (
    Property.DESCRIPTOR_LEGALITY, Property.DESCRIPTOR_RANK, Property.DESCRIPTOR_ORDER,
)  # fmt: skip


def kinds(text: str, **options: dict[int, int]) -> dict[Property, VerdictKind]:
    return {verdict.property: verdict.kind for verdict in descriptor_verdicts(view(text, **options))}


def reasons(text: str, which: Property) -> str:
    found = next(verdict for verdict in descriptor_verdicts(view(text)) if verdict.property is which)
    return "; ".join(reason.text for reason in found.reasons)


def test_a_map_of_arguments_is_proved_but_for_what_the_arguments_are() -> None:
    assert kinds(kernel()) == {
        LEGALITY: VerdictKind.ASSUMES,
        RANK: VerdictKind.PROVED,
        ORDER: VerdictKind.PROVED,
    }
    conditions = reasons(kernel(), LEGALITY)
    assert "source % 16 == 0" in conditions
    assert "2 * columns % 16 == 0" in conditions
    assert "1 <= rows" in conditions


def test_given_arguments_prove_the_rest() -> None:
    fits = {0: 0x7F0000000000, 16: 1024, 20: 4096}
    assert kinds(kernel(), given=fits)[LEGALITY] is VerdictKind.PROVED
    assert kinds(kernel(), given={**fits, 0: 0x7F0000000008})[LEGALITY] is VerdictKind.VIOLATED
    assert kinds(kernel(), given={**fits, 20: 4})[LEGALITY] is VerdictKind.VIOLATED


def test_constant_sizes_need_the_address_alone() -> None:
    sizes: dict[str, str | None] = {
        "global_dim.b32 0": "512",
        "global_dim.b32 1": "64",
        "global_stride.b64 0": "1024",
    }
    assert reasons(kernel(sizes), LEGALITY) == "source % 16 == 0"


def test_what_depends_on_the_thread_is_not_the_hosts() -> None:
    text = kernel({"global_dim.b32 1": "%r11"}, before="mov.u32 %r11, %ctaid.x;")
    assert kinds(text)[LEGALITY] is VerdictKind.UNKNOWN


def test_broken_fields_are_violated() -> None:
    for changed in (
        {"box_dim.b32 1": "257"},
        {"element_stride.b32 0": "0"},
        {"elemtype.b32": "9"},
        {"global_dim.b32 1": None},
        {"elemtype.b32": None},
    ):
        assert kinds(kernel(changed))[LEGALITY] is VerdictKind.VIOLATED, changed


def test_modes_of_a_map_of_zeros_may_stay_zero() -> None:
    assert kinds(kernel({"swizzle_mode.b32": None}))[LEGALITY] is VerdictKind.ASSUMES


def test_without_zeros_the_modes_are_anything() -> None:
    assert kinds(kernel(fill=""))[LEGALITY] is VerdictKind.VIOLATED


def test_half_of_the_zeros_are_not_a_map_of_zeros() -> None:
    half = "mov.u32 %r3, 0;\n@%p4 st.shared.u32 [%r1], %r3;\nbar.warp.sync -1;"
    text = kernel(fill=half, before="setp.lt.u32 %p4, %r0, 16;")
    assert kinds(text)[LEGALITY] is not VerdictKind.PROVED
    assert "the host made" in reasons(text, LEGALITY)


def test_before_ptx_8_5_any_stride_is_a_multiple_of_16_bytes() -> None:
    assert "2 * columns % 16 == 0" in reasons(kernel(version="8.5"), LEGALITY)
    assert "%" not in reasons(kernel(version="8.4"), LEGALITY).replace("source % 16", "")


def test_rank_against_coordinates() -> None:
    use = (
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [tile], [%rd1, {%r10, %r10, %r10}], [full];"
    )
    assert kinds(kernel(use=use))[RANK] is VerdictKind.VIOLATED


class TestOrder:
    def test_no_acquire(self) -> None:
        assert kinds(kernel(acquire=""))[ORDER] is VerdictKind.VIOLATED

    def test_no_acquire_by_the_warp_that_uses_it(self) -> None:
        assert kinds(kernel(acquire="", user=96))[ORDER] is VerdictKind.VIOLATED

    def test_an_acquire_by_the_maker_reaches_others_over_a_barrier(self) -> None:
        assert kinds(kernel(user=96))[ORDER] is VerdictKind.PROVED

    def test_without_a_barrier_it_does_not(self) -> None:
        assert kinds(kernel(user=96, middle=""))[ORDER] is VerdictKind.UNKNOWN

    def test_a_barrier_of_some_threads_is_not_enough(self) -> None:
        assert kinds(kernel(user=96, middle="bar.sync 1, 64;"))[ORDER] is VerdictKind.UNKNOWN

    def test_an_acquire_of_another_map(self) -> None:
        other = "add.u64 %rd2, %rd1, 4096;\nfence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;"
        assert kinds(kernel(acquire=other))[ORDER] is VerdictKind.VIOLATED

    def test_an_acquire_on_some_paths_only(self) -> None:
        some = "setp.eq.u32 %p5, %r20, 7;\n@%p5 fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;"
        assert kinds(kernel(acquire=some))[ORDER] is VerdictKind.UNKNOWN

    def test_no_barrier_of_the_warp_before_the_copy(self) -> None:
        text = kernel().replace("COPY:\n    bar.warp.sync -1;", "COPY:")
        assert kinds(text)[ORDER] is VerdictKind.VIOLATED

    def test_no_barrier_of_the_warp_behind_the_zeros(self) -> None:
        alone = FILL.replace("    bar.warp.sync -1;\n", "")
        assert kinds(kernel(fill=alone))[ORDER] is VerdictKind.VIOLATED
        some = (
            FILL.replace("bar.warp.sync", "setp.gt.u32 %p4, %r20, 5;\n    @%p4 bra ON;\n    bar.warp.sync")
            + "ON:"
        )
        assert kinds(kernel(fill=some))[ORDER] is VerdictKind.UNKNOWN

    def test_a_barrier_of_the_warp_on_some_ways_to_the_copy(self) -> None:
        some = "COPY:\n    setp.gt.u32 %p2, %r20, 5;\n    @%p2 bra ON;\n    bar.warp.sync -1;\nON:"
        text = kernel().replace("COPY:\n    bar.warp.sync -1;", some)
        assert kinds(text)[ORDER] is VerdictKind.UNKNOWN

    def test_one_map_for_all_blocks(self) -> None:
        assert kinds(kernel(place=""))[ORDER] is VerdictKind.UNKNOWN

    def test_maps_of_neighbours_overlap(self) -> None:
        text = kernel().replace("mad.lo.s64 %rd1, %rd9, 128", "mad.lo.s64 %rd1, %rd9, 64")
        assert kinds(text)[ORDER] is VerdictKind.UNKNOWN

    def test_made_again_under_a_load(self) -> None:
        text = kernel().replace("AGAIN:", f"    {COPY}\nAGAIN:", 1)
        assert kinds(text)[ORDER] is VerdictKind.VIOLATED


def test_a_kernel_without_maps_of_its_own_has_no_verdict() -> None:
    text = kernel(fill="", copy="", acquire="")
    lines = [line for line in text.split("\n") if "tensormap.replace" not in line]
    assert descriptor_verdicts(view("\n".join(lines))) == ()


def test_two_replacements_on_different_paths_are_both_judged() -> None:
    either = (
        "    setp.eq.u32 %p6, %r20, 5;\n"
        "    @%p6 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, {};\nCOPY:"
    )
    good = kernel().replace("COPY:", either.format(64), 1)
    bad = kernel().replace("COPY:", either.format(300), 1)
    assert kinds(good)[LEGALITY] is VerdictKind.ASSUMES
    assert kinds(bad)[LEGALITY] is VerdictKind.UNKNOWN
    assert "on some paths" in reasons(bad, LEGALITY)


def test_a_map_for_a_later_kernel_is_judged_where_it_is_copied() -> None:
    assert kinds(kernel(use=""))[LEGALITY] is VerdictKind.ASSUMES
    assert "source % 16 == 0" in reasons(kernel(use=""), LEGALITY)
    assert kinds(kernel({"box_dim.b32 0": "128"}, use=""))[LEGALITY] is VerdictKind.VIOLATED


def test_maps_at_unknown_places_are_not_vouched_for() -> None:
    text = kernel(
        use="", copy="ld.global.u64 %rd13, [%rd1];\n" + COPY.replace("[%rd1]", "[%rd13]"), acquire=""
    )
    assert kinds(text)[LEGALITY] is VerdictKind.ASSUMES
    selected = text.replace("[map], 3;", "[%r2], 3;").replace(
        "mov.u32 %r2, map;", "ld.shared.u32 %r2, [full];"
    )
    assert set(kinds(selected).values()) == {VerdictKind.UNKNOWN}


def test_two_threads_make_maps_for_each_other() -> None:
    text = """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry two(.param .u64 maps) .reqntid 64
{
    .reg .pred %p<8>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    .shared .align 1024 .b8 tile[16384];
    .shared .align 8 .b64 full;
    ld.param.u64 %rd0, [maps];
    add.u64 %rd1, %rd0, 128;
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, 0;
    setp.ne.u32 %p0, %r0, 0;
    setp.ne.u32 %p1, %r0, 32;
    @%p0 bra SECOND;
    mbarrier.init.shared::cta.b64 [full], 1;
    tensormap.replace.tile.global_dim.global.b1024.b32 [%rd0], 0, 64;
    fence.proxy.tensormap::generic.release.gpu;
    fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;
SECOND:
    @%p1 bra MET;
    tensormap.replace.tile.global_dim.global.b1024.b32 [%rd1], 0, 64;
    fence.proxy.tensormap::generic.release.gpu;
MET:
    bar.sync 0;
    @%p0 bra DONE;
    fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;
    cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd0, {%r1, %r1}];
    cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd1, {%r1, %r1}];
DONE:
    ret;
}
"""
    found = kinds(text)
    assert found[LEGALITY] is VerdictKind.ASSUMES
    assert reasons(text, ORDER) == "that no other block of the grid writes the same map is not shown"


class TestGuards:
    """What the kernel tests before a copy holds where the copy reads a map."""

    USE = (
        "{guard} cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [tile], [%rd1, {{%r10, %r10}}], [full];"
    )

    def conditions(self, before: str, guard: str = "@%p5") -> str:
        return reasons(kernel(before=before, use=self.USE.format(guard=guard)), LEGALITY)

    def test_a_guard_of_the_copy(self) -> None:
        assert "1 <= rows" in self.conditions("setp.gt.s32 %p5, %r20, 0;", "")
        assert "1 <= rows" not in self.conditions("setp.gt.s32 %p5, %r20, 0;")
        assert "1 <= rows" in self.conditions("setp.gt.s32 %p5, %r20, -1;")
        assert "1 <= rows" in self.conditions("setp.gt.s32 %p5, %r20, 0;", "@!%p5")

    def test_both_of_two(self) -> None:
        both = "setp.gt.s32 %p5, %r20, 0; setp.gt.s32 %p6, %r21, 0; and.pred %p5, %p5, %p6;"
        found = self.conditions(both)
        assert "1 <= rows" not in found
        assert "1 <= columns" not in found
        either = self.conditions(both.replace("and.pred", "or.pred"))
        assert "1 <= rows" in either
        assert "1 <= columns" in either

    def test_a_number_less_a_constant(self) -> None:
        found = self.conditions("add.s32 %r12, %r20, -64; setp.gt.s32 %p5, %r12, 0;")
        assert "1 <= rows" not in found
        assert "1 <= rows" in self.conditions("add.s32 %r12, %r20, 64; setp.gt.s32 %p5, %r12, 0;")

    def test_a_branch_around_the_copy(self) -> None:
        text = kernel().replace(
            "mbarrier.arrive", "setp.lt.s32 %p5, %r20, 1;\n@%p5 bra DONE;\nmbarrier.arrive"
        )
        assert "1 <= rows" not in reasons(text, LEGALITY)
        other = text.replace("@%p5 bra", "@!%p5 bra")
        assert kinds(other)[LEGALITY] is not VerdictKind.PROVED

    def test_another_copy_without_the_guard(self) -> None:
        use = self.USE.format(guard="@%p5") + "\n" + self.USE.format(guard="")
        text = kernel(before="setp.gt.s32 %p5, %r20, 0;", use=use)
        assert "1 <= rows" in reasons(text, LEGALITY)
