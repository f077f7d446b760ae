"""Finding a repair: the smallest patch that passes, for one finding after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum

from ..finding import Finding
from .assemble import Resources, assemble
from .edits import OverlapError, apply_edits
from .gate import Judge, Judgement, Refusal, is_proved, is_verified, refusal, unproved
from .patch import Patch
from .strategies import propose
from .subject import subject_of

_CANDIDATES = 80
_DEPTH = 2
_UNMASKED = 3
"""Candidates that remove the finding but show others, which are followed further."""


class Safety(Enum):
    """How much is known of a repair."""

    VALIDATED = "validated"
    """Safe, and the hardware gave right results at every size, also under delays."""
    SAFE = "safe"
    """The checker proves the patched kernel, and ptxas takes it."""
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
) -> Outcome:
    """Repair what can be repaired, composing the repairs of several findings.

    Without `unsafe` only safe repairs are kept. With `only`, findings that it refuses are left as they are.
    """
    state = judge(text)
    repairs: list[Repair] = []
    given_up: set[tuple[str, str | None, str]] = set()
    while True:
        wanted = (f for f in state.findings if only is None or only(f))
        target = next((f for f in wanted if _key(f) not in given_up), None)
        if target is None:
            return Outcome(text, tuple(repairs), state.findings)
        found = repair_finding(text, state, target, judge, assembler, unsafe=unsafe)
        if found is None:
            given_up.add(_key(target))
            continue
        repairs.append(found)
        text = found.text
        state = judge(text)


def _key(finding: Finding) -> tuple[str, str | None, str]:
    return finding.rule, finding.kernel, finding.message


@dataclass(slots=True)
class _Budget:
    left: int = _CANDIDATES
    used: int = 0

    def take(self) -> bool:
        self.left -= 1
        self.used += self.left >= 0
        return self.left >= 0


def repair_finding(
    text: str, state: Judgement, target: Finding, judge: Judge, assembler: Assembler, *, unsafe: bool
) -> Repair | None:
    """Return the smallest safe repair of one finding, else the smallest one if `unsafe` allows it.

    `state` is what the checker says of the text.
    """
    budget = _Budget()
    suggested: Repair | None = None
    fewest = 0
    for patches, patched, after in _passing(text, state, state, target, judge, budget, _DEPTH):
        repaired = weigh(text, target, patches, patched, after, assembler)
        if repaired is not None and repaired.safety is Safety.SAFE:
            return replace(repaired, tried=budget.used)
        doubts = unproved(after, target.kernel)
        if repaired is not None and (suggested is None or doubts < fewest):
            suggested, fewest = repaired, doubts
    return replace(suggested, tried=budget.used) if suggested is not None and unsafe else None


def _passing(
    text: str,
    original: Judgement,
    state: Judgement,
    target: Finding,
    judge: Judge,
    budget: _Budget,
    depth: int,
) -> Iterator[tuple[tuple[Patch, ...], str, Judgement]]:
    """Yield patches after which the target is gone and nothing is worse than in `original`, smallest first.

    A patch that removes the target and shows other findings is followed further, to the depth.
    """
    view = state.views.get(target.kernel or "")
    if view is None:
        return
    unmasked: list[tuple[Patch, str, Judgement]] = []
    for patch in propose(subject_of(view, target)):
        if not budget.take():
            break
        try:
            patched = apply_edits(text, patch.edits)
        except OverlapError:
            continue
        after = judge(patched)
        answer = refusal(original, after, target, state)
        if answer is None:
            yield (patch,), patched, after
        elif answer is Refusal.NEW_FINDING and len(unmasked) < _UNMASKED:
            unmasked.append((patch, patched, after))
    if depth <= 1:
        return
    for patch, patched, after in unmasked:
        known = original.counts()
        new = [f for f in after.findings if after.counts()[f.rule, f.kernel] > known[f.rule, f.kernel]]
        for more, final, judged in _passing(patched, original, after, new[0], judge, budget, depth - 1):
            if refusal(original, judged, target) is None:
                yield (patch, *more), final, judged


def weigh(
    text: str,
    target: Finding,
    patches: tuple[Patch, ...],
    patched: str,
    after: Judgement,
    assembler: Assembler,
) -> Repair | None:
    """Return a repair that passed the static gate, with its evidence; None when ptxas refuses the patched text."""
    evidence = ["the finding is gone, nothing new is found"]
    proved = is_proved(after, target.kernel)
    evidence.append(_proof(after, target.kernel))
    guess = any(patch.guess for patch in patches)
    if guess:
        evidence.append("nothing tells that this is what was meant")
    if assembler.ptxas is None:
        evidence.append("ptxas was not asked: it is not here")
        return Repair(target, patches, Safety.SUGGESTED, tuple(evidence), patched)
    target_now = _architecture(after, assembler)
    new = assemble(patched, target_now, assembler.ptxas)
    if new.error:
        return None
    old = assemble(text, assembler.target, assembler.ptxas)
    evidence.append(f"ptxas takes it for {target_now}{_change(old.resources, new.resources, target.kernel)}")
    safety = Safety.SAFE if proved and not guess else Safety.SUGGESTED
    return Repair(target, patches, safety, tuple(evidence), patched)


def _architecture(after: Judgement, assembler: Assembler) -> str:
    """Return the target of the patched text: a patch may change it."""
    view = next(iter(after.views.values()), None)
    return assembler.target if view is None or not view.module.targets else view.module.targets[0]


def _proof(after: Judgement, kernel: str | None) -> str:
    if not is_verified(after, kernel):
        return "the kernel as a whole was not verified: only rules speak of it"
    return (
        "every property of the kernel holds"
        if is_proved(after, kernel)
        else "not every property of the kernel is proved"
    )


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
