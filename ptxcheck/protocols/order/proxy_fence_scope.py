"""Proxy fences that leave out stores into the shared memory of other CTAs: those of `.shared::cta`.

Property: a store into another CTA, which may read it through the async proxy, is named where proxy fences are behind it
and all of them are such ones.

Argument: such a fence is for the shared memory of the CTA that executes it (PTX ISA, "membar / fence").

Not covered: which of several fences behind a store is meant for it; one wide fence anywhere behind it is enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.actions import Fence, Protocol, Proxy
from .conflicts import Touch

UNFENCED = (
    "a store into another CTA, which reads it through the async proxy, has a proxy fence of shared::cta alone"
)


def unfenced_far_writes(protocol: Protocol, touches: Sequence[Touch]) -> Iterator[int]:
    """Yield the points of such stores."""
    far = [touch for touch in touches if _is_far(protocol, touch) and _is_narrowly_fenced(protocol, touch)]
    reads = [t for t in touches if t.proxy is Proxy.ASYNC and not t.writes] if far else []
    for store in far:
        if any(one.may_meet(other) for read in reads for one in store.spans for other in read.spans):
            yield store.point


def _is_far(protocol: Protocol, touch: Touch) -> bool:
    own = protocol.strands[touch.strand].cta
    is_store = touch.writes and touch.proxy is Proxy.GENERIC and not touch.is_asynchronous
    return is_store and any(span.cta != own for span in touch.spans)


def _is_narrowly_fenced(protocol: Protocol, touch: Touch) -> bool:
    """Tell whether the proxy fences behind a store are all of shared::cta; False where there are none."""
    behind = protocol.strands[touch.strand].actions[touch.index + 1 :]
    fences = [action for action in behind if isinstance(action, Fence) and action.proxy]
    return bool(fences) and all(fence.narrow for fence in fences)
