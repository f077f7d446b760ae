"""Whether instructions of whole warps and warpgroups are executed by them (`.aligned`; PTX ISA §9.7.16.1, 9.7.17.5).

Property: `proved` means that whenever one thread comes to such an instruction, all threads of its warp do in the same
round of the loops around it (see `ptxcheck.cfg.execution`), for `wgmma` all threads of its warpgroup of four warps.
`violated` rests on `part_of_warp` and `part_of_warpgroup`.

Asked of all instructions with `.aligned` except barriers, which verification of whole kernels counts threads for. Of
`setmaxnreg` whole warps are asked: the warps of a warpgroup come to it at different places in released kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...cfg import ApproximationKind, Uniformity
from ...opcodes.spec import Trait
from ...verdict import (
    AssumptionSource,
    Need,
    Property,
    Reason,
    Verdict,
    VerdictKind,
)
from .divergence import controlling, part_of_warp
from .judgement import Judgement, assumes, verdict_of
from .largest_block import Launched
from .tensor_memory import TENSOR_MEMORY
from .warpgroup import WARPGROUP, is_whole, part_of_warpgroup
from .wgmma import WGMMA

if TYPE_CHECKING:
    from ...view import KernelView

_BARS = {
    ApproximationKind.CALLERS: "what calls this function is not known",
    ApproximationKind.OPAQUE: "what this instruction does is not known",
    ApproximationKind.UNKNOWN_JUMP: "where this jump goes is not known",
    ApproximationKind.IRREDUCIBLE: "this cycle has several entries and is not followed",
}
"""What makes the question of who executes a point unanswerable."""


def collective_verdict(launched: Launched) -> Verdict | None:
    """Return the verdict on instructions of whole warps and warpgroups; None for a kernel without tensor cores' own."""
    view = launched.view
    if not any(i.operation.op in WGMMA | TENSOR_MEMORY for i in view.body.instructions):
        return None
    return verdict_of(Property.COLLECTIVE_EXECUTION, _judgements(launched))


def _judgements(launched: Launched) -> Iterator[Judgement]:
    view = launched.view
    for approximation in view.facts.approximations:
        text = _BARS.get(approximation.kind)
        if text is not None:
            point = -1 if approximation.point is None else approximation.point
            yield VerdictKind.UNKNOWN, Reason(text, point)
    for point, instruction in enumerate(view.body.instructions):
        traits = instruction.operation.traits
        if Trait.ALIGNED in traits and Trait.BARRIER not in traits and not view.facts.never_runs(point):
            yield from _judge(launched, point)


def _judge(launched: Launched, point: int) -> Iterator[Judgement]:
    needs_warpgroup = launched.view.body.instructions[point].operation.op in WGMMA
    for view, taken in launched.each():
        level = view.facts.execution(point).uniformity
        if level <= (Uniformity.WARPGROUP if needs_warpgroup else Uniformity.WARP):
            if needs_warpgroup and not _is_of_whole_warpgroups(view, point):
                continue
            if taken is not None and (needs_warpgroup or level > Uniformity.CTA):
                yield VerdictKind.ASSUMES, taken
            return
    view = launched.last
    part = part_of_warp(launched.view, point)
    if part is not None and part.sure:
        text = f"this instruction of the whole warp is executed by {part} only"
        yield VerdictKind.VIOLATED, Reason(text, point)
    elif needs_warpgroup and (threads := part_of_warpgroup(launched.view, point)) is not None:
        text = f"this instruction of the whole warpgroup is executed by {threads} only"
        yield VerdictKind.VIOLATED, Reason(text, point)
    elif level > Uniformity.WARP:
        yield (
            VerdictKind.UNKNOWN,
            Reason(f"whether a whole warp comes here is not known{_of_block(view)}", point, _need(view)),
        )
    elif not _is_of_whole_warpgroups(view, point):
        text = f"whether whole warpgroups come here is not known{_of_block(view)}"
        yield VerdictKind.UNKNOWN, Reason(text, point, _need(view))
    else:
        yield from _agreements(view, point)


def _agreements(view: KernelView, point: int) -> Iterator[Judgement]:
    """Yield the branches at which the warps of a warpgroup have to agree on what each of them found by itself."""
    levels = {last: level for last, level in _decisions(view, point) if level > Uniformity.WARPGROUP}
    unlike = [last for last, level in levels.items() if level is not Uniformity.WARP]
    if unlike or not levels:
        text = "whether the warps of a warpgroup come here together is not known"
        yield VerdictKind.UNKNOWN, Reason(text, min(unlike, default=point))
        return
    for last in levels:
        text = (
            "the four warps of a warpgroup are taken to go the same way here, by what each of them has found"
        )
        yield assumes(text, last, AssumptionSource.ENVIRONMENT)


def _decisions(view: KernelView, point: int) -> Iterator[tuple[int, Uniformity]]:
    """Yield the branches and guards that decide whether a point is executed, with how far threads agree on them."""
    blocks = dict.fromkeys(block for block, _ in controlling(view.cfg, view.cfg.graph.block_of[point]))
    for last in (*(view.cfg.blocks[block].last for block in blocks), point):
        guard = view.body.instructions[last].guard
        if guard is not None:
            yield last, view.facts.uniform(last, guard.register)
        elif last != point:
            yield last, Uniformity.DIVERGENT


def _is_of_whole_warpgroups(view: KernelView, point: int) -> bool:
    """Tell whether the threads that may come to a point are those of whole warpgroups."""
    count, threads = view.launch.threads, view.facts.execution(point).threads
    if count is None:
        return False
    return count % WARPGROUP == 0 if threads is None else is_whole(threads)


def _of_block(view: KernelView) -> str:
    return "" if view.launch.threads is not None else ", as the block size is not"


def _need(view: KernelView) -> Need:
    return Need.BLOCK if view.launch.threads is None else Need.NOTHING


__all__ = ["collective_verdict"]
