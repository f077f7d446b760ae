"""Columns or lanes of tensor memory that a kernel does not have where a run of it accesses them, or has twice.

Checks: addresses of multiplications, loads and stores in runs of the whole kernel, as numbers: D behind the end of the
allocation, loads and stores that start behind it, lanes that no layout of D starts at, lanes of another warp; A, scale
factors and metadata in columns of the D that is multiplied into.
Why: the columns may be those of another CTA; a warp reaches its own lanes alone; D is written while the rest is read.
Source: PTX ISA 9.7.17.1 (addressing), 9.7.17.8.1 (access restrictions), 9.7.17.10.5 to 9.7.17.10.7 (layouts).
Not checked: addresses that are not followed; loads that only end behind the allocation, as registers that nobody reads
may be among theirs; warps that name the first quarter of lanes, which released kernels do in all warps.
"""

from __future__ import annotations

from .accumulator_kernels import ACCUMULATORS
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="TM041",
    name="tmem-outside-allocation",
    severity=Severity.UNDEFINED,
    since="0.2",
    section="PTX ISA 9.7.17.1",
    summary="Tensor memory is accessed at columns or lanes that are not there, or are those of D.",
    consequence="Accesses of foreign columns, a fault, or wrong numbers.",
    advice="Allocate enough columns, and address lane 32 × (warp % 4) in the upper half of the address.",
    example=Example.variant(
        ACCUMULATORS,
        """
-     shl.b32 %r17, %r17, 20;
+     shl.b32 %r17, %r17, 21;

      tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r18}, [%r14];  // expect: TM041
""",
    ),
    check=of_flaws("outside-allocation"),
)
