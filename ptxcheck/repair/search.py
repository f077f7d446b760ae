"""Finding a repair: the smallest patch that passes, for one finding after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum

from ..finding import Finding
from ..view import KernelView
from .assemble import Resources, assemble
from .edits import OverlapError, apply_edits
from .gate import Judge, Judgement, Refusal, is_proved, proof, refusal, unproved
from .patch import Patch
from .strategies import propose
from .subject import subject_of

_CANDIDATES = 80
_MORE = 320
"""Candidates at most, for as long as the processor time allows more than the first ones."""
_SECONDS = 30.0
_DEPTH = 2
_UNMASKED = 3
"""Candidates that remove the finding but show others, which are followed further."""
_NOT_PROVED = "not every property of the kernel is proved"
_NOT_ASKED = "ptxas was not asked: it is not here"
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


def repair(
    text: str,
    judge: Judge,
    assembler: Assembler,
    *,
    unsafe: bool = True,
    only: Callable[[Finding], bool] | None = None,
    quick: Judge | None = None,
) -> Outcome:
    """Repair what can be repaired, composing the repairs of several findings.

    Without `unsafe` only safe repairs are kept. With `only`, findings that it refuses are left as they are. What one
    repair alone does not prove, all of them together may. `quick` is asked first what only rules decide.
    """
    found = _together(_composed(text, judge, assembler, unsafe=True, only=only, quick=quick), judge)
    if unsafe or all(repair.safety is Safety.SAFE for repair in found.repairs):
        return found
    return _composed(text, judge, assembler, unsafe=False, only=only, quick=quick)


def _together(outcome: Outcome, judge: Judge) -> Outcome:
    """Call repairs safe that ptxas takes and that, all together, leave a kernel of which every property is proved."""
    after = judge(outcome.text)

    def settled(repair: Repair) -> Repair:
        doubtful = any(patch.guess for patch in repair.patches) or _NOT_ASKED in repair.evidence
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
    judge: Judge,
    assembler: Assembler,
    *,
    unsafe: bool,
    only: Callable[[Finding], bool] | None,
    quick: Judge | None,
) -> Outcome:
    state = judge(text)
    repairs: list[Repair] = []
    given_up: set[tuple[str, str | None, str]] = set()
    while True:
        wanted = [f for f in state.findings if (only is None or only(f)) and _key(f) not in given_up]
        target = min(wanted, key=_needs_runs, default=None)
        if target is None:
            return Outcome(text, tuple(repairs), state.findings)
        found = repair_finding(text, state, target, judge, assembler, unsafe=unsafe, quick=quick)
        if found is None:
            given_up.add(_key(target))
            continue
        repairs.append(found)
        text = found.text
        state = judge(text)


def _needs_runs(finding: Finding) -> bool:
    """Tell whether only runs of the whole kernel show a finding: what single rules find is repaired first."""
    return finding.counterexample is not None


def _key(finding: Finding) -> tuple[str, str | None, str]:
    return finding.rule, finding.kernel, finding.message


@dataclass(slots=True)
class _Budget:
    used: int = 0
    before: int = 0
    """Of which were used before this phase of the search."""
    most: int = _MORE
    end: float = field(default_factory=lambda: time.process_time() + _SECONDS)

    def take(self) -> bool:
        count = self.used - self.before
        if count >= self.most or (count >= _CANDIDATES and time.process_time() > self.end):
            return False
        self.used += 1
        return True

    def renew(self) -> None:
        """Begin another phase of the search."""
        self.before, self.end = self.used, time.process_time() + _SECONDS


def repair_finding(
    text: str,
    state: Judgement,
    target: Finding,
    judge: Judge,
    assembler: Assembler,
    *,
    unsafe: bool,
    quick: Judge | None = None,
) -> Repair | None:
    """Return the smallest safe repair of one finding, else the smallest one if `unsafe` allows it.

    `state` is what the checker says of the text; `quick`, without whole-kernel verification, is asked first.
    """
    budget = _Budget()
    suggested: Repair | None = None
    fewest = 0
    for patches, patched, after in _passing(text, state, state, target, judge, budget, _DEPTH, quick):
        repaired = weigh(text, target, patches, patched, state, after, assembler)
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
    doubtful = any(patch.guess for patch in repair.patches) or _NOT_PROVED in repair.evidence
    return _NOT_ASKED in repair.evidence and not doubtful


def _passing(
    text: str,
    original: Judgement,
    state: Judgement,
    target: Finding,
    judge: Judge,
    budget: _Budget,
    depth: int,
    quick: Judge | None,
) -> Iterator[tuple[tuple[Patch, ...], str, Judgement]]:
    """Yield patches after which the target is gone and nothing is worse than in `original`, smallest first.

    A patch that removes the target and shows other findings is followed further, to the depth.
    """
    view = state.views.get(target.kernel or "")
    if view is None:
        return
    unmasked: list[tuple[Patch, str, Judgement]] = []
    for patch in _candidates(view, target, state.findings):
        try:
            patched = apply_edits(text, patch.edits)
        except OverlapError:
            continue
        if quick is not None and _is_plainly_there(target, quick(text), quick(patched)):
            continue
        if not budget.take():
            break
        after = judge(patched)
        answer = refusal(original, after, target, state)
        if answer is None:
            yield (patch,), patched, after
        elif answer is Refusal.NEW_FINDING and len(unmasked) < _UNMASKED:
            unmasked.append((patch, patched, after))
    if depth <= 1:
        return
    budget.renew()
    for patch, patched, after in unmasked:
        known = original.counts()
        new = [f for f in after.findings if after.counts()[f.rule, f.kernel] > known[f.rule, f.kernel]]
        for more, final, judged in _passing(
            patched, original, after, new[0], judge, budget, depth - 1, quick
        ):
            if refusal(original, judged, target) is None:
                yield (patch, *more), final, judged


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
    if assembler.ptxas is None:
        evidence.append(_NOT_ASKED)
        return Repair(target, patches, Safety.SUGGESTED, tuple(evidence), patched)
    target_now = _architecture(after, assembler)
    new = assemble(patched, target_now, assembler.ptxas)
    if new.error:
        return None
    old = assemble(text, assembler.target, assembler.ptxas)
    evidence.append(f"ptxas takes it for {target_now}{_change(old.resources, new.resources, target.kernel)}")
    safety = Safety.SUGGESTED if proved is None or guess else Safety.SAFE
    return Repair(target, patches, safety, tuple(evidence), patched)


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
