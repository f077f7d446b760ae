"""Reach the other CTA of a pair, its rank being the own one with the lowest bit flipped, or all CTAs of a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ...ir import Immediate, Register
from ...opcodes.op import Op
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


def reach_all(subject: Subject) -> Iterator[Patch]:
    """Yield the mask of all CTAs of the cluster for each constant mask of a copy or a commit that leaves some out."""
    ctas = subject.view.launch.cluster_size
    if subject.finding.counterexample is None or ctas is None or ctas < _PAIR:
        return
    view, writer = subject.view, Writer(subject.view)
    everybody = (1 << ctas) - 1
    masks = {
        definition
        for point, instruction in enumerate(view.body.instructions)
        if isinstance(mask := instruction.get("mask"), Register)
        for definition in view.facts.definitions(point, mask)
    }
    for point in nearest(tuple(sorted(masks)), subject.around):
        instruction = view.body.instructions[point]
        value = instruction.operands[-1]
        if instruction.operation.op is Op.MOV and isinstance(value, Immediate) and value.value != everybody:
            edit = writer.with_operand_at(point, len(instruction.operands) - 1, Immediate(everybody))
            summary = f"mask {everybody} of all {ctas} CTAs instead of {value.value}"
            yield combined("peer", summary, 2, [edit], needs_proof=True)
