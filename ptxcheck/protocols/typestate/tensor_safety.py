"""Whether tensor memory is allocated and freed once, and accessed inside what is allocated (PTX ISA §9.7.17).

Property: `proved` is what `tensor_lives` and `tensor_accesses` say of a kernel of which they yield nothing. `violated`
rests on what the analyses of one thread show. Not asked: the order of accesses, allocations and deallocations of
several warps, which slot safety is about, and the columns of CTAs that run together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from ...cfg.system_functions import SYSTEM_FUNCTIONS
from ...verdict import (
    Property,
    Reason,
    Verdict,
    VerdictKind,
)
from .judgement import Judgement, unknown, verdict_of
from .largest_block import Launched
from .register_flow import unknown_calls
from .tensor_accesses import Accesses, flaws_of_accesses
from .tensor_lives import Lives, flaws_of_allocations
from .tensor_memory import TENSOR_MEMORY, TensorMemory

if TYPE_CHECKING:
    from ...view import KernelView

_Judge: TypeAlias = "Callable[[KernelView, bool], Lives | Accesses]"
"""Makes the judgements on a view, whose block is known or taken."""


def tensor_allocation_verdict(launched: Launched) -> Verdict | None:
    """Return the verdict on allocations of tensor memory; None for a kernel that uses none."""
    return _verdict(Property.TENSOR_MEMORY_ALLOCATION, launched, Lives, flaws_of_allocations)


def tensor_access_verdict(launched: Launched) -> Verdict | None:
    """Return the verdict on columns and lanes of accesses; None for a kernel that accesses no tensor memory."""
    return _verdict(
        Property.TENSOR_MEMORY_ACCESS, launched, lambda view, _: Accesses(view), flaws_of_accesses
    )


def _verdict(
    which: Property,
    launched: Launched,
    judge: _Judge,
    flaws_of: Callable[[KernelView], Iterator[Reason]],
) -> Verdict | None:
    view = launched.view
    if not any(i.operation.op in TENSOR_MEMORY for i in view.body.instructions):
        return None
    found = verdict_of(which, _judgements(launched, judge))
    if found.kind is not VerdictKind.UNKNOWN:
        return found
    flaws = tuple(dict.fromkeys(flaws_of(view)))
    return Verdict(which, VerdictKind.VIOLATED, flaws) if flaws else found


def _judgements(launched: Launched, judge: _Judge) -> Iterator[Judgement]:
    view = launched.view
    for call in sorted(unknown_calls(view)):
        if view.facts.calls[call].callee not in SYSTEM_FUNCTIONS:
            yield unknown("what this call does to tensor memory is not known", call)
    if not view.function.is_entry:
        yield unknown("what calls this function is not known", -1)
    if not view.get(TensorMemory).allocations:
        yield unknown("nothing is allocated", min(view.get(TensorMemory).of(TENSOR_MEMORY), default=-1))
        return
    found: tuple[Judgement, ...] = ()
    for under, taken in launched.each():
        found = tuple(judge(under, taken is None).judgements())
        if taken is not None:
            found = (*found, (VerdictKind.ASSUMES, taken))
        if not any(kind is VerdictKind.UNKNOWN for kind, _ in found):
            break
    yield from found


__all__ = ["tensor_access_verdict", "tensor_allocation_verdict"]
