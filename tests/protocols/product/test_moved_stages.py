"""Stages of a ring that each tile moves by a number of the host: shown for each residue of that number."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from benchmarks.mutation.judge import launched
from ptxcheck.protocols.product import turned_states
from ptxcheck.protocols.product.for_all import Open, Shown, _extend
from ptxcheck.protocols.symex.values.wraparound import SIZES
from ptxcheck.protocols.verify import shown_for_every_count
from ptxcheck.source import Source
from ptxcheck.terms.effort import COST, UNITS_PER_SECOND, Effort, Work
from tests.protocols.machine_runs import kernel
from tests.protocols.product.three_stage_ring import FILLS, INITIALISED, TAKES

STAGES = 3
QUOTIENT = "mul.hi.u32 %r20, %r11, 0xaaaaaaab; shr.u32 %r20, %r20, 1;"
"""A third of %r11, as compilers divide."""
ADVANCED = """
setp.lt.u32 %p5, {moved}, 3; add.u32 %r11, %r10, {moved}; setp.gt.u32 %p6, %r11, 2; and.pred %p7, %p5, %p6;
selp.u32 %r21, 1, 0, %p7; xor.b32 %r12, %r12, %r21;
@%p5 bra {label};
{quotient} and.b32 %r22, %r20, 1; xor.b32 %r12, %r12, %r22;
{label}: {quotient} mul.lo.u32 %r20, %r20, 3; sub.u32 %r10, %r11, %r20;
"""
"""`PipelineState::advance` of CUTLASS: stage %r10, phase %r12."""
TEXT = f"""
mov.u32 %r1, smem; mov.u32 %r2, %tid.x; ld.param.u32 %r3, [n]; ld.param.u32 %r4, [m]; mov.u32 %r5, 0;
{INITIALISED}mov.u32 %r10, 0; setp.ge.u32 %p2, %r2, 32; @%p2 bra CONSUMER;
mov.u32 %r12, 1;
FILL: setp.ge.s32 %p3, %r5, %r4; @%p3 bra DONE;
mov.u32 %r13, %r10; mov.u32 %r14, %r12; mov.u32 %r15, %r3;
setp.lt.s32 %p4, %r3, 1; @%p4 bra FILLED;
{FILLS}FILLED: {{fill}}
add.u32 %r5, %r5, 1; bra FILL;
CONSUMER: mov.u32 %r12, 0;
TAKE: setp.ge.s32 %p3, %r5, %r4; @%p3 bra DONE;
mov.u32 %r13, %r10; mov.u32 %r14, %r12; mov.u32 %r15, %r3;
setp.lt.s32 %p4, %r3, 1; @%p4 bra TAKEN;
{TAKES}TAKEN: {{take}}
add.u32 %r5, %r5, 1; bra TAKE;
DONE:
"""
"""n rounds of each of m tiles: one warp fills the slots of a ring, another one takes them."""


def advanced(label: str, moved: str = "%r3", changes: Mapping[str, str] | None = None) -> str:
    text = ADVANCED.format(label=label, moved=moved, quotient=QUOTIENT)
    for old, new in (changes or {}).items():
        assert old in text, old
        text = text.replace(old, new)
    return text


COUNT = "ld.param.u32 %r3, [n];"
OF_TILES = COUNT + " add.s32 %r3, %r3, 31; shr.s32 %r3, %r3, 5;"


def shown(fill: str, take: str, seconds: float = 6.0, count: str = COUNT) -> Shown | Open:
    text = kernel(TEXT.format(fill=fill, take=take).replace(COUNT, count), threads=64)
    return shown_for_every_count(*launched(Source("k.ptx", text), "k"), seconds=seconds)


def test_both_move_by_as_many_rounds_as_they_make() -> None:
    found = shown(advanced("P"), advanced("C"))
    assert isinstance(found, Shown)
    assert any("n is not negative" in each.text for each in found.assumptions)


WRONG: dict[str, tuple[str, str]] = {
    "one moves by one more": (advanced("P"), "add.u32 %r3, %r3, 1;" + advanced("C") + "add.u32 %r3, %r3, -1;"),
    "both move by one more": (
        "add.u32 %r30, %r3, 1;" + advanced("P", moved="%r30"),
        "add.u32 %r30, %r3, 1;" + advanced("C", moved="%r30"),
    ),
    "one divides by another number": (advanced("P"), advanced("C", changes={"%r20, 1;": "%r20, 2;"})),
    "the phase stays behind many rounds": (
        advanced("P"), advanced("C", changes={"xor.b32 %r12, %r12, %r22;": ""}),
    ),
    "the phase stays behind few rounds": (
        advanced("P", changes={"xor.b32 %r12, %r12, %r21;": ""}), advanced("C"),
    ),
    "one compares with another number": (advanced("P", changes={"%r11, 2;": "%r11, 3;"}), advanced("C")),
    "one does not move": (advanced("P"), ""),
    "one moves by the number of tiles": (advanced("P"), advanced("C", moved="%r4")),
}  # fmt: skip


def test_a_sum_that_is_taken_for_a_size_is_taken_not_to_wrap_around() -> None:
    found = shown(advanced("P"), advanced("C"), count=OF_TILES)
    assert isinstance(found, Shown)
    texts = {each.text for each in found.assumptions}
    assert {"n is not negative", SIZES} <= texts


NEGATIVE = {"mul.hi.u32 %r20, %r11, 0xaaaaaaab; shr.u32": "mul.hi.s32 %r20, %r11, -1431655765; shr.s32"}
"""A factor that is negative for a signed product: 1 is divided to -1."""


def test_a_product_that_is_no_quotient() -> None:
    assert isinstance(shown(advanced("P", changes=NEGATIVE), advanced("C", changes=NEGATIVE)), Open)


@pytest.mark.parametrize("name", WRONG)
def test_nothing_is_shown_where_they_move_apart(name: str) -> None:
    assert isinstance(shown(*WRONG[name]), Open)


def test_stages_turn_in_each_residue(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the quotient is even or odd by the residue, no run takes the other way: `feasible_edges`."""
    monkeypatch.setattr(turned_states, "_BEFORE_TURNS", 0)
    turned = shown(advanced("A"), advanced("B"))
    monkeypatch.setattr(turned_states, "_BEFORE_TURNS", 10**9)
    apart = shown(advanced("A"), advanced("B"))
    assert isinstance(turned, Shown)
    assert isinstance(apart, Shown)
    assert turned.states * 2 < apart.states


@pytest.mark.parametrize(
    ("spent", "shown_cases", "extends"),
    [
        (4, 2, True),  # 14 cases take 28 of 20
        (2, 2, False),  # they fit
        (10, 2, False),  # they would not fit into three times as much
        (4, 1, False),  # one tells nothing
    ],
)
def test_residues_may_take_more_where_that_is_enough(spent: int, shown_cases: int, *, extends: bool) -> None:
    effort = Effort(20.0)
    effort.spend(Work.STATE, spent * UNITS_PER_SECOND // COST[Work.STATE])
    assert _extend(effort, 0, shown_cases, 14) is extends
    assert effort.limit == (60 if extends else 20) * UNITS_PER_SECOND


AS_PYTHON = """
add.u32 %r11, %r10, {moved}; mul.hi.s32 %r20, %r11, {factor}; shr.u32 %r21, %r20, 31; add.s32 %r20, %r20, %r21;
xor.b32 %r12, {flip}, %r12; mul.lo.s32 %r20, %r20, 3; sub.s32 %r10, %r11, %r20;
"""
"""The same of numbers with a sign, as the CuTe DSL has it: all bits of the quotient are joined to the phase."""
ROUNDED_UP = (
    COUNT
    + """
shr.s32 %r23, %r3, 31; shr.u32 %r24, %r23, 26; add.s32 %r25, %r3, %r24; shr.s32 %r26, %r25, 6; and.b32 %r27, %r25, -64;
setp.ne.b32 %p11, %r3, %r27; setp.gt.s32 %p12, %r3, -1; and.pred %p13, %p12, %p11; selp.b32 %r28, 1, 0, %p13;
add.s32 %r3, %r26, %r28;
"""
)


def as_python(moved: str = "%r3", factor: int = 1431655766, flip: str = "%r20") -> str:
    return AS_PYTHON.format(moved=moved, factor=factor, flip=flip)


@pytest.mark.parametrize("count", [COUNT, ROUNDED_UP], ids=["as it is", "rounded up"])
def test_all_bits_of_a_quotient_are_joined_to_a_phase(count: str) -> None:
    assert isinstance(shown(as_python(), as_python(), count=count), Shown)


WRONG_PHASES: dict[str, tuple[str, str]] = {
    "one does not move": (as_python(), ""),
    "no flip": (as_python(), as_python(flip="0")),
    "a flip more": (as_python(), as_python() + "xor.b32 %r12, %r12, 1;"),
    "another divisor": (as_python(), as_python(factor=1073741824)),
    "another bit": (as_python(), as_python(flip="%r21")),
    "one moves by one more": (as_python(), "add.u32 %r30, %r3, 1;" + as_python("%r30")),
    "one moves by the number of tiles": (as_python(), as_python("%r4")),
}


@pytest.mark.parametrize("name", WRONG_PHASES)
@pytest.mark.parametrize("count", [COUNT, ROUNDED_UP], ids=["as it is", "rounded up"])
def test_phases_that_are_joined_in_another_way_are_not_shown(name: str, count: str) -> None:
    assert isinstance(shown(*WRONG_PHASES[name], count=count), Open)
