"""The patches of a finding after which it is gone and nothing is worse, smallest first.

How many are tried is counted: so many at least, and more for as long as their effort does not exceed a limit. The
effort of a candidate is that of its verification (`terms.effort`), and something for reading its text; so the same
file gets the same repairs on every machine, unless the brake is pulled, which the outcome says.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ..explain.violations import whole_kernel
from ..finding import Finding
from ..view import KernelView
from .edits import OverlapError, apply_edits
from .gate import Judge, Judgement, Refusal, is_proved, refusal
from .patch import Patch
from .strategies import propose
from .subject import subject_of
from .trial import Runs, Trial, trial_of
from .watch import Brake, Watch
from .weighing import Workloads

CANDIDATES = 60
_MORE = 640
"""Candidates at most, for as long as the processor time allows more than the first ones."""
EFFORT = 15.0
"""Effort for more candidates than the least number, in seconds of verification."""
_MOST_EFFORT = 3
"""Times that effort after which not even the least number is tried."""
_SLOW = 2 / 3
"""Of that effort, for candidates that a short verification does not decide."""
_WAITING = 4 / 15
"""Of that effort, after which these come before further candidates."""
_FURTHER, _FURTHER_EFFORT = 20, 4 / 15
"""Candidates, and the share of effort for more, behind a patch that shows another finding."""
_READING = 2e-6
"""Effort for a character of a patched text: it is parsed, and rules are run on it."""
_UNMASKED = 3
"""Candidates that remove the finding but show others, which are followed further."""

Passed = tuple[tuple[Patch, ...], str, Judgement]
"""Patches, the text with them, and what the checker says of it."""


@dataclass(frozen=True)
class Judges:
    """Judges of patches, from one that takes its time to those that are asked first."""

    full: Judge
    quick: Judge | None = None
    """What only rules say."""
    brief: Judge | None = None
    """With a short time for verification: most patches are wrong, and that shows at once."""
    plain: Judge | None = None
    """What is read of a text, without rules and verification."""
    brake: Brake = field(default_factory=Brake)
    watch: Watch = field(default_factory=Watch)
    effort: float = EFFORT
    """For one finding."""


@dataclass(slots=True)
class Budget:
    """How many candidates a phase of the search may try: `least`, and up to `most` while effort is left."""

    effort: float = EFFORT
    """In the whole, for more than the least number."""
    used: int = 0
    before: int = 0
    """Of which were used before this phase of the search."""
    least: int = CANDIDATES
    most: int = _MORE
    spent: float = 0.0
    limit: float = 0.0
    """What may be spent in this phase."""
    workloads: Workloads = field(default_factory=Workloads)

    def __post_init__(self) -> None:
        self.limit = self.effort

    def take(self) -> bool:
        """Count a candidate, and tell whether it may be tried."""
        count = self.used - self.before
        if count >= self.most or self.is_over(least=count < self.least):
            return False
        self.used += 1
        return True

    def is_over(self, *, least: bool) -> bool:
        """Tell whether the effort is spent: of the least number of candidates it may take some more."""
        return self.spent > self.limit + (_MOST_EFFORT - 1) * self.effort * least

    def charge(self, text: str, seconds: float) -> None:
        """Count the effort of a candidate."""
        self.spent += _READING * len(text) + seconds

    def renew(self, least: int, share: float) -> None:
        """Begin another phase of the search."""
        self.before, self.least, self.limit = self.used, least, self.spent + share * self.effort


def _effort_of(after: Judgement, kernel: str | None) -> float:
    """Return the effort for the verification of a kernel."""
    view = after.views.get(kernel or "")
    whole = view.get(whole_kernel) if view is not None and view.has(whole_kernel) else None
    return 0.0 if whole is None else whole.result.seconds


def passing(
    text: str,
    original: Judgement,
    state: Judgement,
    target: Finding,
    judges: Judges,
    budget: Budget,
    depth: int,
) -> Iterator[Passed]:
    """Yield patches after which the target is gone and nothing is worse than in `original`, smallest first.

    What a short verification does not decide comes some seconds later, and at once where it is the first of all. A
    patch that removes the target and shows other findings is followed further, to the depth.
    """
    view = state.views.get(target.kernel or "")
    if view is None:
        return
    slow: list[tuple[Patch, str]] = []
    due = math.inf
    unmasked: list[tuple[Patch, str, Judgement]] = []
    sieve = _Sieve.of(view, target, judges.plain)
    for candidate in _sifted(_patched(text, view, state, target, judges.quick), sieve, judges, budget):
        if candidate is not None:
            patch, patched = candidate
            judges.watch.tries(budget.used, patch.summary)
            brief = None if patch.is_whole else judges.brief
            after = (brief or judges.full)(patched)
            budget.charge(patched, _effort_of(after, target.kernel))
            answer = refusal(original, after, target, state, as_strong=brief is None)
            if answer is Refusal.NEW_FINDING:
                unmasked.append((patch, patched, after))
            elif brief is None or answer in (Refusal.STILL_THERE, Refusal.UNREADABLE):
                if answer is None:
                    yield (patch,), patched, after
            elif not (answer is None and is_proved(after, target.kernel)) and _lacks_time(
                state, after, target.kernel
            ):
                if not (patch.needs_proof and budget.workloads.shrink(state, after, target.kernel)):
                    patience = _WAITING * budget.effort if budget.used > 1 else 0.0
                    due = due if slow else budget.spent + patience
                    slow.append((patch, patched))
            elif answer is None and refusal(original, after := judges.full(patched), target, state) is None:
                yield (patch,), patched, after
        if budget.spent >= due:  # before further candidates are asked for, which may take longer
            yield from _passing_late(slow, original, state, target, judges, budget)
            slow, due = [], math.inf
    yield from _passing_late(slow, original, state, target, judges, budget)
    if depth > 1:
        yield from _passing_further(unmasked, original, target, judges, budget, depth - 1)


@dataclass(frozen=True, slots=True)
class _Sieve:
    """What runs for one size show of a patch before it is judged."""

    view: KernelView
    trial: Trial | None
    plain: Judge | None

    @staticmethod
    def of(view: KernelView, target: Finding, plain: Judge | None) -> _Sieve:
        """Return the sieve for a finding; one that lets everything pass where no run shows it."""
        point, whole = subject_of(view, target).point, view.get(whole_kernel)
        asked = whole is not None and plain is not None and target.counterexample is not None
        shown = (*whole.violations, *whole.strict) if whole is not None and asked else ()
        flaw = next((v.problem.flaw for v in shown if v.problem.point == point), None)
        return _Sieve(view, None if flaw is None else trial_of(Runs(view), flaw), plain)

    def passes(self, patch: Patch, patched: str, budget: Budget) -> bool:
        """Tell whether the finding is gone for the size of the trial, and no work is lost where only a proof helps."""
        if self.plain is None or patch.is_whole or (self.trial is None and not patch.needs_proof):
            return True
        after = self.plain(patched).views.get(self.view.function.name)
        if after is None:
            return True
        runs = Runs(after) if self.trial is None else Runs(after, self.trial.patience)
        shows = self.trial is not None and self.trial.still_shows(runs)
        passed = not shows and not (patch.needs_proof and budget.workloads.are_less(self.view, runs))
        budget.charge(patched, runs.effort)
        return passed


def _sifted(
    found: Iterable[tuple[Patch, str]], sieve: _Sieve, judges: Judges, budget: Budget
) -> Iterator[tuple[Patch, str] | None]:
    """Yield the patches that pass a sieve, for as long as there is time, and None for each that does not."""
    for patch, patched in found:
        if judges.brake.is_pulled() or budget.is_over(least=True):
            return
        if not sieve.passes(patch, patched, budget):
            yield None
        elif budget.take():
            yield patch, patched
        else:
            return


def _patched(
    text: str, view: KernelView, state: Judgement, target: Finding, quick: Judge | None
) -> Iterator[tuple[Patch, str]]:
    """Yield the candidates for a finding with the patched texts, without those that rules alone refuse."""
    by_rules = quick if target.counterexample is None else None
    for patch in _candidates(view, target, state.findings):
        try:
            patched = apply_edits(text, patch.edits)
        except OverlapError:
            continue
        if by_rules is None or not _is_plainly_there(target, by_rules(text), by_rules(patched)):
            yield patch, patched


def _passing_late(
    slow: Sequence[tuple[Patch, str]],
    original: Judgement,
    state: Judgement,
    target: Finding,
    judges: Judges,
    budget: Budget,
) -> Iterator[Passed]:
    """Yield what passes of the candidates that take long to verify."""
    end = budget.spent + _SLOW * budget.effort
    for patch, patched in slow:
        if budget.spent > end or judges.brake.is_pulled():
            return
        judges.watch.tries(budget.used, patch.summary)
        after = judges.full(patched)
        budget.charge(patched, _effort_of(after, target.kernel))
        if refusal(original, after, target, state) is None:
            yield (patch,), patched, after


def _passing_further(
    unmasked: Sequence[tuple[Patch, str, Judgement]],
    original: Judgement,
    target: Finding,
    judges: Judges,
    budget: Budget,
    depth: int,
) -> Iterator[Passed]:
    """Yield what passes of patches that remove the target and show other findings, with a patch for those."""
    known = original.counts()
    followed = [each for each in unmasked if not _faults_itself(*each, known)]
    followed.sort(key=lambda each: len(each[2].findings))
    for patch, patched, after in followed[: 0 if judges.brake.is_pulled() else _UNMASKED]:
        budget.renew(_FURTHER, _FURTHER_EFFORT)
        (new, *_) = _new(after, known)
        for more, final, judged in passing(patched, original, after, new, judges, budget, depth):
            if refusal(original, judged, target) is None:
                yield (patch, *more), final, judged


def _new(after: Judgement, known: Counter[tuple[str, str | None]]) -> list[Finding]:
    counts = after.counts()
    return [f for f in after.findings if counts[f.rule, f.kernel] > known[f.rule, f.kernel]]


def _faults_itself(
    patch: Patch, patched: str, after: Judgement, known: Counter[tuple[str, str | None]]
) -> bool:
    """Tell whether statements that a patch puts in are what new findings are about: then it is no step to a repair."""
    inserted, shift = [], 0
    for edit in patch.edits:
        start = edit.start + shift
        if edit.start == edit.end:
            inserted.append((start, start + len(edit.replacement)))
        shift += len(edit.replacement) - (edit.end - edit.start)
    spans = [finding.location.span for finding in _new(after, known)]
    return any(
        begin < end and span.start < end and begin < span.end for span in spans for begin, end in inserted
    )


def _lacks_time(before: Judgement, after: Judgement, kernel: str | None) -> bool:
    """Tell whether a kernel was verified for as long as there was time, or half of it: then it leaves runs out.

    A kernel of which not one run ended in more time than all of them took before does not end at all.
    """
    view, old = after.views.get(kernel or ""), before.views.get(kernel or "")
    whole = None if view is None else view.get(whole_kernel)
    if view is None or view.verify_seconds is None or whole is None:
        return False
    result = whole.result
    before_it = None if old is None else old.get(whole_kernel)
    known = None if before_it is None else before_it.result
    if known is not None and known.runs and not result.runs and result.seconds > 2 * known.seconds:
        return False
    return result.seconds > view.verify_seconds / 2


def _is_plainly_there(target: Finding, before: Judgement, after: Judgement) -> bool:
    """Tell whether rules alone show that a patch does not remove a finding, or cannot be read."""
    key = (target.rule, target.kernel)
    there = before.counts()[key]
    return bool(after.problems) or (there > 0 and after.counts()[key] >= there)


def _candidates(view: KernelView, target: Finding, findings: tuple[Finding, ...]) -> Iterator[Patch]:
    """Yield the patches for a finding; where a run shows it, with those for what else runs of the kernel show.

    One fault shows in several ways, and the strategy that knows it may be one for another of them.
    """
    chosen = [target]
    if target.counterexample is not None:
        others = (f for f in findings if f.kernel == target.kernel and f.counterexample is not None)
        chosen += [f for f in others if f != target]
    return propose(*(subject_of(view, each) for each in chosen))
