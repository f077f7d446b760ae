"""What is known of a repair: how safe it is, and the evidence for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from ..explain.violations import whole_kernel
from ..finding import Finding
from ..view import KernelView
from .assemble import Resources, assemble
from .gate import Judgement, is_verified, proof
from .patch import Patch
from .trial import Runs
from .work import Workload

NOT_PROVED = "not every property of the kernel is proved"
NOT_ASKED = "ptxas was not asked: it is not here"
DOES_LESS = "the kernel reads, writes, copies, multiplies or waits less often than before"


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
    was_braked: bool = False
    """True when the clock ended the search, not counted effort."""


@dataclass(frozen=True)
class Assembler:
    """How ptxas is asked; None for `ptxas` leaves it out."""

    ptxas: str | None
    target: str


@dataclass(slots=True)
class Workloads:
    """What kernels do before they are patched, each found out once."""

    known: dict[int, Workload] = field(default_factory=dict)
    """By the identity of the view, which the workload keeps."""

    def shrink(self, before: Judgement, after: Judgement, kernel: str | None) -> bool:
        """Tell whether a kernel that verification is about does less than before."""
        old, new = before.views.get(kernel or ""), after.views.get(kernel or "")
        if old is None or new is None or not (is_verified(before, kernel) and is_verified(after, kernel)):
            return False
        return self.are_less(old, _runs(new))

    def are_less(self, old: KernelView, new: Runs) -> bool:
        """Tell whether runs of a patched kernel do less than the kernel of a view."""
        return self._of(old).is_lost(new)

    def read_early(self, before: Judgement, after: Judgement, kernel: str | None) -> bool:
        """Tell whether a patched kernel reads shared memory before anything has written it."""
        old, new = before.views.get(kernel or ""), after.views.get(kernel or "")
        if old is None or new is None or not is_verified(after, kernel):
            return False
        return self._of(old).reads_early(_runs(new))

    def _of(self, view: KernelView) -> Workload:
        return self.known.setdefault(id(view), Workload.of(view))


def _runs(view: KernelView) -> Runs:
    """Return runs of a kernel, each of which may take as long as its verification did."""
    whole = view.get(whole_kernel)
    runs = Runs(view)
    if whole is not None and whole.result.runs:
        runs.seconds = max(runs.seconds, whole.result.seconds)
    return runs


def weigh(
    text: str,
    target: Finding,
    patches: tuple[Patch, ...],
    patched: str,
    before: Judgement,
    after: Judgement,
    assembler: Assembler,
    workloads: Workloads | None = None,
) -> Repair | None:
    """Return a repair that passed the static gate, with its evidence.

    None when ptxas refuses the patched text, or it reads shared memory that nothing has written yet: of the two waits
    that keep a ring from turning, the wrong one turns it, too, and the consumer then reads before the producer writes.
    `before` is what the checker says of `text`, `after` of `patched`.
    """
    evidence = ["the finding is gone, nothing new is found"]
    proved = proof(before, after, target.kernel, local=all(patch.local for patch in patches))
    evidence.append(NOT_PROVED if proved is None else proved.value)
    guess = any(patch.guess for patch in patches)
    if guess:
        evidence.append("nothing tells that this is what was meant")
    workloads = workloads or Workloads()
    if workloads.read_early(before, after, target.kernel):
        return None
    less = workloads.shrink(before, after, target.kernel)
    if less:
        evidence.append(DOES_LESS)
    if assembler.ptxas is None:
        evidence.append(NOT_ASKED)
        return Repair(target, patches, Safety.SUGGESTED, tuple(evidence), patched)
    target_now = _architecture(after, assembler)
    new = assemble(patched, target_now, assembler.ptxas)
    if new.error:
        return None
    old = assemble(text, assembler.target, assembler.ptxas)
    evidence.append(f"ptxas takes it for {target_now}{_change(old.resources, new.resources, target.kernel)}")
    safety = Safety.SUGGESTED if proved is None or guess or less else Safety.SAFE
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
