"""Synchronisation that the checker proves redundant: removed or weakened one by one, each kernel proved again."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

from ..ir import Immediate
from ..op import Op
from ..spec import Trait
from ..view import KernelView
from .assemble import assemble
from .edits import apply_edits
from .gate import Judge, Judgement, is_proved, is_verified, unproved
from .patch import Patch, Writer, combined
from .search import Assembler
from .sites import sites_of

_REMOVED = frozenset(
    {
        Op.BAR_SYNC, Op.BAR_WARP_SYNC, Op.CP_ASYNC_WAIT_ALL, Op.FENCE_PROXY,
        Op.CP_ASYNC_WAIT_GROUP, Op.CP_ASYNC_BULK_WAIT_GROUP,
    }
)  # fmt: skip
"""Fences and waits of `wgmma` stay: they guard its registers as well, and no property is about those."""
_WEAKENED = frozenset({Op.CP_ASYNC_WAIT_GROUP, Op.CP_ASYNC_BULK_WAIT_GROUP})
_MOST_OPEN = 4

GLOBAL_MEMORY = (
    "no thread reads in global memory what another one of the same launch writes there: that is not checked"
)


@dataclass(frozen=True, slots=True)
class Redundant:
    """One statement without which every verdict is the same."""

    kernel: str
    line: int
    """In the text as it was when the statement was found."""
    patch: Patch
    assumption: str
    """What has to be true besides, "" for nothing."""


@dataclass(frozen=True, slots=True)
class Optimised:
    """The text without the redundant synchronisation, and why kernels were left out."""

    text: str
    redundant: tuple[Redundant, ...]
    skipped: tuple[str, ...]
    tried: int


def optimise(text: str, judge: Judge, assembler: Assembler, *, seconds: float | None = None) -> Optimised:
    """Remove or weaken what is redundant, in the order of the text; kernels that are not proved stay as they are.

    With `seconds`, no statement is tried after so long, and `skipped` says so.
    """
    end = math.inf if seconds is None else time.monotonic() + seconds
    state = judge(text)
    found: list[Redundant] = []
    skipped: list[str] = []
    tried = 0
    for kernel in sorted(state.views):
        why = _why_not(state, kernel)
        if why:
            skipped.append(f"{kernel}: {why}")
            continue
        start = 0
        while (choices := _next(state.views[kernel], start)) is not None:
            if time.monotonic() > end:
                skipped.append(f"{kernel}: out of time; not every statement was tried")
                break
            start = choices[0].edits[0].start + 1
            for patch in choices:
                tried += 1
                changed = apply_edits(text, patch.edits)
                after = judge(changed)
                if _is_as_good(state, after, kernel) and _assembles(changed, assembler):
                    line = state.views[kernel].module.source.position(start).line
                    found.append(Redundant(kernel, line, patch, _assumption(state.views[kernel])))
                    text, state = changed, after
                    break
    return Optimised(text, tuple(found), tuple(skipped), tried)


def _next(view: KernelView, start: int) -> list[Patch] | None:
    """Return the changes of the first statement from a place of the text on, None behind the last one."""
    patches = [patch for patch in weaker(view) if patch.edits[0].start >= start]
    return [p for p in patches if p.edits[0].start == patches[0].edits[0].start] if patches else None


def weaker(view: KernelView) -> Iterator[Patch]:
    """Yield removals and weakenings of the synchronising statements of a kernel, in its order; a removal first."""
    writer = Writer(view)
    hands_over = any(instruction.operation.op is Op.BAR_ARRIVE for instruction in view.body.instructions)
    for point in sites_of(view):
        instruction = view.body.instructions[point]
        op = instruction.operation.op
        if op is Op.BAR_SYNC and hands_over and instruction.get("threads") is not None:
            continue  # an arrival would be left that nobody waits for
        if op is Op.FENCE_PROXY and not _orders_data_only(view, point):
            continue
        if op in _REMOVED and not any(True for _ in instruction.writes()):
            text = writer.statement(point)
            yield combined("optimise", f"leave out '{text}'", 0, [writer.delete(point)])
        number = instruction.get("n")
        if op in _WEAKENED and isinstance(number, Immediate):
            for open_ in range(_MOST_OPEN, number.value, -1):
                edit = writer.with_operand(point, "n", Immediate(open_))
                yield combined("optimise", f"leave {open_} groups open instead of {number.value}", 0, [edit])


def _orders_data_only(view: KernelView, point: int) -> bool:
    """Tell whether a fence is one of the async proxy, and not the one that shows it initialised mbarriers.

    That mbarriers have to be visible to the async proxy is not part of what is proved.
    """
    instructions = view.body.instructions
    earlier = [p for p in sites_of(view) if p < point]
    init = bool(earlier) and instructions[earlier[-1]].operation.op in (
        Op.MBARRIER_INIT,
        Op.FENCE_MBARRIER_INIT,
    )
    return instructions[point].operation.slots.get("kind") == ".async" and not init


def _why_not(state: Judgement, kernel: str) -> str:
    if not is_verified(state, kernel):
        return "nothing is proved of it, so nothing is removed"
    if not is_proved(state, kernel):
        return f"{unproved(state, kernel)} of its properties are not proved, so nothing is removed"
    if any(finding.kernel == kernel for finding in state.findings):
        return "it has findings; repair them first"
    return ""


def _is_as_good(before: Judgement, after: Judgement, kernel: str) -> bool:
    """Tell whether every verdict is the same, under the same facts about the host, and no rule fires more often."""
    old, new = before.counts(), after.counts()
    if after.problems or any(count > old[key] for key, count in new.items()):
        return False
    if dict(before.verdicts) != dict(after.verdicts):
        return False
    first, second = (state.views[kernel].whole_kernel for state in (before, after))
    return first is not None and second is not None and first.equations == second.equations


def _assembles(text: str, assembler: Assembler) -> bool:
    return assembler.ptxas is None or not assemble(text, assembler.target, assembler.ptxas).error


def _assumption(view: KernelView) -> str:
    """Return what ordinary global memory may hide: barriers order it too, and verification does not look at it."""
    traits = [instruction.operation.traits for instruction in view.body.instructions]
    writes = any(Trait.STORE in each or Trait.ATOMIC in each or Trait.ASYNC in each for each in traits)
    return GLOBAL_MEMORY if writes else ""
