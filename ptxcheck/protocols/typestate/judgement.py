"""Verdicts on a property that is asked of many instructions one by one."""

from __future__ import annotations

from collections.abc import Iterable

from ...verdict import (
    SEVERITY,
    AssumptionSource,
    Property,
    Reason,
    Verdict,
    VerdictKind,
)

Judgement = tuple[VerdictKind, Reason]
"""What one instruction makes of a property, and why. Nothing where the property is shown of it."""


def unknown(text: str, point: int) -> Judgement:
    """Return that an instruction leaves a property undecided."""
    return VerdictKind.UNKNOWN, Reason(text, point)


def assumes(text: str, point: int, source: AssumptionSource) -> Judgement:
    """Return that an instruction keeps a property if something holds."""
    return VerdictKind.ASSUMES, Reason(text, point, source=source)


def verdict_of(which: Property, found: Iterable[Judgement]) -> Verdict:
    """Return the worst of all judgements with its reasons; `proved` when there is none."""
    judgements = tuple(dict.fromkeys(found))
    worst = next((kind for kind in SEVERITY if any(k is kind for k, _ in judgements)), VerdictKind.PROVED)
    return Verdict(which, worst, tuple(reason for kind, reason in judgements if kind is worst))


__all__ = ["Judgement", "assumes", "unknown", "verdict_of"]
