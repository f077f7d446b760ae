"""What is proved for all sizes: rings hold for every count, and a slip in a late round is never proved."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ptxcheck.cfg import build
from ptxcheck.launches.hints import from_directives, launch_of, parse_hint
from ptxcheck.parser import parse_module
from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.protocols.proof.first.lockstep import (
    SAME,
    Gap,
    gap_of,
    meet,
)
from ptxcheck.protocols.proof.first.shifted import Sizes
from ptxcheck.protocols.symex.values.symbol import Atom, Condition, Form
from ptxcheck.protocols.verify import verify
from ptxcheck.source import Source
from ptxcheck.verdict import Property, VerdictKind
from tests.limits import VERIFY_SECONDS

CORPUS = Path(__file__).parents[4] / "corpus" / "protocols"
_GOOD = frozenset({VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED, VerdictKind.ASSUMES})
_SECONDS = VERIFY_SECONDS / 5


def verified(text: str, seconds: float = _SECONDS, *, for_every_count: bool = False) -> Verification:
    """Verify a kernel with as many runs for further sizes as the rings that hold need, and few more."""
    module = parse_module(Source("k.ptx", text))
    (function,) = module.entries
    hints = [
        parse_hint(line.split("ptxcheck: launch", 1)[1].strip(), "comment")
        for line in text.splitlines()
        if "// ptxcheck: launch" in line
    ]
    launch = launch_of(function, hints)[0] if hints else from_directives(function)
    return verify(build(function), function, module, launch, seconds=seconds, for_every_count=for_every_count)


def deadlock_freedom(result: Verification) -> VerdictKind:
    return next(v.kind for v in result.verdicts() if v.property is Property.DEADLOCK_FREEDOM)


def ring(condition: str, *, breaks: bool, count: str = "step") -> str:
    """Return a ring of one stage; its consumer leaves a slot taken in rounds where `condition` holds if it `breaks`.

    `condition` sets %p6 from the counter %r7 of the consumer, which counts rounds, or down from n (`count="left"`).
    """
    start, move = ("0", "add.u32 %r7, %r7, 1;") if count == "step" else ("%r1", "sub.u32 %r7, %r7, 1;")
    release = (
        "@!%p6 mbarrier.arrive.shared::cta.b64 _, [%r3];"
        if breaks
        else "@%p6 mbarrier.arrive.shared::cta.b64 _, [%r3];\n@!%p6 mbarrier.arrive.shared::cta.b64 _, [%r3];"
    )
    return f""".version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u32 n) .reqntid 64 {{
    .reg .b32 %r<16>;
    .reg .pred %p<8>;
    .shared .align 8 .b64 full;
    .shared .align 8 .b64 empty;
    ld.param.u32 %r1, [n];
    mov.u32 %r2, full;
    mov.u32 %r3, empty;
    mov.u32 %r4, %tid.x;
    setp.ne.u32 %p0, %r4, 0;
    @%p0 bra ready;
    mbarrier.init.shared::cta.b64 [%r2], 1;
    mbarrier.init.shared::cta.b64 [%r3], 1;
ready:
    bar.sync 0;
    mov.u32 %r6, 0;
    mov.u32 %r7, {start};
    mov.u32 %r8, 0;
    setp.eq.u32 %p3, %r4, 32;
    @%p3 bra consume;
    setp.ne.u32 %p4, %r4, 0;
    @%p4 bra done;
produce:
    setp.ge.u32 %p5, %r8, %r1;
    @%p5 bra done;
    xor.b32 %r9, %r6, 1;
poll:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r3], %r9;
    @!%p1 bra poll;
    mbarrier.arrive.shared::cta.b64 _, [%r2];
    xor.b32 %r6, %r6, 1;
    add.u32 %r8, %r8, 1;
    bra produce;
consume:
    setp.ge.u32 %p5, %r8, %r1;
    @%p5 bra done;
poll2:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], %r6;
    @!%p1 bra poll2;
    {condition}
    {release}
    xor.b32 %r6, %r6, 1;
    {move}
    add.u32 %r8, %r8, 1;
    bra consume;
done:
    ret;
}}
"""


@pytest.mark.parametrize(
    "name",
    [
        "ring/three_stages", "ring/two_operands", "ring/drained_by_its_producer", "handover/named_barriers",
        "roles/two_producers_two_consumers", "pingpong/order_barriers", "leaders/elected_after_waiting",
        "groups/cp_async_three_stages", "cluster/split_cluster_barrier",
    ],
)  # fmt: skip
def test_rings_hold_for_all_counts_with_a_reason(name: str) -> None:
    text = (CORPUS / f"{name}.ptx").read_text(encoding="utf-8")
    result = verified(text, 2 * VERIFY_SECONDS)
    assert result.complete
    assert result.for_all is not None
    for verdict in result.verdicts():
        assert verdict.kind is VerdictKind.PROVED
        assert verdict.reasons[0].text == result.for_all


def test_a_loop_that_is_entered_again_is_not_of_one_family() -> None:
    """The second pass starts with the parity that the number of tiles leaves."""
    result = verified((CORPUS / "ring/two_passes.ptx").read_text(encoding="utf-8"))
    assert result.for_all is None
    assert deadlock_freedom(result) is VerdictKind.PROVED_BOUNDED


def test_parities_of_a_counter_repeat() -> None:
    result = verified(ring("and.b32 %r10, %r7, 4; setp.eq.u32 %p6, %r10, 0;", breaks=False))
    assert deadlock_freedom(result) is VerdictKind.PROVED
    assert "8 more add 8 rounds" in str(result.for_all)


def test_a_round_far_away_is_not_proved() -> None:
    slip = ring("setp.eq.u32 %p6, %r7, 4711;", breaks=True)
    assert deadlock_freedom(verified(slip)) is VerdictKind.PROVED_BOUNDED


def test_a_slip_that_the_runs_for_all_counts_come_to_is_shown() -> None:
    slip = ring("setp.eq.u32 %p6, %r7, 9;", breaks=True)
    assert deadlock_freedom(verified(slip)) is VerdictKind.VIOLATED


EARLY_COMMIT = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [free];"


def tensor_ring(condition: str = "") -> str:
    """Return a ring of FP8 tiles that are multiplied; where `condition` holds a stage is released in front of that.

    `condition` sets %p6 from the counter %r7 of the multiplier, which counts rounds.
    """
    text = (CORPUS / "tcgen05" / "fp8_tiles.ptx").read_text(encoding="utf-8")
    if not condition:
        return text
    registers = ".reg .b16 %rs<4>; .reg .b32 %r<16>; .reg .pred %p<8>;"
    for old, new in (
        (".reg .pred stop,", f"{registers}\n    .reg .pred stop,"),
        ("tcgen05.mma", f"mov.u32 %r7, step; {condition} @%p6 {EARLY_COMMIT}\n    tcgen05.mma"),
        (f"last;\n    {EARLY_COMMIT}", f"last;\n    @!%p6 {EARLY_COMMIT}"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def test_multiplications_in_tensor_memory_hold_for_all_counts() -> None:
    result = verified(tensor_ring(), 2 * VERIFY_SECONDS)
    assert result.for_all is not None
    assert deadlock_freedom(result) is VerdictKind.PROVED


@pytest.mark.parametrize(
    ("step", "expected"),
    [(3, VerdictKind.VIOLATED), (300, VerdictKind.PROVED_BOUNDED)],
    ids=["early", "late"],
)
def test_a_stage_that_is_released_before_its_multiplication(step: int, expected: VerdictKind) -> None:
    result = verified(tensor_ring(f"setp.eq.u32 %p6, %r7, {step};"))
    assert next(v.kind for v in result.verdicts() if v.property is Property.SLOT_SAFETY) is expected
    assert result.for_all is None


@dataclass(frozen=True)
class Slip:
    """A condition on the consumer's counter which some size makes true in a round."""

    text: str
    count: str


@st.composite
def slips(draw: st.DrawFn) -> Slip:
    number = draw(st.integers(6, 90))
    bit = draw(st.integers(3, 6))
    factor = draw(st.sampled_from([3, 4, 5, 12]))
    conditions = [
        f"setp.eq.u32 %p6, %r7, {number};",
        f"setp.gt.s32 %p6, %r7, {number};",
        f"setp.gt.u32 %p6, %r7, {number};",
        f"sub.u32 %r10, %r7, {number}; setp.eq.u32 %p6, %r10, 0;",
        f"sub.s32 %r10, {number}, %r7; setp.lt.s32 %p6, %r10, 0;",
        f"mul.lo.u32 %r10, %r7, {factor}; setp.eq.u32 %p6, %r10, {number * factor};",
        f"mad.lo.s32 %r10, %r7, {factor}, -{number}; setp.ge.s32 %p6, %r10, 0;",
        f"and.b32 %r10, %r7, {1 << bit}; setp.ne.u32 %p6, %r10, 0;",
        f"shr.u32 %r10, %r7, {bit}; and.b32 %r11, %r10, 1; setp.eq.u32 %p6, %r11, 1;",
        f"bfe.u32 %r10, %r7, {bit}, 2; setp.eq.u32 %p6, %r10, 2;",
        f"shl.b32 %r10, %r7, 2; and.b32 %r11, %r10, {4 << bit}; setp.ne.u32 %p6, %r11, 0;",
        f"xor.b32 %r10, %r7, {number}; setp.eq.u32 %p6, %r10, 0;",
        f"cvt.u16.u32 %rs1, %r7; cvt.u32.u16 %r10, %rs1; setp.eq.u32 %p6, %r10, {number};",
        f"setp.gt.u32 %p7, %r7, {number}; selp.u32 %r10, 1, 0, %p7; setp.ne.u32 %p6, %r10, 0;",
        f"max.u32 %r10, %r7, {number}; setp.ne.u32 %p6, %r10, {number};",
        f"div.u32 %r10, %r7, {number}; setp.eq.u32 %p6, %r10, 1;",
    ]
    return Slip(draw(st.sampled_from(conditions)), draw(st.sampled_from(["step", "left"])))


@settings(max_examples=8, deadline=None)
@given(slips())
@example(Slip("setp.gt.s32 %p6, %r7, 40;", "left"))
@example(Slip("sub.u32 %r10, %r7, 70; setp.eq.u32 %p6, %r10, 0;", "step"))
def test_no_slip_in_a_late_round_is_proved(slip: Slip) -> None:
    text = ring(slip.text, breaks=True, count=slip.count).replace(
        ".reg .pred", ".reg .b16 %rs<4>;\n.reg .pred"
    )
    for by_product in (False, True):
        result = verified(text, for_every_count=by_product)
        assert deadlock_freedom(result) is not VerdictKind.PROVED
        assert result.for_all is None


@settings(max_examples=4, deadline=None)
@given(slips())
def test_no_stage_that_is_released_early_in_a_late_round_is_proved(slip: Slip) -> None:
    for by_product in (False, True):
        result = verified(tensor_ring(slip.text), for_every_count=by_product)
        assert result.for_all is None


@given(st.integers(-40, 40), st.integers(-5, 5).filter(bool), st.integers(-20, 20), st.integers(-20, 20))
@example(3, -1, 3, 0)
def test_sizes_of_a_condition_are_those_with_its_truth(
    near: int, factor: int, constant: int, bound: int
) -> None:
    name = Atom(("param", "n", 0, 4))
    for relation in ("lt", "eq", "ne", "below"):
        condition = Condition(relation, Form(((name, factor),), constant), abs(bound))
        truth = condition.holds(factor * near + constant)
        sizes = Sizes(-200, 200).cut(condition, truth, near)
        assert sizes.low is not None
        assert sizes.high is not None
        assert sizes.low <= near <= sizes.high
        assert all(
            condition.holds(factor * each + constant) == truth for each in range(sizes.low, sizes.high + 1)
        )


@given(st.integers(-100, 100), st.integers(-100, 100))
def test_gaps_tell_in_how_many_low_bits_numbers_agree(one: int, other: int) -> None:
    gap = gap_of(other - one)
    assert (gap == SAME) == (one == other)
    if gap != SAME:
        assert (one ^ other) & ((1 << gap.bits) - 1) == 0
        assert meet(gap, SAME) == Gap(gap.bits, None)
