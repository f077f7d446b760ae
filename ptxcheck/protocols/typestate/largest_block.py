"""A kernel with what is known of its block, or with the block that has to be taken for granted.

`.maxntid` bounds the number of threads and no more: what follows from a block of that very shape is an assumption, the
same that verification of whole kernels makes. With no bound at all, facts about threads take the block to be one row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

from ...cfg import ApproximationKind
from ...launch import MAX_THREADS
from ...verdict import AssumptionSource, Reason

if TYPE_CHECKING:
    from ...view import KernelView


class Launched:
    """One kernel under its launch."""

    def __init__(self, view: KernelView) -> None:
        self.view = view

    def each(self) -> Iterator[tuple[KernelView, Reason | None]]:
        """Yield the kernel with its block, and what has to be taken for granted of that."""
        if self._largest is not None:
            yield self._largest
            return
        texts = (a.text for a in self.view.facts.approximations if a.kind is ApproximationKind.BLOCK_SHAPE)
        yield self.view, next((Reason(text, -1, source=AssumptionSource.LAUNCH) for text in texts), None)

    @property
    def last(self) -> KernelView:
        """The kernel with the most that is known or assumed of its block."""
        return self.view if self._largest is None else self._largest[0]

    @cached_property
    def _largest(self) -> tuple[KernelView, Reason] | None:
        launch = self.view.launch
        bound = self.view.function.attributes.get(".maxntid")
        if (launch.block is not None and launch.block_is_exact) or not bound:
            return None
        x, y, z = (*bound, 1, 1)[:3]
        if not 1 <= prod((x, y, z)) <= MAX_THREADS:
            return None
        text = f"the block is taken to have all {x * y * z} threads that it may have"
        launched = replace(launch, block=(x, y, z), block_is_exact=True, max_threads=x * y * z)
        return replace(self.view, launch=launched), Reason(text, -1, source=AssumptionSource.LAUNCH)


__all__ = ["Launched"]
