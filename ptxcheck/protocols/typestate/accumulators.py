"""Whether registers of `wgmma.mma_async` are left alone until a wait covers the multiplication (PTX ISA §9.7.16.7.3).

Property: `violated` rests on a path that a thread can take (see `in_flight`). `proved` means that on every path of the
control flow graph, whatever its branches depend on, each access to accumulators, and each write to fragments of A, lies
behind a wait that covers all multiplications on them; plain moves are no accesses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...verdict import (
    Property,
    Reason,
    Verdict,
    VerdictKind,
)
from .register_flow import unknown_calls
from .wgmma import Wgmma

if TYPE_CHECKING:
    from ...view import KernelView


def accumulator_verdict(view: KernelView) -> Verdict | None:
    """Return the verdict on the registers of multiplications; None for a kernel that has none."""
    wgmma = view.get(Wgmma)
    if not wgmma.multiplications:
        return None
    if wgmma.touches:
        touch = wgmma.touches[0]
        text = f"{touch.register.name} is accessed before a wait covers the multiplication on it"
        return _verdict(VerdictKind.VIOLATED, text, touch.point)
    calls = unknown_calls(view)
    if calls:
        return _verdict(
            VerdictKind.UNKNOWN, "what this call does to multiplications is not known", min(calls)
        )
    open_points = wgmma.open_accesses
    if open_points:
        text = "whether a path leads here on which no wait covers the multiplication is not known"
        return _verdict(VerdictKind.UNKNOWN, text, open_points[0])
    return Verdict(Property.ACCUMULATOR_SAFETY, VerdictKind.PROVED, ())


def _verdict(kind: VerdictKind, text: str, point: int) -> Verdict:
    return Verdict(Property.ACCUMULATOR_SAFETY, kind, (Reason(text, point),))
