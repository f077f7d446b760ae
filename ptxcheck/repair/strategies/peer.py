"""Reach the other CTA of a pair: its rank is the own one with the lowest bit flipped."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ...ir import Register
from ...op import Op
from ..patch import Patch, Writer, combined
from ..sites import nearest, points_of
from ..subject import Subject

_PAIR = 2


def reach_peer(subject: Subject) -> Iterator[Patch]:
    """Yield each mapping of an address to the other CTA of the pair, nearest to the finding first."""
    cluster = subject.view.launch.cluster
    if subject.finding.counterexample is None or cluster is None or prod(cluster) != _PAIR:
        return
    writer = Writer(subject.view)
    for far, point in enumerate(nearest(points_of(subject.view, Op.MAPA), subject.around)):
        name = f"ptxcheck_peer{point}"
        lines = (f".reg .b32 {name};", f"mov.u32 {name}, %cluster_ctarank;", f"xor.b32 {name}, {name}, 1;")
        changed = writer.with_operand(point, "b", Register(name))
        edits = [writer.within(point, lines, changed.replacement)]
        yield combined("peer", "the address in the other CTA of the pair", 3 + far, edits, needs_proof=True)
