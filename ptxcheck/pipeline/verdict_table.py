"""Whole-kernel verification of one view as a table of verdicts with places, for reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ..explain.advice import advice
from ..explain.races import ordinary_kernel
from ..explain.violations import whole_kernel
from ..launch import BOUND_NAMES, BlockOrigin, FactOrigin
from ..launches.parameter_facts import fact_lines
from ..results import (
    KernelVerdicts,
    Problem,
    ProblemKind,
    PropertyVerdict,
    Remark,
)
from ..sources.demangled_names import pattern_of
from ..sources.positions import Locator
from ..verdict import (
    Openness,
    Property,
    Reason,
    Verdict,
    VerdictKind,
)
from ..view import KernelView

if TYPE_CHECKING:
    from ..explain.violations import WholeKernel

_MOST_REASONS = 5


def verdict_table(view: KernelView, locator: Locator) -> KernelVerdicts | None:
    """Return the verdicts on a kernel; None when it was not verified."""
    own = (
        *_of_descriptors(view),
        *_of_accumulators(view),
        *_of_tensor_cores(view),
        *_of_races(view),
        *_of_global_memory(view),
    )
    whole = view.get(whole_kernel)
    if whole is None:
        verdicts = tuple(_with_places(view, locator, own))
        facts = fact_lines(view.launch.facts)
        table = KernelVerdicts(
            view.launch.block,
            view.launch.cluster,
            False,
            verdicts,
            given=_given(view),
            facts=facts,
            block_origin=view.launch.block_from,
            cluster_origin=view.launch.cluster_from,
        )
        return table if own else None
    result, shape = whole.result, whole.result.shape
    named = [*result.assumptions.values(), *result.required.values()]
    named += [each for found in result.tolerated.values() for each in found.values()]
    taken = [result.reason_of(each) for each in named]
    provisos = {each.text: each.source for found in result.provisos.values() for each in found}
    taken += [
        Reason(text, -1, source=source) for text, source in sorted(provisos.items(), key=lambda each: each[0])
    ]
    return KernelVerdicts(
        block=None if shape is None else shape.block,
        cluster=None if shape is None else shape.cluster,
        inferred=result.inferred,
        verdicts=tuple(_with_places(view, locator, (*whole.verdicts, *own))),
        trips=tuple(result.trips),
        runs=result.runs,
        equations=tuple(sorted(whole.equations)),
        assumptions=tuple(_remarks(view, locator, taken)),
        given=_given(view),
        facts=fact_lines(view.launch.facts),
        block_origin=_block_origin(view, result.block_origin),
        cluster_origin=view.launch.cluster_from,
        out_of_time=whole.out_of_time,
    )


def undecided(table: KernelVerdicts, why: Remark) -> KernelVerdicts:
    """Return a table in which nothing is decided, for one reason."""
    verdicts = tuple(
        PropertyVerdict(each.property, VerdictKind.UNKNOWN, (why,), Openness.NOT_DECIDED)
        for each in table.verdicts
    )
    return replace(table, verdicts=verdicts, equations=(), assumptions=(), out_of_time=False)


def placed(view: KernelView, locator: Locator, reason: Reason) -> Remark:
    """Return a reason with its place."""
    (remark,) = _remarks(view, locator, (reason,))
    return remark


def _block_origin(view: KernelView, origin: BlockOrigin) -> str:
    match origin:
        case BlockOrigin.BOUND:
            return BOUND_NAMES[view.module.source.is_compiled]
        case BlockOrigin.SUGGESTED:
            return "the code"
        case _:
            return view.launch.block_from


def _given(view: KernelView) -> tuple[str, ...]:
    """Return what the user gave, values and conditions."""
    conditions = (fact.text for fact in view.launch.facts if fact.origin is FactOrigin.GIVEN)
    return (*(f"{value.name}={value.value}" for value in view.launch.given), *conditions)


def _of_descriptors(view: KernelView) -> tuple[Verdict, ...]:
    """Return the verdicts on tensor maps that the kernel makes; a failure is the rules' to report."""
    from .device_map_verdicts import PROPERTIES, descriptor_verdicts

    if view.verify_seconds is None:
        return ()
    try:
        return descriptor_verdicts(view)
    except Exception:
        reason = Reason("the analysis itself failed", -1)
        return tuple(Verdict(which, VerdictKind.UNKNOWN, (reason,)) for which in PROPERTIES)


def _of_accumulators(view: KernelView) -> tuple[Verdict, ...]:
    """Return the verdict on registers of asynchronous multiplications; a failure is the rules' to report."""
    from ..protocols.typestate.accumulators import accumulator_verdict

    if view.verify_seconds is None:
        return ()
    try:
        verdict = accumulator_verdict(view)
    except Exception:
        reason = Reason("the analysis itself failed", -1)
        return (Verdict(Property.ACCUMULATOR_SAFETY, VerdictKind.UNKNOWN, (reason,)),)
    return () if verdict is None else (verdict,)


def _of_tensor_cores(view: KernelView) -> tuple[Verdict, ...]:
    """Return the verdicts on tensor cores that need no run of the whole kernel."""
    from ..protocols.typestate.tensor_cores import tensor_core_verdicts

    return () if view.verify_seconds is None else tensor_core_verdicts(view)


def _of_races(view: KernelView) -> tuple[Verdict, ...]:
    """Return the verdicts on races and divergent barriers of a kernel without asynchronous work."""
    ordinary = view.get(ordinary_kernel)
    return () if ordinary is None else ordinary.verdicts


def _of_global_memory(view: KernelView) -> tuple[Verdict, ...]:
    """Return the verdict on what is read behind writes of other CTAs; a failure makes it `unknown`."""
    from ..protocols.typestate.global_order import global_order_verdict

    if view.verify_seconds is None or not view.function.is_entry:
        return ()
    try:
        verdict = global_order_verdict(view.in_registers)
    except Exception:
        reason = Reason("the analysis itself failed", -1)
        return (Verdict(Property.GLOBAL_ORDER, VerdictKind.UNKNOWN, (reason,)),)
    return () if verdict is None else (verdict,)


def _with_places(
    view: KernelView, locator: Locator, verdicts: tuple[Verdict, ...]
) -> Iterator[PropertyVerdict]:
    for verdict in verdicts:
        reasons = tuple(_remarks(view, locator, verdict.reasons))
        taken = tuple(_remarks(view, locator, verdict.assumptions))
        yield PropertyVerdict(
            verdict.property, verdict.kind, reasons, verdict.openness, verdict.evidence, taken
        )


def _remarks(view: KernelView, locator: Locator, items: Iterable[Reason]) -> Iterator[Remark]:
    """Yield texts with their places, each text at its first places only."""
    shown: Counter[str] = Counter()
    entries = [each.name for each in view.module.entries]
    kernel = pattern_of(view.function.name, entries) if len(entries) > 1 else ""
    for item in sorted(dict.fromkeys(items), key=lambda item: (item.point, item.text)):
        shown[item.text] += 1
        if shown[item.text] <= _MOST_REASONS:
            place = None if item.point < 0 else locator.location(view.function, item.point)
            yield Remark(item.text, place, advice(item, kernel, view.verify_seconds), item.source)


def verifier_failure(view: KernelView) -> tuple[Problem, ...]:
    """Return the problem that the verifier itself failed, if it did."""
    whole: WholeKernel | None = view.get(whole_kernel)
    ordinary = view.get(ordinary_kernel)
    failure = (whole.failure if whole is not None else "") or (
        ordinary.failure if ordinary is not None else ""
    )
    if not failure:
        return ()
    message = "the verification of this kernel failed; this is a bug of ptxcheck, please report it"
    position = view.module.source.position(view.function.span.start)
    return (Problem(ProblemKind.TOOL, message, position, view.function.name, failure),)
