"""Synchronisation that the checker proves redundant: removed or weakened one by one, each kernel proved again."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from ..explain.violations import WholeKernel, whole_kernel
from ..protocols.model.outcome import Flaw
from ..verdict import AssumptionKind, VerdictKind
from ..view import KernelView
from .assemble import assemble
from .edits import apply_edits
from .gate import (
    Judge,
    Judgement,
    is_proved,
    is_verified,
    unproved,
)
from .patch import Patch
from .redundancy import Weakening, weakenings
from .search_effort import SearchEffort
from .weighing import Assembler


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


def optimise(
    text: str,
    judge: Judge,
    assembler: Assembler,
    *,
    seconds: float | None = None,
    brief: Judge | None = None,
) -> Optimised:
    """Remove or weaken what is redundant, in the order of the text; kernels that are not proved stay as they are.

    With `seconds`, no statement is tried when so much effort is spent (see `search_effort`), and `skipped` says so.
    `brief` judges with less effort: what it finds wrong is not looked at further.
    """
    effort = SearchEffort(math.inf if seconds is None else seconds)
    judge, brief = effort.counted(judge), brief and effort.counted(brief)
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
            if effort.is_over:
                skipped.append(f"{kernel}: the effort is spent; not every statement was tried")
                break
            start = choices[0].patch.edits[0].start + 1
            for each in choices:
                tried += 1
                changed = apply_edits(text, each.patch.edits)
                if brief is not None and _is_worse(state, brief(changed)):
                    continue
                after = judge(changed)
                if _is_as_good(state, after, kernel) and _assembles(changed, assembler):
                    line = state.views[kernel].module.source.position(start).line
                    found.append(Redundant(kernel, line, each.patch, each.assumption))
                    text, state = changed, after
                    break
    return Optimised(text, tuple(found), tuple(skipped), tried)


def _next(view: KernelView, start: int) -> list[Weakening] | None:
    """Return the changes of the first statement from a place of the text on, None behind the last one."""
    later = [each for each in weakenings(view) if each.patch.edits[0].start >= start]
    return [each for each in later if each.patch.edits[0].start == later[0].patch.edits[0].start] or None


def _why_not(state: Judgement, kernel: str) -> str:
    if not is_verified(state, kernel):
        return "nothing is proved of it, so nothing is removed"
    if not is_proved(state, kernel):
        return f"{unproved(state, kernel)} of its properties are not proved, so nothing is removed"
    if any(finding.kernel == kernel for finding in state.findings):
        return "it has findings; repair them first"
    return ""


def _is_worse(before: Judgement, after: Judgement) -> bool:
    """Tell whether something is wrong that was right, however little time there was to look at it."""
    old, new = before.counts(), after.counts()
    broken = (name for name, kind in after.verdicts.items() if kind is VerdictKind.VIOLATED)
    return any(count > old[key] for key, count in new.items()) or any(
        before.verdicts.get(name) is not VerdictKind.VIOLATED for name in broken
    )


def _is_as_good(before: Judgement, after: Judgement, kernel: str) -> bool:
    """Tell whether every verdict is the same, and rests on no more; no rule fires more often, pedantic ones neither."""
    old, new = before.counts(), after.counts()
    if after.problems or any(count > old[key] for key, count in new.items()):
        return False
    if dict(before.verdicts) != dict(after.verdicts):
        return False
    first, second = (state.views[kernel].get(whole_kernel) for state in (before, after))
    if first is None or second is None or first.equations != second.equations:
        return False
    if not set(first.result.trips) <= set(second.result.trips):
        return False
    return _rests_on(second) <= _rests_on(first) and not _forbidden(second) - _forbidden(first)


def _rests_on(whole: WholeKernel) -> set[AssumptionKind | str]:
    """Return what verdicts assume, or take for granted."""
    result = whole.result
    tolerated = (each for kinds in result.tolerated.values() for each in kinds)
    provisos = (each.text for found in result.provisos.values() for each in found)
    return {*(kind for kind, *_ in result.assumptions), *provisos, *tolerated}


def _forbidden(whole: WholeKernel) -> Counter[Flaw]:
    """Return how often there is what the PTX ISA forbids, and no verdict counts as released libraries rely on it."""
    return Counter(each.problem.flaw for each in whole.strict)


def _assembles(text: str, assembler: Assembler) -> bool:
    return assembler.ptxas is None or not assemble(text, assembler.target, assembler.ptxas).error
