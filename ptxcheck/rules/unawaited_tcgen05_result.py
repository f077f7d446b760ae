"""An accumulator that the issuing thread loads without having waited for the multiplication.

Checks: feasible paths from a multiplication to a load of the same columns with no wait on an mbarrier on any way
between.
Why: the end of a multiplication is seen only through tcgen05.commit and the mbarrier that it signals; a barrier of the
block, or time, is not enough.
Source: PTX ISA 9.7.17.6.2 and 9.7.17.12.
Not checked: which mbarrier is waited for; waits that are skipped; loads by other warps; loops with a wait.
"""

from ..protocols.typestate.tensor_memory_use import TensorMemoryUse
from .rule import Example, Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import (
    BARRIER,
    CLOSE,
    COMMIT,
    INIT,
    LOAD,
    MULTIPLY,
    OPEN,
    WAIT,
    kernel,
)


def check(view: KernelView) -> Hits:
    for pair in view.get(TensorMemoryUse).unawaited_results():
        related = ((pair.first, "the multiplication"),)
        yield Hit(
            pair.then, "nothing waits for the multiplication that writes these columns", related=related
        )


RULE = Rule(
    id="TM032",
    name="unawaited-tcgen05-result",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 9.7.17.6.2",
    summary="A tcgen05.ld reads an accumulator whose multiplication was not waited for.",
    consequence="The load reads old or half-written columns.",
    advice="Commit to an mbarrier and wait for its phase before the load.",
    example=Example.between(
        kernel(
            INIT, OPEN, MULTIPLY, COMMIT, BARRIER, LOAD.replace(";", "; // expect: TM032", 1), WAIT, CLOSE
        ),
        kernel(INIT, OPEN, MULTIPLY, COMMIT, WAIT, LOAD, CLOSE),
    ),
    check=check,
)
