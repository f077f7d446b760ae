"""Facts on kernels as compilers write them."""

from __future__ import annotations

import pytest

from ptxcheck.cfg import AtomKind, Facts, Pointer
from ptxcheck.cfg.definitions import ENTRY, Name
from ptxcheck.cfg.evaluate import Read, Values
from ptxcheck.cfg.values import Value, top
from ptxcheck.ir import Address

from .kernels import facts_of, point_of, register

STAGES = """
    mov.b32 %r10, 0;
    mov.b32 %r11, 0;
    mov.b32 %r12, 0;
    ld.param.u32 %r20, [n];
  LOOP:
    shl.b32 %r13, %r10, 3;
    mov.u32 %r14, bars;
    add.s32 %r15, %r14, %r13;
    mbarrier.arrive.shared::cta.b64 _, [%r15];
    add.s32 %r16, %r10, 1;
    setp.eq.s32 %p1, %r16, 4;
    selp.b32 %r10, 0, %r16, %p1;
    selp.u32 %r17, 1, 0, %p1;
    xor.b32 %r11, %r11, %r17;
    add.s32 %r12, %r12, 1;
    setp.lt.s32 %p2, %r12, %r20;
    @%p2 bra LOOP;
    ret;
"""


def _address(facts: Facts, text: str) -> Pointer:
    point = point_of(facts, text)
    operand = next(o for o in facts.cfg.instructions[point].operands if isinstance(o, Address))
    pointer = facts.address(point, operand)
    assert pointer is not None
    return pointer


def test_constants_come_through_registers() -> None:
    facts = facts_of("mov.u32 %r5, 24; shl.b32 %r6, %r5, 2; mov.b32 %r7, -1; st.shared.u32 [tile], %r6; ret;")
    point = point_of(facts, "st.shared")
    assert facts.constant(point, register("%r6")) == 96
    assert facts.constant(point, register("%r7")) == 0xFFFFFFFF
    assert facts.value(point, register("%r7")).signed == -1
    assert facts.constant(point, register("%r8")) is None


@pytest.mark.parametrize("clock", ["%clock", "%globaltimer_lo", "%warpid"])
def test_each_read_of_a_clock_gives_a_number_of_its_own(clock: str) -> None:
    facts = facts_of(
        f"mov.u32 %r5, {clock}; mov.u32 %r6, {clock}; sub.u32 %r7, %r6, %r5; sub.u32 %r8, %r5, %r5;"
        "st.shared.v2.u32 [tile], {%r7, %r8}; ret;"
    )
    point = point_of(facts, "st.shared")
    assert facts.constant(point, register("%r7")) is None
    assert facts.constant(point, register("%r8")) == 0


def test_a_ring_of_stages_stays_in_its_bounds() -> None:
    facts = facts_of(STAGES)
    point = point_of(facts, "mbarrier.arrive")
    assert facts.range(point, register("%r10")) == (0, 3)
    pointer = _address(facts, "mbarrier.arrive")
    assert (pointer.space, pointer.symbol, pointer.is_variable) == (".shared::cta", "bars", True)
    assert (pointer.offset.low, pointer.offset.high) == (0, 24)
    assert pointer.offset.divisible(8) is True
    assert facts.range(point_of(facts, "xor.b32"), register("%r11")) == (0, 1)


def test_a_counted_loop_is_bounded_by_its_branch() -> None:
    facts = facts_of("""
        mov.u32 %r1, 0;
      L: st.shared.u32 [tile], %r1;
        add.s32 %r1, %r1, 1;
        setp.lt.s32 %p1, %r1, 100;
        @%p1 bra L;
        ret;
    """)
    assert facts.range(point_of(facts, "st.shared"), register("%r1")) == (0, 99)


def test_branches_refine_what_they_test() -> None:
    facts = facts_of("""
        ld.param.u32 %r1, [n];
        setp.gt.u32 %p1, %r1, 7;
        @%p1 bra BIG;
        st.shared.u32 [tile], %r1;
        ret;
      BIG: st.shared.u32 [tile+4], %r1;
        ret;
    """)
    assert facts.range(point_of(facts, "st.shared", 0), register("%r1")) == (0, 7)
    assert facts.range(point_of(facts, "st.shared", 1), register("%r1")) == (8, 0xFFFFFFFF)


def test_dynamic_shared_memory_rounded_up_is_aligned() -> None:
    facts = facts_of("""
        mov.u32 %r1, dynamic;
        add.s32 %r2, %r1, 1023;
        and.b32 %r3, %r2, -1024;
        st.shared.u32 [%r3+2048], %r3;
        ret;
    """)
    point = point_of(facts, "st.shared")
    assert facts.is_multiple(point, facts.cfg.instructions[point].operands[0], 1024) is True
    assert facts.is_multiple(point, register("%r1"), 16) is True
    assert facts.is_multiple(point, register("%r1"), 1024) is None


def test_generic_addresses_lead_back_to_shared_ones() -> None:
    facts = facts_of("""
        mov.u64 %d1, tile;
        cvta.shared.u64 %d2, %d1;
        add.s64 %d3, %d2, 64;
        cvta.to.shared.u64 %d4, %d3;
        cvt.u32.u64 %r1, %d4;
        st.shared.u32 [%r1+4], %r1;
        ld.u32 %r2, [%d3];
        ret;
    """)
    stored = _address(facts, "st.shared")
    assert (stored.symbol, stored.offset.constant, stored.space) == ("tile", 68, ".shared")
    loaded = _address(facts, "ld.u32")
    assert (loaded.symbol, loaded.offset.constant, loaded.space) == ("tile", 64, ".shared")
    assert loaded.base is not None
    assert loaded.base.window == "generic"


def test_mapa_says_which_cta() -> None:
    facts = facts_of("""
        mov.u32 %r1, bars;
        mapa.shared::cluster.u32 %r2, %r1, 1;
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2+8];
        ret;
    """)
    pointer = _address(facts, "mbarrier.arrive")
    assert (pointer.space, pointer.symbol, pointer.offset.constant) == (".shared::cluster", "bars", 8)
    assert pointer.base is not None
    assert pointer.base.window == "cluster:1"


def test_parameters_are_symbols() -> None:
    facts = facts_of("""
        ld.param.u64 %d1, [data];
        cvta.to.global.u64 %d2, %d1;
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %d3, %r1, 4;
        add.s64 %d4, %d2, %d3;
        st.global.u32 [%d4+16], %r1;
        ret;
    """)
    pointer = _address(facts, "st.global")
    assert (pointer.space, pointer.symbol) == (".global", "data")
    assert pointer.base is not None
    assert pointer.base.kind is AtomKind.PARAMETER
    assert (pointer.offset.low, pointer.offset.high, pointer.offset.modulus) == (16, 4108, 4)


def test_an_unknown_base_is_still_one_base() -> None:
    facts = facts_of(
        "ld.global.u64 %d1, [counter]; st.global.u32 [%d1], %r1; st.global.u32 [%d1+4], %r1; ret;"
    )
    first, second = point_of(facts, "st.global", 0), point_of(facts, "st.global", 1)
    a = facts.address(first, facts.cfg.instructions[first].operands[0])
    b = facts.address(second, facts.cfg.instructions[second].operands[0])
    assert a is not None
    assert b is not None
    assert a.symbol is None
    assert a.base == b.base
    assert (a.offset.constant, b.offset.constant) == (0, 4)


def test_fields_of_a_descriptor_are_known() -> None:
    facts = facts_of("""
        mov.u32 %r1, dynamic;
        shr.u32 %r2, %r1, 4;
        and.b32 %r3, %r2, 16383;
        cvt.u64.u32 %d1, %r3;
        or.b64 %d2, %d1, 0x4000004000010000;
        st.global.u64 [%d3], %d2;
        ret;
    """)
    value = facts.value(point_of(facts, "st.global"), register("%d2"))
    assert value.field(62, 2) == 1
    assert value.field(32, 14) == 64
    assert value.field(0, 14) is None


def test_dead_code_and_dead_guards() -> None:
    facts = facts_of("""
        mov.b32 %r1, 4;
        setp.eq.s32 %p1, %r1, 5;
        @%p1 bra L;
        @%p1 st.shared.u32 [tile], %r1;
        ret;
      L: st.shared.u32 [tile+4], %r1;
        ret;
    """)
    assert facts.reachable(point_of(facts, "st.shared", 0))
    assert facts.never_runs(point_of(facts, "st.shared", 0))
    assert not facts.reachable(point_of(facts, "st.shared", 1))


def test_definitions_and_uses() -> None:
    facts = facts_of("""
        mov.b32 %r1, 1;
        @%p1 mov.b32 %r1, 2;
        @%p2 bra L;
        mov.b32 %r1, 3;
      L: st.shared.u32 [tile], %r1;
        ret;
    """)
    point = point_of(facts, "st.shared")
    assert facts.definitions(point, register("%r1")) == (0, 1, 3)
    assert facts.uses(1) == (point,)
    assert facts.range(point, register("%r1")) == (1, 3)
    assert facts.name(point, register("%r1")).phi_block == facts.cfg.block_at(point).index


def test_a_definition_behind_a_merge_is_not_the_merge() -> None:
    facts = facts_of("""
        mov.b32 %r1, 1;
        @%p1 bra A;
        mov.b32 %r1, 2;
      A: mov.b32 %r1, 3;
        @%p2 bra B;
        st.shared.u32 [tile], %r2;
      B: st.shared.u32 [tile], %r1;
        ret;
    """)
    assert facts.constant(point_of(facts, "st.shared", 1), register("%r1")) == 3


def test_approximations_are_named() -> None:
    facts = facts_of("mystery.b32 %r1, %r2; ret;")
    kinds = {approximation.kind.value for approximation in facts.approximations}
    assert {"opaque-instruction", "block-shape"} <= kinds


def test_the_sync_slice_leaves_arithmetic_out() -> None:
    facts = facts_of("""
        ld.param.u32 %r1, [n];
        ld.param.u64 %d1, [data];
        ld.global.u32 %r5, [%d1];
        add.s32 %r6, %r5, 1;
        setp.eq.s32 %p1, %r1, 0;
        @%p1 bra L;
        bar.sync 0;
      L: st.global.u32 [%d1], %r6;
        ret;
    """)
    found = facts.sync_slice
    assert point_of(facts, "add.s32") not in found.points
    assert point_of(facts, "setp") in found.points
    assert found.parameters == ("n",)
    assert found.loads == ()


def test_cases_that_an_index_never_takes_are_dead() -> None:
    facts = facts_of("""
        mov.u32 %r1, %tid.x;
        and.b32 %r2, %r1, 1;
        T: .branchtargets A, B, C;
        brx.idx %r2, T;
      A: st.shared.u32 [tile], %r1;
      B: ret;
      C: st.shared.u32 [tile+4], %r1;
        ret;
    """)
    assert facts.reachable(point_of(facts, "st.shared", 0))
    assert not facts.reachable(point_of(facts, "st.shared", 1))


def test_values_computed_anew_take_work_that_grows_with_the_steps_back_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A guarded comparison into its own guard reads that three times, and so on: 3 to the 8th ways."""
    evaluated: list[Name] = []
    evaluate = Values.evaluate

    def counted(self: Values, key: Name, read: Read) -> Value | None:
        evaluated.append(key)
        return evaluate(self, key, read)

    facts = facts_of("setp.ge.u32 %p1, %r5, %r6;" + "@%p1 setp.ge.and.u32 %p1, %r5, %r6, %p1;" * 20 + "ret;")
    name = facts.leaving(0, register("%p1"))
    facts.value_of(name)
    monkeypatch.setattr(Values, "evaluate", counted)
    facts.value_given(name, {Name(register("%r9"), ENTRY): top(32)})
    assert 8 <= len(evaluated) <= 40
