"""Two writes of the same columns of tensor memory that nothing orders.

Checks: as TM038, for a write or a deallocation after a write. What one thread issues to the matrix unit is in order.
Why: either write may come last, and freed columns may belong to another CTA.
Source: PTX ISA 9.7.17.6, 9.7.17.7 (deallocation).
Not checked: see TM038.
"""

from __future__ import annotations

from .accumulator_kernels import ACCUMULATORS
from .protocol_kernels import changed
from .rule import Example, Rule, Severity
from .violations import of_flaws

_STORES = """    tcgen05.st.sync.aligned.32x32b.x1.b32 [%r14], {%r6};
    tcgen05.wait::st.sync.aligned;
"""


_STORE = "    tcgen05.wait::ld.sync.aligned;\n"


_RELEASE = "    mbarrier.arrive.shared::cta.b64 _, [%r12];\n"


_BAD = changed(
    ACCUMULATORS,
    (_RELEASE, _RELEASE + _STORES),
    ("0x8040490, %p3;", "0x8040490, %p3;  // expect: TM040"),
)


_GOOD = changed(ACCUMULATORS, (_STORE, _STORE + _STORES))


RULE = Rule(
    id="TM040",
    name="tmem-unordered-writes",
    severity=Severity.WRONG_RESULT,
    since="0.2",
    section="PTX ISA 9.7.17.6",
    summary="Tensor memory is written or freed twice, and nothing orders the two.",
    consequence="Either may come last: wrong results, in some runs only.",
    advice=(
        "Wait for the first write to be over (a commit and its mbarrier, or tcgen05.wait::st), and synchronise before "
        "the second."
    ),
    example=Example.between(_BAD, _GOOD),
    check=of_flaws("writes-collide", mechanisms=("tmem",)),
)
