"""Proxy fences that leave out stores into the shared memory of other CTAs: those of `.shared::cta`.

Property: a store into another CTA is named when some access through the async proxy may read its bytes and all proxy
fences behind it, in its strand, are of `.shared::cta`.

Argument: such a fence is for the shared memory of the executing CTA alone (PTX ISA, "membar, fence"), and the store is
not in it, so that only a fence of a wider scope could put it in front of the read.

Not covered: stores with no proxy fence behind them at all, which `memory` judges, wide fences that another thread
executes, and whether the read comes behind the store.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..model.actions import Fence, Protocol, Proxy
from .conflicts import Touch

UNFENCED = (
    "a store into another CTA, which reads it through the async proxy, has a proxy fence of shared::cta alone"
)


def unfenced_far_writes(protocol: Protocol, touches: Sequence[Touch]) -> Iterator[int]:
    """Yield the points of such stores."""
    stores = [touch for touch in touches if _is_far(protocol, touch)]
    last = {strand: _last_fences(protocol, strand) for strand in {touch.strand for touch in stores}}
    far = [touch for touch in stores if last[touch.strand].wide <= touch.index < last[touch.strand].any]
    reads = [t for t in touches if t.proxy is Proxy.ASYNC and not t.writes] if far else []
    for store in far:
        if any(one.may_meet(other) for read in reads for one in store.spans for other in read.spans):
            yield store.point


def _is_far(protocol: Protocol, touch: Touch) -> bool:
    own = protocol.strands[touch.strand].cta
    is_store = touch.writes and touch.proxy is Proxy.GENERIC and not touch.is_asynchronous
    return is_store and any(span.cta != own for span in touch.spans)


class _LastFences(NamedTuple):
    """Indices of the last proxy fences of a strand, -1 for none."""

    any: int
    wide: int
    """Of those that are not of shared::cta alone."""


def _last_fences(protocol: Protocol, strand: int) -> _LastFences:
    last = wide = -1
    for index, action in enumerate(protocol.strands[strand].actions):
        if isinstance(action, Fence) and action.proxy:
            last, wide = index, wide if action.narrow else index
    return _LastFences(last, wide)
