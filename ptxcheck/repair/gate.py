"""The gate that a patch has to pass: what the checker says before and after it, and what ptxas says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from ..explain.violations import whole_kernel
from ..finding import Finding
from ..ir import Immediate, Instruction
from ..opcodes.op import Op
from ..verdict import SEVERITY, Property, Reason, VerdictKind
from ..view import KernelView

_GOOD = frozenset({VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED, VerdictKind.ASSUMES})

_OF_MAPS = frozenset(
    {Property.DESCRIPTOR_LEGALITY, Property.DESCRIPTOR_RANK, Property.DESCRIPTOR_ORDER}
)  # fmt: skip
"""Decided by rules: where no rule finds a flaw they may stay unknown, which keeps a repair from being safe."""
_OF_MAP_FIELDS = frozenset({Property.DESCRIPTOR_LEGALITY, Property.DESCRIPTOR_RANK})
"""Decided by what maps hold and which map a copy names, whatever the order."""
_ORDERING = frozenset(
    {
        Op.FENCE, Op.FENCE_MBARRIER_INIT, Op.FENCE_PROXY, Op.CP_ASYNC_BULK_WAIT_GROUP, Op.CP_ASYNC_WAIT_ALL,
        Op.CP_ASYNC_WAIT_GROUP, Op.TCGEN05_WAIT, Op.TCGEN05_FENCE, Op.WGMMA_FENCE, Op.WGMMA_WAIT_GROUP,
    }
)  # fmt: skip
"""What only makes later statements wait, and for what ends in any case."""
_MAKING = frozenset({Op.TENSORMAP_REPLACE, Op.TENSORMAP_CP_FENCEPROXY})
_MAP_RULES = ("TD", "PX004")


@dataclass(frozen=True)
class Judgement:
    """What the checker says of a PTX text."""

    findings: tuple[Finding, ...]
    verdicts: Mapping[tuple[str, Property], VerdictKind]
    """By kernel and property."""
    problems: tuple[str, ...]
    """Why the text could not be checked in full: syntax errors and failures of the checker."""
    views: Mapping[str, KernelView]
    """By kernel."""

    def counts(self) -> Counter[tuple[str, str | None]]:
        """Return how often each rule fires in each kernel."""
        return Counter((finding.rule, finding.kernel) for finding in self.findings)


Judge = Callable[[str], Judgement]
"""From a PTX text to what the checker says of it."""


class Refusal(Enum):
    """Why a patch does not pass."""

    UNREADABLE = "the patched text cannot be checked"
    STILL_THERE = "the finding is still there"
    NEW_FINDING = "another finding appears"
    LOST_PROOF = "a verdict that held is lost"
    UNDECIDED = "what was violated is not decided any more"


def refusal(
    before: Judgement,
    after: Judgement,
    target: Finding,
    current: Judgement | None = None,
    *,
    as_strong: bool = True,
) -> Refusal | None:
    """Return why a patch for `target` does not pass the static part of the gate, None when it does.

    The target's rule must fire less often in its kernel than in `current` (default: `before`), no rule more often
    than in `before`; a property that held must hold with the same strength, but for one that held only under
    assumptions when the target is about the tensor map that they are about. A property that was violated or unknown
    may become anything but violated; a violated one may not become unknown where nothing else is violated, unless
    rules alone decide it. Without `as_strong` what held has to hold, up to whatever bound: `after` had less time.
    """
    if after.problems:
        return Refusal.UNREADABLE
    old, new = before.counts(), after.counts()
    key = (target.rule, target.kernel)
    if new[key] >= (current or before).counts()[key]:
        return Refusal.STILL_THERE
    if any(count > old[other] for other, count in new.items()):
        return Refusal.NEW_FINDING
    strict = _GOOD - {VerdictKind.ASSUMES} if target.rule.startswith(_MAP_RULES) else _GOOD
    for name, kind in before.verdicts.items():
        now = after.verdicts.get(name, VerdictKind.UNKNOWN)
        lost = kind in strict and (
            SEVERITY.index(now) < SEVERITY.index(kind) if as_strong else now not in _GOOD
        )
        broken = now is VerdictKind.VIOLATED and kind is not VerdictKind.VIOLATED
        if lost or broken:
            return Refusal.LOST_PROOF
    return Refusal.UNDECIDED if _hides(current or before, after, target.kernel) else None


def _hides(before: Judgement, after: Judgement, kernel: str | None) -> bool:
    """Tell whether a flaw may be gone only because the verifier gives up: nothing is violated, and less is decided.

    It is not where the verifier gave up before for the same reasons, or does so only about other accesses than those
    of which something was found.
    """
    kinds = {name: kind for name, kind in after.verdicts.items() if name[0] == kernel}
    if VerdictKind.VIOLATED in kinds.values():
        return False
    undecided = {
        name[1]
        for name, kind in before.verdicts.items()
        if name[0] == kernel and kind is VerdictKind.VIOLATED and name[1] not in _OF_MAPS
        if kinds.get(name) is VerdictKind.UNKNOWN
    }
    if not undecided or _gave_up_before(before, after, kernel, undecided):
        return False
    return undecided != {Property.SLOT_SAFETY} or not _doubts_others(before, after, kernel)


def _gave_up_before(
    before: Judgement, after: Judgement, kernel: str | None, properties: Iterable[Property]
) -> bool:
    """Tell whether all reasons why properties are not decided any more were there before, of any property."""
    known = {reason.text for reason in _reasons(before, kernel, Property)}
    now = _reasons(after, kernel, properties)
    return bool(now) and all(reason.text in known for reason in now)


def _doubts_others(before: Judgement, after: Judgement, kernel: str | None) -> bool:
    """Tell whether slot safety is left open by accesses alone, and no finding was about any of these."""
    view, old = after.views.get(kernel or ""), before.views.get(kernel or "")
    whole = None if view is None else view.get(whole_kernel)
    if view is None or old is None or whole is None or whole.result.reasons or not whole.result.memory_doubts:
        return False
    text, starts = old.module.source.text, {each.start: each for each in old.body.instructions}
    places = [finding.location.span.start for finding in before.findings if finding.kernel == kernel]
    places += [each.location.span.start for finding in before.findings for each in finding.related]
    found = {text[starts[place].start : starts[place].end] for place in places if place in starts}
    statements = _statements(view)
    return all(
        doubt.point >= 0 and statements[doubt.point][1] not in found for doubt in whole.result.memory_doubts
    )


def _reasons(state: Judgement, kernel: str | None, properties: Iterable[Property]) -> list[Reason]:
    """Return why some properties of a kernel are not decided."""
    view = state.views.get(kernel or "")
    whole = None if view is None else view.get(whole_kernel)
    wanted = frozenset(properties)
    return [
        reason
        for verdict in (() if whole is None else whole.verdicts)
        if verdict.property in wanted and verdict.kind is VerdictKind.UNKNOWN
        for reason in verdict.reasons
    ]


class Proof(Enum):
    """What the static proof of a repaired kernel rests on."""

    WHOLE = "every property of the kernel holds"
    RULES = "the kernel has nothing that verification of the whole is about: its rules decide"
    MORE_ORDER = (
        "what is not decided was not before, and the patch only adds fences and waits that always end"
    )
    AS_BEFORE = "what is not decided was not before, and the patch changes nothing that it is about"


def proof(before: Judgement, after: Judgement, kernel: str | None, *, local: bool) -> Proof | None:
    """Return what proves that a patch, which passed `refusal`, repairs a kernel; None when nothing does.

    `local` tells that the patch changes nothing that synchronises and no access. `before` is judged without it.
    """
    view, old = after.views.get(kernel or ""), before.views.get(kernel or "")
    if view is not None and old is not None and _awaits_less(old, view):
        return None
    if is_proved(after, kernel):
        return Proof.WHOLE
    if view is None or view.verify_seconds is None:
        return None
    if not is_verified(before, kernel) and not is_verified(after, kernel):
        return Proof.RULES
    open_ = {name for name, kind in after.verdicts.items() if name[0] == kernel and kind not in _GOOD}
    known = all(before.verdicts.get(name) is VerdictKind.UNKNOWN for name in open_)
    broken = {name[1] for name in open_ if before.verdicts.get(name) is VerdictKind.VIOLATED}
    alike = all(before.verdicts.get(name) not in _GOOD for name in open_)
    alike = alike and bool(broken) and _gave_up_before(before, after, kernel, broken)
    if (known or alike) and old is not None and is_verified(after, kernel) and _only_orders_more(old, view):
        return Proof.MORE_ORDER
    if not local:
        known = known and old is not None and _maps(old) == _maps(view)
        known = known and all(which in _OF_MAP_FIELDS for _, which in open_)
    return Proof.AS_BEFORE if known and is_verified(after, kernel) else None


def _only_orders_more(before: KernelView, after: KernelView) -> bool:
    """Tell whether a patch only puts in fences, and waits for groups: the runs it leaves are among those before."""
    old, new = _statements(before), _statements(after)
    rest = iter(new)
    added = Counter(new) - Counter(old)
    kept = all(statement in rest for statement in old)
    same = kept and bool(added) and _frame(before) == _frame(after)
    return same and all(op in _ORDERING for op, _ in added)


def _statements(view: KernelView) -> list[tuple[Op, str]]:
    """Return the statements of a kernel with their operations, in order."""
    text = view.module.source.text
    return [(each.operation.op, text[each.start : each.end]) for each in view.body.instructions]


def _frame(view: KernelView) -> tuple[object, ...]:
    """Return what is in front of a kernel, and in it beside its statements."""
    beside = [each for each in view.body.statements if not isinstance(each, Instruction)]
    return view.module.source.text[: view.function.span.start], view.function.attributes, beside


def _awaits_less(before: KernelView, after: KernelView) -> bool:
    """Tell whether fewer waits or fences of `wgmma` are left, or weaker ones: no property is about its registers."""
    old, new = _matrix_waits(before), _matrix_waits(after)
    weaker = any(sum(n <= most for n in new) < sum(n <= most for n in old) for most in set(old))
    return weaker or _matrix_fences(after) < _matrix_fences(before)


def _matrix_waits(view: KernelView) -> list[int]:
    """Return how many groups each unguarded wait of `wgmma` leaves open."""
    numbers = (
        each.get("n")
        for each in view.body.instructions
        if each.operation.op is Op.WGMMA_WAIT_GROUP and each.guard is None
    )
    return [number.value for number in numbers if isinstance(number, Immediate)]


def _matrix_fences(view: KernelView) -> int:
    return sum(each.operation.op is Op.WGMMA_FENCE and each.guard is None for each in view.body.instructions)


def _maps(view: KernelView) -> Counter[str]:
    """Return the statements that make tensor maps, change them, or name one."""
    text = view.module.source.text
    return Counter(
        text[each.start : each.end]
        for each in view.body.instructions
        if each.operation.op in _MAKING or each.get("tensor_map") is not None
    )


def unproved(after: Judgement, kernel: str | None) -> int:
    """Return how many properties of a kernel are not known to hold."""
    return sum(kind not in _GOOD for (name, _), kind in after.verdicts.items() if name == kernel)


def is_verified(after: Judgement, kernel: str | None) -> bool:
    """Tell whether there is a verdict on any property of a kernel: rules alone prove nothing of the whole."""
    return any(name == kernel for name, _ in after.verdicts)


def is_proved(after: Judgement, kernel: str | None) -> bool:
    """Tell whether every property of a kernel is decided and holds."""
    return is_verified(after, kernel) and unproved(after, kernel) == 0
