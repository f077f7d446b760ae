"""An instruction descriptor of `tcgen05.mma` that its kind does not allow.

Checks: shape, types, sparsity, negation, transposition, scale factors and reserved bits of descriptors whose fields
are known, against the tables of the kind, the group of CTAs and the form.
Why: ptxas takes any 32 bits; an illegal shape is an illegal instruction at run time, a wrong type a wrong result.
Source: PTX ISA §9.7.17.2 (shapes), 9.7.17.4.2 (layout), 9.7.17.10.1 (transposition and negation).
Not checked: `.kind::ti16`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..protocols.typestate.matrix_tiles import MatrixTiles
from .matrix_kernels import BLACKWELL_A, BLACKWELL_WORD, blackwell, packed
from .rule import Example, Hit, Hits, KernelView, Rule, Severity

if TYPE_CHECKING:
    from ..descriptors.matrix.instruction import Constraint
    from ..protocols.typestate.matrix_operands import InstructionWord


def check(view: KernelView) -> Hits:
    seen: set[tuple[int, str]] = set()
    for word in view.get(MatrixTiles).operands.instruction_words:
        broken = [_said(one, word) for one in view.get(MatrixTiles).broken(word)]
        message = f"the instruction descriptor is illegal for {word.shape.kind.value}: {'; '.join(broken)}"
        key = (view.get(MatrixTiles).block(word.point), message)
        if broken and key not in seen:
            seen.add(key)
            yield Hit(word.point, message)


def _said(constraint: Constraint, word: InstructionWord) -> str:
    values = ", ".join(f"{name} {word.fields[name]}" for name in constraint.fields)
    return f"{constraint.text} ({values})"


RULE = Rule(
    id="TM025",
    name="illegal-instruction-descriptor",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.17.4.2",
    summary="The instruction descriptor of a tcgen05.mma is not one of its kind.",
    consequence="Illegal instruction, or undefined results.",
    advice="Build the descriptor from the tables of this kind, cta_group and form.",
    example=Example.between(
        blackwell(packed(BLACKWELL_A), expect="TM025", instruction=BLACKWELL_WORD & ~(0x3F << 17) | 40 << 17),
        blackwell(packed(BLACKWELL_A), instruction=BLACKWELL_WORD),
    ),
    check=check,
)
