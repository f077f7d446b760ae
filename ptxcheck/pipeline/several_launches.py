"""A kernel that host code launches in several ways: judged for each of them, and one result for all.

Property: the result is that of the launch with the worst verdict, and it has the findings of all launches. Known
arguments are taken for granted only where the kernel is not proved without them, and that decides more: what holds for
all arguments holds for those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias, TypeVar

from ..explain.violations import whole_kernel
from ..finding import Finding
from ..launch import Launch
from ..launches.host_launches import KernelLaunch
from ..report.verdicts import launch_line
from ..results import Note, NoteKind
from ..verdict import SEVERITY, VerdictKind
from ..view import KernelView
from .rules_on_kernels import Evaluation

_T = TypeVar("_T")
MOST_LAUNCHES = 6
"""Launches of one kernel that are judged."""

_IN_NEED = (VerdictKind.VIOLATED, VerdictKind.UNKNOWN)
"""Verdicts that known arguments may change."""

Judge: TypeAlias = Callable[[Launch, bool], tuple[KernelView, Evaluation]]
"""Evaluates a kernel for a launch, with or without the verification of the whole kernel."""


@dataclass(frozen=True)
class _Judged:
    view: KernelView
    evaluation: Evaluation

    @property
    def kind(self) -> VerdictKind | None:
        verification = self.evaluation.kernel.verification
        return None if verification is None else verification.kind

    @property
    def rank(self) -> int:
        """The worst launch has the lowest."""
        return _rank_of(self.kind)


def evaluate_launches(launches: Sequence[KernelLaunch], judge: Judge) -> tuple[KernelView, Evaluation]:
    """Return the view of the launch with the worst verdict, and the result for all launches."""
    judged = [_evaluated(each, judge) for each in launches[:MOST_LAUNCHES]]
    worst = min(judged, key=lambda each: each.rank)
    if len(launches) == 1:
        return worst.view, worst.evaluation
    evaluation = worst.evaluation
    table = evaluation.kernel.verification
    others = [each for each in judged if each is not worst]
    if table is not None:
        table = replace(table, other_launches=tuple(filter(None, map(_told, others))))
    problems = (problem for each in judged for problem in each.evaluation.problems)
    notes = [note for each in judged for note in each.evaluation.notes]
    if len(launches) > MOST_LAUNCHES:
        left = len(launches) - MOST_LAUNCHES
        message = f"host code launches this kernel in {left} more ways, which were not judged"
        notes.append(Note(NoteKind.HOST_LAUNCH, message, evaluation.kernel.position, evaluation.kernel.name))
    is_complete = len(launches) <= MOST_LAUNCHES and all(each.evaluation.kernel.complete for each in judged)
    kernel = replace(evaluation.kernel, verification=table, complete=is_complete)
    findings = tuple(_findings(worst, judged))
    return worst.view, Evaluation(
        kernel, findings, tuple(dict.fromkeys(problems)), tuple(dict.fromkeys(notes)), evaluation.flaw
    )


def worst_view(launches: Sequence[KernelLaunch], make: Callable[[Launch], KernelView]) -> KernelView:
    """Return the view of the launch with the worst verdict on the whole kernel."""
    if len(launches) == 1 and launches[0].with_constants is None:
        return make(launches[0].launch)
    views = [_view_of(each, make) for each in launches[:MOST_LAUNCHES]]
    return min(views, key=lambda view: _rank_of(_kind_of(view)))


def _view_of(launch: KernelLaunch, make: Callable[[Launch], KernelView]) -> KernelView:
    first, known = make(launch.launch), launch.with_constants
    return first if known is None else _more_decided(first, lambda: make(known), _kind_of)


def _kind_of(view: KernelView) -> VerdictKind | None:
    whole = view.get(whole_kernel)
    return None if whole is None else min((each.kind for each in whole.verdicts), key=SEVERITY.index)


def _more_decided(first: _T, known: Callable[[], _T], kind_of: Callable[[_T], VerdictKind | None]) -> _T:
    """Return what is known with the arguments that host code passes, where that decides more than without them.

    What goes wrong without them, too, is told without them.
    """
    if kind_of(first) not in _IN_NEED:
        return first
    other = known()
    return first if kind_of(other) in (VerdictKind.UNKNOWN, kind_of(first)) else other


def _rank_of(kind: VerdictKind | None) -> int:
    """Return a number that is least for the worst verdict."""
    return len(SEVERITY) if kind is None else SEVERITY.index(kind)


def _evaluated(launch: KernelLaunch, judge: Judge) -> _Judged:
    """Evaluate a kernel for one launch, with its known arguments where they may matter."""
    first, constants = _Judged(*judge(launch.launch, True)), launch.with_constants
    if constants is None:
        return first
    if first.kind in _IN_NEED:
        return _more_decided(first, lambda: _Judged(*judge(constants, True)), lambda each: each.kind)
    known = _Judged(*judge(constants, False))
    places = set(map(_place, first.evaluation.findings))
    further = [each for each in known.evaluation.findings if _place(each) not in places]
    findings = (*first.evaluation.findings, *further)
    return replace(first, evaluation=replace(first.evaluation, findings=findings))


def _place(finding: Finding) -> tuple[object, ...]:
    return finding.rule, finding.location.span


def _findings(worst: _Judged, judged: Sequence[_Judged]) -> Iterator[Finding]:
    """Yield the findings of all launches, each place once; one that not all of them have names its launch."""
    places = [set(map(_place, each.evaluation.findings)) for each in judged]
    seen: set[object] = set()
    for each in sorted(judged, key=lambda one: one is not worst):
        for finding in each.evaluation.findings:
            place = _place(finding)
            if place in seen:
                continue
            seen.add(place)
            is_everywhere = all(place in found for found in places)
            yield finding if is_everywhere else replace(finding, message=finding.message + _when(each))


def _when(judged: _Judged) -> str:
    launch = judged.view.launch
    if launch.block is None or not launch.block_from:
        return ""
    return f"; launched with {prod(launch.block)} threads by {launch.block_from}"


def _told(judged: _Judged) -> str:
    """Return the verdict for a further launch."""
    table = judged.evaluation.kernel.verification
    return "" if table is None else f"{table.kind.value} for {launch_line(table)}"
