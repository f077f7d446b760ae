"""A loop that allocates tensor memory and does not free it.

Checks: feasible paths from an allocation around a loop to itself with no deallocation. Possible only: how often the
loop runs is not known. What cannot fit twice is TM006.
Why: an allocation waits for free columns, and there are 512.
Not checked: loops that free in another warp.
"""

from ..protocols.typestate.tensor_memory_use import TensorMemoryUse
from .rule import Confidence, Example, Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import (
    ADDRESS,
    ALLOCATE,
    BARRIER,
    CLOSE,
    FREE,
    LOAD,
    expect,
    kernel,
)

_AGAIN = "sub.u32 %r9, %r9, 1;\nsetp.ne.u32 %p5, %r9, 0;\n@%p5 bra $loop;"


def check(view: KernelView) -> Hits:
    for point in view.get(TensorMemoryUse).allocated_again():
        yield Hit(
            point, "a round of the loop comes back here with nothing freed", confidence=Confidence.POSSIBLE
        )


RULE = Rule(
    id="TM030",
    name="tmem-allocated-in-loop",
    severity=Severity.HANG,
    since="0.1",
    section="PTX ISA 9.7.17.7",
    summary="A loop allocates tensor memory in each round and frees none.",
    consequence="The kernel hangs in the round in which the columns run out.",
    advice="Allocate once before the loop, or free in each round.",
    example=Example.between(
        kernel("$loop:", expect(ALLOCATE, "TM030"), BARRIER, ADDRESS, LOAD, _AGAIN, CLOSE),
        kernel("$loop:", ALLOCATE, BARRIER, ADDRESS, LOAD, BARRIER, FREE, _AGAIN),
    ),
    check=check,
    confidence=Confidence.POSSIBLE,
)
