"""Finding a repair: the smallest patch that passes, for one finding after the other."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from ..explain.violations import whole_kernel
from ..finding import Finding
from ..view import KernelView
from .assemble import Resources, assemble
from .edits import OverlapError, apply_edits
from .gate import (
    Judge,
    Judgement,
    Refusal,
    is_proved,
    is_verified,
    proof,
    refusal,
    unproved,
)
from .patch import Patch
from .strategies import propose
from .subject import subject_of
from .trial import Runs, Trial, trial_of
from .work import Workload

_CANDIDATES = 60
_MORE = 640
"""Candidates at most, for as long as the processor time allows more than the first ones."""
_SECONDS = 15.0
_SLOW_SECONDS = 10.0
"""For candidates that a short verification does not decide."""
_WAITING_SECONDS = 4.0
"""After which these come before further candidates."""
_FURTHER, _FURTHER_SECONDS = 20, 4.0
"""Candidates, and time for more, behind a patch that shows another finding."""
_DEPTH = 2
_UNMASKED = 3
"""Candidates that remove the finding but show others, which are followed further."""
_NOT_PROVED = "not every property of the kernel is proved"
_NOT_ASKED = "ptxas was not asked: it is not here"
_DOES_LESS = "the kernel reads, writes, copies, multiplies or waits less often than before"
_ALL = "with the other repairs every property of the kernel holds"


class Safety(Enum):
    """How much is known of a repair."""

    VALIDATED = "validated"
    """Safe, and the hardware gave right results at every size, also under delays."""
    SAFE = "safe"
    """The checker proves the patched kernel, or what the patch changes, and ptxas takes it."""
    SUGGESTED = "suggested"
    """The finding is gone and nothing new is there; something is not proved, or ptxas was not asked."""


@dataclass(frozen=True)
class Repair:
    """One repaired finding. `text` is the whole PTX text with this and the earlier repairs."""

    finding: Finding
    patches: tuple[Patch, ...]
    safety: Safety
    evidence: tuple[str, ...]
    text: str = field(repr=False)
    tried: int = 0
    """Candidates that were judged for it."""


@dataclass(frozen=True)
class Outcome:
    """What became of all findings of a text."""

    text: str
    """The text with every repair."""
    repairs: tuple[Repair, ...]
    left: tuple[Finding, ...]
    """Findings without a repair."""


@dataclass(frozen=True)
class Assembler:
    """How ptxas is asked; None for `ptxas` leaves it out."""

    ptxas: str | None
    target: str


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
    end: float = math.inf
    """Processor time of this process after which no patch is tried any more."""

    @property
    def is_late(self) -> bool:
        """Tell whether the time for the whole search is over."""
        return time.process_time() > self.end


def repair(
    text: str,
    judge: Judge,
    assembler: Assembler,
    *,
    unsafe: bool = True,
    only: Callable[[Finding], bool] | None = None,
    quick: Judge | None = None,
    brief: Judge | None = None,
    plain: Judge | None = None,
    seconds: float = math.inf,
) -> Outcome:
    """Repair what can be repaired, composing the repairs of several findings.

    Without `unsafe` only safe repairs are kept. With `only`, findings that it refuses are left as they are. What one
    repair alone does not prove, all of them together may. `quick` is asked first what only rules decide, then `brief`,
    which verifies for a short time; with `plain`, which only reads, runs for one size are made before. No patch is
    tried any more when `seconds` of processor time are over.
    """
    judges = Judges(judge, quick, brief, plain, time.process_time() + seconds)
    found = _together(_composed(text, judges, assembler, unsafe=True, only=only), judge)
    if unsafe or all(repair.safety is Safety.SAFE for repair in found.repairs):
        return found
    return _composed(text, judges, assembler, unsafe=False, only=only)


def _together(outcome: Outcome, judge: Judge) -> Outcome:
    """Call repairs safe that ptxas takes and that, all together, leave a kernel of which every property is proved."""
    after = judge(outcome.text)

    def settled(repair: Repair) -> Repair:
        doubtful = any(patch.guess for patch in repair.patches)
        doubtful = doubtful or not {_NOT_ASKED, _DOES_LESS}.isdisjoint(repair.evidence)
        broken = any(finding.kernel == repair.finding.kernel for finding in after.findings)
        if repair.safety is not Safety.SUGGESTED or doubtful or broken:
            return repair
        if not is_proved(after, repair.finding.kernel):
            return repair
        evidence = tuple(_ALL if each == _NOT_PROVED else each for each in repair.evidence)
        return replace(repair, safety=Safety.SAFE, evidence=evidence)

    return replace(outcome, repairs=tuple(map(settled, outcome.repairs)))


def _composed(
    text: str,
    judges: Judges,
    assembler: Assembler,
    *,
    unsafe: bool,
    only: Callable[[Finding], bool] | None,
) -> Outcome:
    state = judges.full(text)
    repairs: list[Repair] = []
    given_up: set[tuple[str, str | None, str]] = set()
    while True:
        wanted = [f for f in state.findings if (only is None or only(f)) and _key(f) not in given_up]
        target = min(wanted, key=_needs_runs, default=None)
        if target is None:
            return Outcome(text, tuple(repairs), state.findings)
        found = repair_finding(text, state, target, judges, assembler, unsafe=unsafe)
        if found is None:
            given_up.add(_key(target))
            continue
        repairs.append(found)
        text = found.text
        state = judges.full(text)


def _needs_runs(finding: Finding) -> bool:
    """Tell whether only runs of the whole kernel show a finding: what single rules find is repaired first."""
    return finding.counterexample is not None


def _key(finding: Finding) -> tuple[str, str | None, str]:
    return finding.rule, finding.kernel, finding.message


@dataclass(slots=True)
class _Budget:
    """How many candidates a phase of the search may try: `least`, and up to `most` while there is time."""

    used: int = 0
    before: int = 0
    """Of which were used before this phase of the search."""
    least: int = _CANDIDATES
    most: int = _MORE
    end: float = field(default_factory=lambda: time.process_time() + _SECONDS)
    workloads: _Workloads = field(default_factory=lambda: _Workloads())

    def take(self) -> bool:
        count = self.used - self.before
        if count >= self.most or (count >= self.least and time.process_time() > self.end):
            return False
        self.used += 1
        return True

    def renew(self, least: int, seconds: float) -> None:
        """Begin another phase of the search."""
        self.before, self.least, self.end = self.used, least, time.process_time() + seconds


def repair_finding(
    text: str,
    state: Judgement,
    target: Finding,
    judges: Judges,
    assembler: Assembler,
    *,
    unsafe: bool,
) -> Repair | None:
    """Return the smallest safe repair of one finding, else the smallest one if `unsafe` allows it.

    `state` is what the checker says of the text.
    """
    budget = _Budget()
    suggested: Repair | None = None
    fewest = 0
    for patches, patched, after in _passing(text, state, state, target, judges, budget, _DEPTH):
        repaired = weigh(text, target, patches, patched, state, after, assembler, budget.workloads)
        if repaired is None:
            continue
        if repaired.safety is Safety.SAFE or _lacks_only_ptxas(repaired):
            suggested = repaired
            break
        doubts = unproved(after, target.kernel)
        if (suggested is None or doubts < fewest) and not any(patch.needs_proof for patch in patches):
            suggested, fewest = repaired, doubts
            others = target.counterexample is None and any(f.kernel == target.kernel for f in after.findings)
            if others or any(patch.guess for patch in patches):
                budget.most = _CANDIDATES  # nothing proves the kernel while other faults are left
    if suggested is None or (suggested.safety is Safety.SUGGESTED and not unsafe):
        return None
    return replace(suggested, tried=budget.used)


def _lacks_only_ptxas(repair: Repair) -> bool:
    """Tell whether a repair would be safe if ptxas had been asked and had taken it."""
    doubtful = any(patch.guess for patch in repair.patches)
    doubtful = doubtful or not {_NOT_PROVED, _DOES_LESS}.isdisjoint(repair.evidence)
    return _NOT_ASKED in repair.evidence and not doubtful


_Passed = tuple[tuple[Patch, ...], str, Judgement]


def _passing(
    text: str,
    original: Judgement,
    state: Judgement,
    target: Finding,
    judges: Judges,
    budget: _Budget,
    depth: int,
) -> Iterator[_Passed]:
    """Yield patches after which the target is gone and nothing is worse than in `original`, smallest first.

    What a short verification does not decide comes some seconds later. A patch that removes the target and shows other
    findings is followed further, to the depth.
    """
    view = state.views.get(target.kernel or "")
    if view is None:
        return
    slow: list[tuple[Patch, str]] = []
    due = math.inf
    unmasked: list[tuple[Patch, str, Judgement]] = []
    sieve = _Sieve.of(view, target, judges.plain)
    for candidate in _sifted(_patched(text, view, state, target, judges.quick), sieve, judges, budget):
        if time.process_time() > due:
            yield from _passing_late(slow, original, state, target, judges)
            slow, due = [], math.inf
        if candidate is None:
            continue
        patch, patched = candidate
        after = (judges.brief or judges.full)(patched)
        answer = refusal(original, after, target, state, as_strong=judges.brief is None)
        if answer is Refusal.NEW_FINDING:
            unmasked.append((patch, patched, after))
        elif judges.brief is None or answer in (Refusal.STILL_THERE, Refusal.UNREADABLE):
            if answer is None:
                yield (patch,), patched, after
        elif not (answer is None and is_proved(after, target.kernel)) and _lacks_time(
            state, after, target.kernel
        ):
            if not (patch.needs_proof and budget.workloads.shrink(state, after, target.kernel)):
                due = due if slow else time.process_time() + _WAITING_SECONDS
                slow.append((patch, patched))
        elif answer is None and refusal(original, after := judges.full(patched), target, state) is None:
            yield (patch,), patched, after
    yield from _passing_late(slow, original, state, target, judges)
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

    def passes(self, patch: Patch, patched: str, workloads: _Workloads) -> bool:
        """Tell whether the finding is gone for the size of the trial, and no work is lost where only a proof helps."""
        if self.plain is None or (self.trial is None and not patch.needs_proof):
            return True
        after = self.plain(patched).views.get(self.view.function.name)
        if after is None:
            return True
        runs = Runs(after) if self.trial is None else Runs(after, self.trial.patience)
        if self.trial is not None and self.trial.still_shows(runs):
            return False
        return not (patch.needs_proof and workloads.are_less(self.view, runs))


def _sifted(
    found: Iterable[tuple[Patch, str]], sieve: _Sieve, judges: Judges, budget: _Budget
) -> Iterator[tuple[Patch, str] | None]:
    """Yield the patches that pass a sieve, for as long as there is time, and None for each that does not."""
    for patch, patched in found:
        if judges.is_late:
            return
        if not sieve.passes(patch, patched, budget.workloads):
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
) -> Iterator[_Passed]:
    """Yield what passes of the candidates that take long to verify."""
    end = min(time.process_time() + _SLOW_SECONDS, judges.end)
    for patch, patched in slow:
        if time.process_time() > end:
            return
        after = judges.full(patched)
        if refusal(original, after, target, state) is None:
            yield (patch,), patched, after


def _passing_further(
    unmasked: Sequence[tuple[Patch, str, Judgement]],
    original: Judgement,
    target: Finding,
    judges: Judges,
    budget: _Budget,
    depth: int,
) -> Iterator[_Passed]:
    """Yield what passes of patches that remove the target and show other findings, with a patch for those."""
    known = original.counts()
    followed = [each for each in unmasked if not _faults_itself(*each, known)]
    followed.sort(key=lambda each: len(each[2].findings))
    for patch, patched, after in followed[: 0 if judges.is_late else _UNMASKED]:
        budget.renew(_FURTHER, _FURTHER_SECONDS)
        (new, *_) = _new(after, known)
        for more, final, judged in _passing(patched, original, after, new, judges, budget, depth):
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


def _candidates(view: KernelView, target: Finding, findings: tuple[Finding, ...]) -> tuple[Patch, ...]:
    """Return the patches for a finding; where a run shows it, with those for what else runs of the kernel show.

    One fault shows in several ways, and the strategy that knows it may be one for another of them.
    """
    chosen = [target]
    if target.counterexample is not None:
        others = (f for f in findings if f.kernel == target.kernel and f.counterexample is not None)
        chosen += [f for f in others if f != target]
    return propose(*(subject_of(view, each) for each in chosen))


def weigh(
    text: str,
    target: Finding,
    patches: tuple[Patch, ...],
    patched: str,
    before: Judgement,
    after: Judgement,
    assembler: Assembler,
    workloads: _Workloads | None = None,
) -> Repair | None:
    """Return a repair that passed the static gate, with its evidence; None when ptxas refuses the patched text.

    `before` is what the checker says of `text`, `after` of `patched`.
    """
    evidence = ["the finding is gone, nothing new is found"]
    proved = proof(before, after, target.kernel, local=all(patch.local for patch in patches))
    evidence.append(_NOT_PROVED if proved is None else proved.value)
    guess = any(patch.guess for patch in patches)
    if guess:
        evidence.append("nothing tells that this is what was meant")
    less = (workloads or _Workloads()).shrink(before, after, target.kernel)
    if less:
        evidence.append(_DOES_LESS)
    if assembler.ptxas is None:
        evidence.append(_NOT_ASKED)
        return Repair(target, patches, Safety.SUGGESTED, tuple(evidence), patched)
    target_now = _architecture(after, assembler)
    new = assemble(patched, target_now, assembler.ptxas)
    if new.error:
        return None
    old = assemble(text, assembler.target, assembler.ptxas)
    evidence.append(f"ptxas takes it for {target_now}{_change(old.resources, new.resources, target.kernel)}")
    safety = Safety.SUGGESTED if proved is None or guess or less else Safety.SAFE
    return Repair(target, patches, safety, tuple(evidence), patched)


@dataclass(slots=True)
class _Workloads:
    """What kernels do before they are patched, each found out once."""

    known: dict[int, Workload] = field(default_factory=dict)
    """By the identity of the view, which the workload keeps."""

    def shrink(self, before: Judgement, after: Judgement, kernel: str | None) -> bool:
        """Tell whether a kernel that verification is about does less than before."""
        old, new = before.views.get(kernel or ""), after.views.get(kernel or "")
        if old is None or new is None or not (is_verified(before, kernel) and is_verified(after, kernel)):
            return False
        return self.are_less(old, Runs(new))

    def are_less(self, old: KernelView, new: Runs) -> bool:
        """Tell whether runs of a patched kernel do less than the kernel of a view."""
        return self.known.setdefault(id(old), Workload.of(old)).is_lost(new)


def _architecture(after: Judgement, assembler: Assembler) -> str:
    """Return the target of the patched text: a patch may change it."""
    view = next(iter(after.views.values()), None)
    return assembler.target if view is None or not view.module.targets else view.module.targets[0]


def _change(old: dict[str, Resources], new: dict[str, Resources], kernel: str | None) -> str:
    after = new.get(kernel or "")
    if after is None:
        return ""
    before = old.get(kernel or "", after)
    parts = [
        f"{name} {a}" + (f" (was {b})" if a != b else "")
        for name, a, b in (
            ("registers", after.registers, before.registers),
            ("spilled bytes", after.spill_bytes, before.spill_bytes),
            ("bytes of shared memory", after.shared_bytes, before.shared_bytes),
        )
    ]
    return ": " + ", ".join(parts)
