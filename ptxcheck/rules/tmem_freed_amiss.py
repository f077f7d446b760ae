"""Tensor memory that a run frees twice or never, from another column than its first, or with a part of a warp.

Checks: deallocations in runs of the whole kernel, with their addresses as numbers.
Why: the columns of another allocation are freed, or the hardware waits for lanes that never come.
Not checked: addresses that are not followed; numbers of columns (TM003).
"""

from __future__ import annotations

from .accumulator_kernels import ACCUMULATORS
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="TM042",
    name="tmem-freed-amiss",
    severity=Severity.UNDEFINED,
    since="0.2",
    section="PTX ISA 9.7.17.7",
    summary="Tensor memory is freed twice or never, from another column than its first, or by a part of a warp.",
    consequence="Columns of others are freed, or a warp or a later CTA waits for ever.",
    advice="Let one whole warp free each allocation once, with the address that the allocation wrote.",
    example=Example.variant(
        ACCUMULATORS,
        """
-     @!%p0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 32;  // expect: TM042
+     tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 32;
""",
    ),
    check=of_flaws("freed-amiss"),
)
