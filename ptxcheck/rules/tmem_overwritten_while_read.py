"""Tensor memory that is overwritten, or freed, while it may still be read.

Checks: as TM038, for a write or a deallocation after a read: whoever reads an accumulator must have read it before it
is handed back. A load is over at `tcgen05.wait::ld`, or where its registers are read.
Why: the reader gets numbers of the next tile.
Source: PTX ISA 9.7.17.6, 9.7.17.7 (deallocation).
Not checked: see TM038.
"""

from __future__ import annotations

from .accumulator_kernels import ACCUMULATORS
from .rule import Example, Rule, Severity
from .violations import of_flaws

RULE = Rule(
    id="TM039",
    name="tmem-overwritten-while-read",
    severity=Severity.WRONG_RESULT,
    since="0.2",
    section="PTX ISA 9.7.17.6",
    summary="Tensor memory is written or freed, and nothing orders that after an earlier read of the same columns.",
    consequence="The reader gets numbers of the next tile, in some runs only.",
    advice="Wait for the loads with tcgen05.wait::ld, then arrive at the mbarrier that the writer waits for.",
    example=Example.variant(
        ACCUMULATORS,
        """
      tcgen05.mma.cta_group::1.kind::f16 [%r14], %rd2, %rd3, 0x8040490, %p3;  // expect: TM039

+     tcgen05.wait::ld.sync.aligned;
+     tcgen05.fence::before_thread_sync;
""",
    ),
    check=of_flaws("overwrite", mechanisms=("tmem",)),
)
