"""Verdicts on what a kernel does with tensor cores that need no run of the whole kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...verdict import (
    Property,
    Reason,
    Verdict,
    VerdictKind,
)
from .collectives import collective_verdict
from .descriptor_fields import descriptor_field_verdict
from .largest_block import Launched
from .tensor_completion import tensor_completion_verdict
from .tensor_safety import tensor_access_verdict, tensor_allocation_verdict

if TYPE_CHECKING:
    from ...view import KernelView

_ASKED: tuple[tuple[Property, Callable[[Launched], Verdict | None]], ...] = (
    (Property.MATRIX_DESCRIPTORS, descriptor_field_verdict),
    (Property.COLLECTIVE_EXECUTION, collective_verdict),
    (Property.TENSOR_MEMORY_ALLOCATION, tensor_allocation_verdict),
    (Property.TENSOR_MEMORY_ACCESS, tensor_access_verdict),
    (Property.TENSOR_MEMORY_COMPLETION, tensor_completion_verdict),
)
PROPERTIES = tuple(which for which, _ in _ASKED)


def tensor_core_verdicts(view: KernelView) -> tuple[Verdict, ...]:
    """Return a verdict for each property that the kernel's instructions are about.

    An analysis that fails makes its property `unknown`: the failure itself is the rules' to report.
    """
    launched = Launched(view)
    found: list[Verdict] = []
    for which, judge in _ASKED:
        try:
            verdict = judge(launched)
        except Exception:
            verdict = Verdict(which, VerdictKind.UNKNOWN, (Reason("the analysis itself failed", -1),))
        if verdict is not None:
            found.append(verdict)
    return tuple(found)


__all__ = ["PROPERTIES", "tensor_core_verdicts"]
