"""Tensor memory that is read before what another thread, or the matrix unit, writes there is complete.

Checks: every two accesses of the same columns and lanes in a run of the whole kernel: multiplications, copies, loads,
stores and deallocations. The read must come after the end of the write in every schedule: behind the mbarrier of a
commit, or behind `tcgen05.wait::st`.
Why: the read gets old numbers, or sums that are not complete.
Source: PTX ISA 9.7.17.6 (memory consistency of tcgen05), 9.7.17.12 (commit).
Not checked: accesses whose address is not followed; the verdict on slot safety says so then.
"""

from __future__ import annotations

from .accumulator_kernels import ACCUMULATORS
from .protocol_kernels import changed
from .rule import Example, Rule, Severity
from .violations import of_flaws

_LOAD = """    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r18}, [%r14];
    tcgen05.wait::ld.sync.aligned;
"""


_BAD = changed(
    ACCUMULATORS,
    (_LOAD, ""),
    ("0x8040490, %p3;", "0x8040490, %p3;  // expect: TM039"),
    ("WAIT_FULL:\n", _LOAD.replace("[%r14];", "[%r14];  // expect: TM038") + "WAIT_FULL:\n"),
)


RULE = Rule(
    id="TM038",
    name="tmem-read-before-complete",
    severity=Severity.WRONG_RESULT,
    since="0.2",
    section="PTX ISA 9.7.17.6",
    summary="Tensor memory is read, and nothing orders the read after the end of what writes the same columns.",
    consequence="Old numbers or incomplete sums, in some runs only.",
    advice=(
        "Commit multiplications to an mbarrier and wait for its phase; wait for stores with tcgen05.wait::st before "
        "the threads synchronise."
    ),
    example=Example.between(_BAD, ACCUMULATORS),
    check=of_flaws("read-too-early", mechanisms=("tmem",)),
)
