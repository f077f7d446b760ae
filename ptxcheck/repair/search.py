"""Finding a repair: the smallest patch that passes, for one finding after the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from ..finding import Finding
from .gate import Judge, Judgement, is_proved, unproved
from .passing_patches import CANDIDATES, EFFORT, Budget, Judges, passing
from .watch import Brake, Watch
from .weighing import DOES_LESS, NOT_ASKED, NOT_PROVED, Assembler, Outcome, Repair, Safety, weigh

_DEPTH = 2
_ALL = "with the other repairs every property of the kernel holds"


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
    watch: Watch | None = None,
    effort: float = EFFORT,
) -> Outcome:
    """Repair what can be repaired, composing the repairs of several findings.

    Without `unsafe` only safe repairs are kept. With `only`, findings that it refuses are left as they are. What one
    repair alone does not prove, all of them together may. `quick` is asked first what only rules decide, then `brief`,
    which verifies for a short time; with `plain`, which only reads, runs for one size are made before. `effort` is for
    one finding. No patch is tried any more when `seconds` of processor time are over; the outcome says so.
    """
    judges = Judges(judge, quick, brief, plain, Brake(seconds), watch or Watch(), effort)
    found = _together(_composed(text, judges, assembler, unsafe=True, only=only), judge)
    if unsafe or all(repair.safety is Safety.SAFE for repair in found.repairs):
        return found
    return _composed(text, judges, assembler, unsafe=False, only=only)


def _together(outcome: Outcome, judge: Judge) -> Outcome:
    """Call repairs safe that ptxas takes and that, all together, leave a kernel of which every property is proved."""
    after = judge(outcome.text)

    def settled(repair: Repair) -> Repair:
        doubtful = any(patch.guess for patch in repair.patches)
        doubtful = doubtful or not {NOT_ASKED, DOES_LESS}.isdisjoint(repair.evidence)
        broken = any(finding.kernel == repair.finding.kernel for finding in after.findings)
        if repair.safety is not Safety.SUGGESTED or doubtful or broken:
            return repair
        if not is_proved(after, repair.finding.kernel):
            return repair
        evidence = tuple(_ALL if each == NOT_PROVED else each for each in repair.evidence)
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
            return Outcome(text, tuple(repairs), state.findings, judges.brake.was_pulled)
        judges.watch.begins(target)
        found = repair_finding(text, state, target, judges, assembler, unsafe=unsafe)
        if found is None:
            given_up.add(_key(target))
            continue
        repairs.append(found)
        text = found.text
        if not unsafe or found.safety is Safety.SAFE:
            judges.watch.keeps(target, "; ".join(patch.summary for patch in found.patches), text)
        state = judges.full(text)


def _needs_runs(finding: Finding) -> bool:
    """Tell whether only runs of the whole kernel show a finding: what single rules find is repaired first."""
    return finding.counterexample is not None


def _key(finding: Finding) -> tuple[str, str | None, str]:
    return finding.rule, finding.kernel, finding.message


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
    budget = Budget(judges.effort)
    suggested: Repair | None = None
    fewest = 0
    for patches, patched, after in passing(text, state, state, target, judges, budget, _DEPTH):
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
                budget.most = CANDIDATES  # nothing proves the kernel while other faults are left
    if suggested is None or (suggested.safety is Safety.SUGGESTED and not unsafe):
        return None
    return replace(suggested, tried=budget.used)


def _lacks_only_ptxas(repair: Repair) -> bool:
    """Tell whether a repair would be safe if ptxas had been asked and had taken it."""
    doubtful = any(patch.guess for patch in repair.patches)
    doubtful = doubtful or not {NOT_PROVED, DOES_LESS}.isdisjoint(repair.evidence)
    return NOT_ASKED in repair.evidence and not doubtful
