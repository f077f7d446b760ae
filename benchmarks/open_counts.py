"""Random rings whose counts the host passes: what the product shows for every count, against a run for each count.

    python -m benchmarks.open_counts --kernels 2000 [--first SEED] [--most 7] [--verbose]

Each kernel is a ring of one loading thread and one warp of consumers. Counts are rounds or elements (rounded up or
down), loops count up or down, a prologue loads ahead under guards of its own, comparisons are signed or unsigned, a
loop may be unrolled with a rest behind it, the loops may be inside a loop over tiles; in one round, a certain one or
the last, both may meet besides; half of the kernels have a slip in a bound, a parity, a guard or an arrival.

*Hole*: the product shows a kernel that a run with some count from 0 to `--most` finds broken. *Open*: the runs of all
these counts hold, and the product does not show it, by reason. Exit status 1 where there is a hole.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

from ptxcheck.protocols.product.for_all import Open, Shown
from ptxcheck.protocols.verify import shown_for_every_count, verify
from ptxcheck.source import Source
from ptxcheck.verdict import VerdictKind

from .mutation.judge import launched

_Answer = TypeVar("_Answer")
_TILES = 2
"""Tiles of a run."""
_SLOPE = (1, 4, 16)
"""Elements of one round: counts are passed in elements."""


@dataclass(frozen=True, slots=True)
class Ring:
    """How a kernel is written."""

    stages: int
    elements: int
    rounds_up: bool
    """Whether a rest is a round of its own."""
    consumer_counts_elements: bool
    """Else it divides first."""
    signed: bool
    counts_down: bool
    ahead: int
    """Stages that are loaded in front of the loop."""
    tiled: bool
    slip: str
    unrolled: int = 1
    """Rounds of the loading loop in one of its main loop: the rest is a loop of its own."""
    clears_sign: bool = False
    """Whether the main loop counts what a mask leaves, as compilers have it of a positive number; else a difference."""
    marked: int | None = None
    """The round, from the last one on if negative, in which the loader tells the consumers that it was there."""
    branches: bool = False
    """Whether they go round that by a branch; else by a predicate."""


SLIPS = (
    "consumer one more", "consumer one less", "guard one late", "guard one early", "parity", "other rounding",
    "missing arrival", "wrap one early", "no guard",
)  # fmt: skip
SLIP_OF_UNROLLED = "half of the rest"
SLIP_OF_MARKED = "told one round late"


def ring(random: Random) -> Ring:
    """Return a way to write a kernel."""
    stages = random.choice((1, 2, 3, 4))
    how = Ring(
        stages,
        random.choice(_SLOPE),
        random.random() < 0.7,
        random.random() < 0.5,
        random.random() < 0.7,
        random.random() < 0.3,
        random.choice((0, 0, 1, stages)) if stages > 1 else random.choice((0, 1)),
        random.random() < 0.3,
        random.choice(SLIPS) if random.random() < 0.5 else "",
    )
    if not (how.ahead or not how.signed or how.counts_down):
        how = replace(how, unrolled=random.choice((1, 2, 4)), clears_sign=random.random() < 0.5)
        is_cut = how.unrolled > 1 and random.random() < 0.2
        how = replace(how, slip=SLIP_OF_UNROLLED) if is_cut else how
    if how.tiled or random.random() < 0.5:
        return how
    how = replace(how, marked=random.choice((0, 0, 1, 2, 5, -1)), branches=random.random() < 0.5)
    return replace(how, slip=SLIP_OF_MARKED) if random.random() < 0.3 else how


def text_of(how: Ring, count: int | None = None) -> str:
    """Return the kernel in PTX; with a count, that is in the text."""
    own = "s32" if how.signed else "u32"
    lines = [
        "// ptxcheck: launch block=64 cluster=1",
        ".version 8.6",
        ".target sm_90a",
        ".address_size 64",
        ".visible .entry ring(.param .u64 source, .param .u32 n, .param .u32 tiles)",
        "{",
        f".shared .align 8 .b64 full[{how.stages}];",
        f".shared .align 8 .b64 empty[{how.stages}];",
        ".shared .align 8 .b64 once;",
        f".shared .align 128 .b8 tile[{1024 * how.stages}];",
        ".reg .pred %p<20>;",
        ".reg .b32 %r<60>;",
        ".reg .b64 %d<4>;",
        "ld.param.u64 %d0, [source];",
        "ld.param.u32 %r0, [n];" if count is None else f"mov.u32 %r0, {count};",
        "ld.param.u32 %r40, [tiles];" if count is None else f"mov.u32 %r40, {_TILES};",
        "mov.u32 %r1, %tid.x;",
        "mov.u32 %r2, full;",
        "mov.u32 %r3, empty;",
        "mov.u32 %r4, tile;",
        *_rounds("%r5", how, how.rounds_up),
        "setp.ne.u32 %p0, %r1, 0;",
        "@%p0 bra READY;",
    ]
    for stage in range(how.stages):
        lines += [
            f"mbarrier.init.shared::cta.b64 [full+{8 * stage}], 1;",
            f"mbarrier.init.shared::cta.b64 [empty+{8 * stage}], 32;",
        ]
    lines += [
        "mbarrier.init.shared::cta.b64 [once], 1;",
        "READY:", "bar.sync 0;", "setp.ge.u32 %p1, %r1, 32;",
        "mov.u32 %r6, 0;", "mov.u32 %r7, 1;", "mov.u32 %r20, 0;", "mov.u32 %r21, 0;", "mov.u32 %r24, 0;",
        "@%p1 bra CONSUMER;", "@%p0 bra DONE;",
    ]  # fmt: skip
    lines += [*_tiles(how, "P", lambda: _producer(how, own)), "bra DONE;", "CONSUMER:"]
    lines += [*_tiles(how, "C", lambda: _consumer(how, own)), "DONE:", "ret;", "}"]
    return "\n".join(lines) + "\n"


def _rounds(register: str, how: Ring, rounds_up: bool) -> list[str]:
    """Return how many rounds the elements of `%r0` are, in a register."""
    if how.elements == 1:
        return [f"mov.u32 {register}, %r0;"]
    bits = how.elements.bit_length() - 1
    more = how.elements - 1 if rounds_up else 0
    if not how.signed:
        return [f"add.u32 %r50, %r0, {more};", f"shr.u32 {register}, %r50, {bits};"]
    return [
        f"add.s32 %r50, %r0, {more};",
        "shr.s32 %r51, %r50, 31;",
        f"shr.u32 %r52, %r51, {32 - bits};",
        "add.s32 %r53, %r50, %r52;",
        f"shr.s32 {register}, %r53, {bits};",
    ]


def _tiles(how: Ring, name: str, body: Callable[[], list[str]]) -> list[str]:
    if not how.tiled:
        return body()
    return [
        "mov.u32 %r41, 0;", f"TILE{name}:", "setp.ge.u32 %p9, %r41, %r40;", f"@%p9 bra TILED{name};",
        *body(), "add.u32 %r41, %r41, 1;", f"bra TILE{name};", f"TILED{name}:",
    ]  # fmt: skip


def _step(stage: str, parity: str, wraps_at: int) -> list[str]:
    """Go on to the next stage, with its parity."""
    return [
        f"add.u32 {stage}, {stage}, 1;",
        f"setp.eq.u32 %p3, {stage}, {wraps_at};",
        f"selp.b32 {stage}, 0, {stage}, %p3;",
        f"@%p3 xor.b32 {parity}, {parity}, 1;",
    ]


def _load(how: Ring, label: str) -> list[str]:
    return [
        "shl.b32 %r8, %r6, 3;", "add.u32 %r9, %r2, %r8;", "add.u32 %r10, %r3, %r8;", "shl.b32 %r8, %r6, 10;",
        "add.u32 %r11, %r4, %r8;", f"{label}:",
        "mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r10], %r7;", f"@!%p4 bra {label};",
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 1024;",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r11], [%d0], 1024, [%r9];",
        *_step("%r6", "%r7", how.stages),
        *_marked(how, label, "%r5", int(how.slip == SLIP_OF_MARKED), ["mbarrier.arrive.shared::cta.b64 _, [once];"]),
    ]  # fmt: skip


def _marked(how: Ring, label: str, rounds: str, late: int, action: list[str]) -> list[str]:
    """Count a round; act in the marked one, or one behind it."""
    if how.marked is None:
        return []
    last = [f"add.s32 %r26, {rounds}, {how.marked + late};"] if how.marked < 0 else []
    compared = "%r26" if how.marked < 0 else str(how.marked + late)
    if how.branches or len(action) > 1:
        around = [
            f"setp.ne.u32 %p7, %r24, {compared};",
            f"@%p7 bra {label}_MARKED;",
            *action,
            f"{label}_MARKED:",
        ]
    else:
        around = [f"setp.eq.u32 %p7, %r24, {compared};", *(f"@%p7 {each}" for each in action)]
    return [*last, *around, "add.u32 %r24, %r24, 1;"]


def _producer(how: Ring, own: str) -> list[str]:
    lines: list[str] = []
    least = {"guard one late": 1, "guard one early": -1}.get(how.slip, 0)
    start = 1 if how.rounds_up else how.elements
    for number in range(how.ahead):
        bound = number * how.elements + start + (least if number == how.ahead - 1 else 0)
        if how.slip != "no guard":
            lines += [f"setp.lt.{own} %p5, %r0, {max(bound, 0)};", f"@%p5 bra SKIP{number};"]
        lines += [*_load(how, f"AHEAD{number}"), f"SKIP{number}:"]
    if how.unrolled > 1:
        return [*lines, *_unrolled(how)]
    if how.counts_down:
        lines += [
            f"sub.u32 %r12, %r5, {how.ahead};",
            "LOAD:",
            "setp.le.s32 %p2, %r12, 0;",
            "@%p2 bra LOADED;",
        ]
    else:
        lines += [
            f"mov.u32 %r12, {how.ahead};",
            "LOAD:",
            f"setp.ge.{own} %p2, %r12, %r5;",
            "@%p2 bra LOADED;",
        ]
    lines += _load(how, "WAITE")
    lines += [f"{'sub' if how.counts_down else 'add'}.u32 %r12, %r12, 1;", "bra LOAD;", "LOADED:"]
    return lines


def _unrolled(how: Ring) -> list[str]:
    """Return the loading loop as compilers unroll it."""
    most = how.unrolled - 1
    kept = most >> 1 if how.slip == SLIP_OF_UNROLLED else most
    main = f"and.b32 %r32, %r5, {0x7FFFFFFF & ~most};" if how.clears_sign else "sub.s32 %r32, %r5, %r31;"
    lines = [
        "setp.lt.s32 %p2, %r5, 1;", "@%p2 bra LOADED;", f"and.b32 %r30, %r5, {kept};", f"and.b32 %r31, %r5, {most};",
        "add.s32 %r33, %r5, -1;", f"setp.lt.u32 %p2, %r33, {most};", "@%p2 bra REST;", main, "LOAD:",
    ]  # fmt: skip
    for copy in range(how.unrolled):
        lines += _load(how, f"WAITE{copy}")
    lines += [
        f"add.s32 %r32, %r32, -{how.unrolled};", "setp.ne.s32 %p2, %r32, 0;", "@%p2 bra LOAD;", "REST:",
        "setp.eq.s32 %p2, %r30, 0;", "@%p2 bra LOADED;", "AGAIN:", *_load(how, "WAITE"), "add.s32 %r30, %r30, -1;",
        "setp.ne.s32 %p2, %r30, 0;", "@%p2 bra AGAIN;", "LOADED:",
    ]  # fmt: skip
    return lines


def _consumer(how: Ring, own: str) -> list[str]:
    more = {"consumer one more": 1, "consumer one less": -1}.get(how.slip, 0)
    rounds_up = how.rounds_up != (how.slip == "other rounding")
    lines = _rounds("%r13", how, rounds_up)
    by_elements = how.consumer_counts_elements and rounds_up
    bound = "%r0" if by_elements else "%r13"
    step = how.elements if by_elements else 1
    if more:
        lines += [f"add.s32 %r14, {bound}, {more * step};"]
        bound = "%r14"
    parity = "%r21" if how.slip != "parity" else "%r22"
    lines += [
        "xor.b32 %r22, %r21, 1;", "mov.u32 %r12, 0;", "USE:", f"setp.ge.{own} %p2, %r12, {bound};",
        "@%p2 bra USED;", "shl.b32 %r8, %r20, 3;", "add.u32 %r9, %r2, %r8;", "add.u32 %r10, %r3, %r8;",
        "shl.b32 %r8, %r20, 10;", "add.u32 %r11, %r4, %r8;", "WAITF:",
        f"mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r9], {parity};", "@!%p4 bra WAITF;",
        "ld.shared.u32 %r15, [%r11];",
        *_marked(how, "WAITF", "%r13", 0, [
            "WAITO:", "mbarrier.try_wait.parity.shared::cta.b64 %p8, [once], 0;", "@!%p8 bra WAITO;",
        ]),
    ]  # fmt: skip
    if how.slip == "missing arrival":
        lines += ["setp.eq.u32 %p6, %r1, 32;", "@!%p6 mbarrier.arrive.shared::cta.b64 _, [%r10];"]
    else:
        lines += ["mbarrier.arrive.shared::cta.b64 _, [%r10];"]
    wraps_at = max(1, how.stages - 1) if how.slip == "wrap one early" else how.stages
    lines += [
        *_step("%r20", "%r21", wraps_at), "xor.b32 %r22, %r21, 1;", f"add.u32 %r12, %r12, {step};", "bra USE;",
        "USED:",
    ]  # fmt: skip
    return lines


@dataclass(frozen=True, slots=True)
class Judged:
    """What the product says, and the counts with which runs go wrong."""

    product: Shown | Open
    wrong: tuple[int, ...]
    open: tuple[int, ...]
    """Counts that runs leave undecided."""


def judge(how: Ring, counts: range, seconds: float = 6.0) -> Judged:
    """Ask the product for all counts, and runs for each; not for none where the product leaves that to the host."""
    product = product_of(how, seconds)
    wrong, undecided = runs_of(how, counts, seconds)
    if isinstance(product, Shown) and product.not_empty:
        wrong = tuple(count for count in wrong if count)
    return Judged(product, wrong, undecided)


def product_of(how: Ring, seconds: float = 6.0) -> Shown | Open:
    """Ask the product for all counts."""
    return _asked(text_of(how), lambda *args: shown_for_every_count(*args, seconds=seconds))


def runs_of(how: Ring, counts: range, seconds: float = 6.0) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the counts with which runs go wrong, and those that they leave undecided."""
    wrong, undecided = [], []
    for count in (each * how.elements + rest for each in counts for rest in _rests(how.elements)):
        found = _asked(text_of(how, count), lambda *args: verify(*args, seconds=seconds).verdicts())
        kinds = {verdict.kind for verdict in found}
        if VerdictKind.VIOLATED in kinds:
            wrong.append(count)
        elif VerdictKind.UNKNOWN in kinds:
            undecided.append(count)
    return tuple(wrong), tuple(undecided)


def _rests(elements: int) -> tuple[int, ...]:
    return (0,) if elements == 1 else (0, 1)


def _asked(text: str, ask: Callable[..., _Answer]) -> _Answer:
    return ask(*launched(Source("ring.ptx", text), "ring"))


def main() -> int:
    """Run the campaign and print its figures."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.open_counts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--kernels", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="seed of the first one")
    parser.add_argument("--verbose", action="store_true", help="name the kernels that are open")
    parser.add_argument("--most", type=int, default=7, help="rounds that are run, at most")
    options = parser.parse_args()
    said: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for seed in range(options.first, options.first + options.kernels):
        how = ring(Random(seed))
        found = judge(how, range(options.most + 1))
        holds = not found.wrong
        if isinstance(found.product, Shown):
            what = "shown" if holds else "hole"
        else:
            what = ("undecided" if found.open else "open") if holds else "not shown"
            if what == "open":
                reasons[found.product.reason.partition(" (")[0]] += 1
                if options.verbose:
                    print(f"OPEN {seed}: {found.product.reason}: {how}", flush=True)
        said[what] += 1
        if what == "hole":
            print(f"HOLE {seed}: {how}: wrong with n = {found.wrong}", flush=True)
    print(", ".join(f"{said[key]} {key}" for key in sorted(said)))
    for reason, number in reasons.most_common():
        print(f"  open {number}: {reason}")
    return int(said["hole"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
