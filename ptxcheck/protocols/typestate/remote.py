"""How sure it is that an address belongs to another CTA of the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cfg import Uniformity
from ...finding import Confidence
from .places import Owner, Place

if TYPE_CHECKING:
    from ...view import KernelView


def remote_confidence(view: KernelView, point: int, place: Place | None) -> Confidence | None:
    """Return how sure it is that some CTA names a peer's memory here; None when nothing speaks for it.

    The memory of one fixed CTA is a peer's for all other CTAs, if they execute the point too.
    """
    if place is None or view.launch.cluster_size == 1:
        return None
    if place.owner is Owner.PEER:
        return Confidence.PROVED
    if place.owner is not Owner.FIXED:
        return None
    known = view.launch.cluster_size is not None and in_all_ctas(view, point)
    return Confidence.PROVED if known else Confidence.POSSIBLE


def in_all_ctas(view: KernelView, point: int) -> bool:
    """Tell whether the way to a point does not depend on the CTA's place in its cluster or grid."""
    guard = view.body.instructions[point].guard
    if guard is not None and not _ignores_cta(view, point):
        return False
    seen: set[int] = set()
    work = [view.cfg.graph.block_of[point]]
    while work:
        for dependence in view.cfg.control[work.pop()]:
            branch = dependence.branch
            if branch in seen:
                continue
            seen.add(branch)
            if not _ignores_cta(view, view.cfg.blocks[branch].last):
                return False
            work.append(branch)
    return True


def _ignores_cta(view: KernelView, point: int) -> bool:
    """Tell whether a guarded instruction goes by the thread index, or by what the whole cluster agrees on."""
    guard = view.body.instructions[point].guard
    if guard is None:
        return False
    agreed = view.facts.uniform(point, guard.register) <= Uniformity.CLUSTER
    return agreed or view.facts.threads_where(point, guard.register) is not None


__all__ = ["in_all_ctas", "remote_confidence"]
