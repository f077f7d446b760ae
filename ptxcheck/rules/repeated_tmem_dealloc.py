"""Tensor memory that is freed twice.

Checks: two deallocations of one address on a feasible path with no allocation between.
Why: a deallocation must name what an allocation returned and nobody has freed.
Not checked: deallocations by different warps.
"""

from ..protocols.typestate.tensor_memory_use import TensorMemoryUse
from .rule import Example, Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import (
    CLOSE,
    FREE,
    LOAD,
    OPEN,
    expect,
    kernel,
)


def check(view: KernelView) -> Hits:
    for pair in view.get(TensorMemoryUse).freed_twice():
        related = ((pair.first, "freed here"),)
        yield Hit(pair.then, "these columns have been freed before", related=related)


RULE = Rule(
    id="TM027",
    name="repeated-tmem-dealloc",
    severity=Severity.UNDEFINED,
    since="0.1",
    section="PTX ISA 9.7.17.7",
    summary="A tcgen05.dealloc frees columns that the same thread has freed before.",
    consequence="Undefined: columns of another block may be freed.",
    advice="Free each allocation once.",
    example=Example.between(kernel(OPEN, LOAD, CLOSE, expect(FREE, "TM027")), kernel(OPEN, LOAD, CLOSE)),
    check=check,
)
