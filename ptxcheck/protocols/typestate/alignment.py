"""Misaligned and out-of-bounds accesses of shared variables: for all threads, or for one that is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cfg.addresses import natural_alignment
from ...ir import Variable
from .shared_access import SharedAccess, thread_offsets

if TYPE_CHECKING:
    from ...view import KernelView


def misaligned(view: KernelView, access: SharedAccess, size: int) -> str | None:
    """Return the text of an address that is surely no multiple of `size`, None when there is none."""
    place = access.place
    assert place is not None
    verdict = access.value.divisible(size)
    if verdict is not None:
        return None if verdict else str(place)
    if declared_alignment(place.variable) % size:
        return None
    found = thread_offsets(view, access)
    if found is None:
        return None
    wrong = found.offsets % size != 0
    if not wrong.any():
        return None
    first = int(wrong.argmax())
    return f"'{place.variable.name}' + {found.offsets[first]} (thread {found.threads[first]})"


def out_of_bounds(view: KernelView, access: SharedAccess) -> str | None:
    """Return the text of an offset at which the access surely leaves its variable, else None."""
    place = access.place
    assert place is not None
    assert place.size is not None
    low, high = place.span
    if low + access.size > place.size or high < 0:
        return f"offset {low}" if place.at is not None else f"offset {low} or more"
    if low >= 0 and high + access.size <= place.size:
        return None
    found = thread_offsets(view, access)
    if found is None:
        return None
    wrong = (found.offsets < 0) | (found.offsets + access.size > place.size)
    if not wrong.any():
        return None
    first = int(wrong.argmax())
    return f"offset {found.offsets[first]} (thread {found.threads[first]})"


def declared_alignment(variable: Variable) -> int:
    """Return the alignment that the declaration promises."""
    return max(variable.align or natural_alignment(variable), 1)


__all__ = ["declared_alignment", "misaligned", "out_of_bounds"]
