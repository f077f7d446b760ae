"""Verdicts on the tensor maps that a kernel makes or changes itself.

`DESCRIPTOR_LEGALITY`: every copy through such a map finds one that the hardware can use, and so do later kernels.
`DESCRIPTOR_RANK`: copies give as many coordinates as their map has dimensions, in its mode. `DESCRIPTOR_ORDER`: every
change is ordered before the copies that use it, and after those that used the map before.

Taken for granted, in all three: no data race on the bytes of a map while it is made, and pointers that the host
passes under two names do not overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..descriptors.contract import Contract
from ..descriptors.device.contents import NO_CHANGE, Contents
from ..descriptors.device.events import Use
from ..descriptors.device.flow import DeviceMaps
from ..descriptors.device.made import (
    Made,
    MadeMap,
    NotKnown,
    NotSet,
    is_conditional_on_host,
)
from ..descriptors.device.order import Certainty, Gap, gaps
from ..descriptors.device.reuse import ends_before
from ..descriptors.symbolic import Legality
from ..explain.violations import whole_kernel
from ..verdict import (
    EVIDENCE_OF,
    AssumptionSource,
    Evidence,
    Property,
    Reason,
    Verdict,
    VerdictKind,
)

if TYPE_CHECKING:
    from ..view import KernelView

_WORST = (
    VerdictKind.VIOLATED, VerdictKind.UNKNOWN, VerdictKind.ASSUMES, VerdictKind.PROVED_BOUNDED, VerdictKind.PROVED,
)  # fmt: skip

PROPERTIES = (Property.DESCRIPTOR_LEGALITY, Property.DESCRIPTOR_RANK, Property.DESCRIPTOR_ORDER)
Judgement = tuple[VerdictKind, Reason | None]


def descriptor_verdicts(view: KernelView) -> tuple[Verdict, ...]:
    """Return a verdict for each property of tensor maps; none for a kernel that changes no tensor map."""
    maps = view.get(DeviceMaps)
    if not maps.keys and not maps.has_lost:
        return ()
    if not maps.events:
        return ()
    found = [(use, maps.at(use)) for use in maps.uses]
    if maps.has_lost and not found:
        reason = Reason("where the maps are that the kernel changes was not followed", maps.events[0].point)
        return tuple(Verdict(which, VerdictKind.UNKNOWN, (reason,)) for which in PROPERTIES)
    return (
        _verdict(Property.DESCRIPTOR_LEGALITY, _legality(view, found)),
        _verdict(Property.DESCRIPTOR_RANK, _rank(view, found)),
        _verdict(Property.DESCRIPTOR_ORDER, _order(maps)),
    )


def _verdict(which: Property, judgements: Iterator[Judgement]) -> Verdict:
    found = list(judgements)
    worst = next((kind for kind in _WORST if any(k is kind for k, _ in found)), VerdictKind.PROVED)
    reasons: dict[str, Reason] = {}
    for kind, reason in found:
        if kind is worst and reason is not None:
            reasons.setdefault(reason.text, reason)
    is_bounded = worst is VerdictKind.ASSUMES and any(kind is VerdictKind.PROVED_BOUNDED for kind, _ in found)
    evidence = Evidence.BOUNDED if is_bounded else EVIDENCE_OF[worst]
    return Verdict(which, worst, tuple(reasons.values()), evidence=evidence)


def _own(found: Sequence[tuple[Use, Contents | None]]) -> Iterator[tuple[Use, Contents | None]]:
    """Yield the uses of maps that the kernel changes."""
    for use, contents in found:
        if contents is None or not _is_untouched(contents):
            yield use, contents


def _is_untouched(contents: Contents) -> bool:
    return not contents.slots and all(point == NO_CHANGE for point, _ in contents.steps)


# ---- legality


def _legality(view: KernelView, found: Sequence[tuple[Use, Contents | None]]) -> Iterator[Judgement]:
    for use, contents in _own(found):
        if contents is None:
            yield VerdictKind.UNKNOWN, Reason("which map this copy reads was not followed", use.point)
            continue
        variants = view.get(DeviceMaps).made_of(contents, at=use.point)
        judged = [list(_of_variant(view, use.point, made)) for made in variants]
        yield from _joined(judged)

    for point, contents in view.get(DeviceMaps).left_behind():
        judged = [list(_of_variant(view, point, made)) for made in view.get(DeviceMaps).made_of(contents)]
        yield from _joined(judged)


def _joined(judged: Sequence[Sequence[Judgement]]) -> Iterator[Judgement]:
    """Yield the judgements on the variants of one map; a violation of some is no more than a doubt.

    Which variants exist together depends on conditions that are not compared.
    """
    sure = all(any(kind is VerdictKind.VIOLATED for kind, _ in each) for each in judged)
    for kind, reason in (judgement for each in judged for judgement in each):
        if kind is VerdictKind.VIOLATED and not sure and reason is not None:
            yield VerdictKind.UNKNOWN, Reason(f"on some paths: {reason.text}", reason.point)
        else:
            yield kind, reason


def _of_variant(view: KernelView, point: int, made: Made) -> Iterator[Judgement]:
    match made:
        case NotSet(slots=slots):
            names = ", ".join(map(str, slots))
            yield VerdictKind.VIOLATED, Reason(f"the map has no {names}", point)
        case NotKnown(reason=text, depends_on_host=depends):
            kind = VerdictKind.ASSUMES if depends else VerdictKind.UNKNOWN
            yield kind, Reason(text, point, source=AssumptionSource.HOST if depends else None)
        case MadeMap():
            yield from _of_map(view, point, made)


def _of_map(view: KernelView, point: int, made: MadeMap) -> Iterator[Judgement]:
    answer = view.get(DeviceMaps).legality(made)
    match answer.legality:
        case Legality.ALWAYS:
            yield VerdictKind.PROVED, None
        case Legality.NEVER:
            text = "; ".join(clause.constraint.text for clause in answer.clauses)
            yield VerdictKind.VIOLATED, Reason(text, made.blamed(answer.clauses[0]))
        case Legality.CONDITIONAL:
            for clause in answer.clauses:
                is_hosts = is_conditional_on_host(view, made, clause)
                kind = VerdictKind.ASSUMES if is_hosts else VerdictKind.UNKNOWN
                source = AssumptionSource.HOST if is_hosts else None
                yield kind, Reason(clause.python, made.blamed(clause), source=source)


# ---- rank and mode


def _rank(view: KernelView, found: Sequence[tuple[Use, Contents | None]]) -> Iterator[Judgement]:
    from ..descriptors.agreement import Topic

    contract = view.get(Contract)
    for use, contents in _own(found):
        if contents is None or use.point not in contract.bindings:
            yield VerdictKind.UNKNOWN, Reason("the map that this copy reads is not known", use.point)
    for one in contract.disagreements:
        if one.topic in (Topic.RANK, Topic.MODE):
            yield VerdictKind.VIOLATED, Reason(one.text, one.point)


# ---- order


def _order(maps: DeviceMaps) -> Iterator[Judgement]:
    for gap in gaps(maps):
        if gap.by_mbarriers and ends_before(maps, gap.other, gap.point):
            yield from _as_lifecycle(maps.view, gap)
            continue
        kind = VerdictKind.VIOLATED if gap.certainty is Certainty.WRONG else VerdictKind.UNKNOWN
        yield kind, Reason(gap.text, gap.point)


def _as_lifecycle(view: KernelView, gap: Gap) -> Iterator[Judgement]:
    """Yield what is known of a change behind loads: as much as of the lives of their mbarriers."""
    whole = view.get(whole_kernel)
    found = () if whole is None else (v for v in whole.verdicts if v.property is Property.LIFECYCLE)
    for verdict in found:
        if verdict.kind not in (VerdictKind.VIOLATED, VerdictKind.UNKNOWN):
            text = "the loads of the map have ended when their mbarriers are invalidated: see lifecycle"
            source = next((each.source for each in verdict.assumptions), None)
            yield (
                verdict.kind,
                None if verdict.kind is VerdictKind.PROVED else Reason(text, gap.point, source=source),
            )
            if verdict.evidence is Evidence.BOUNDED:
                yield VerdictKind.PROVED_BOUNDED, None
            return
    yield VerdictKind.UNKNOWN, Reason(gap.text, gap.point)
