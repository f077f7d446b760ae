"""Operands in the columns of the accumulator of the same multiplication.

Checks: multiplications with A, scale factors or metadata in tensor memory, whose addresses are constants away from one
allocation, and whose D has all lanes.
Why: the multiplication writes D while it reads them.
Source: PTX ISA 9.7.17.10.5 to 9.7.17.10.7.
Not checked: operands at computed addresses, and columns that only some formats have: `tensor-memory-access` of the
verdicts is `unknown` there.
"""

from ..protocols.typestate.tensor_memory_use import TensorMemoryUse
from .rule import Example, Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import (
    CLOSE,
    COMMIT,
    INIT,
    OPEN,
    WAIT,
    expect,
    kernel,
)

_WORD = 0x8900000 | 64 // 8 << 17
"""M 128, N 64, e4m3, ue8m0."""


def _multiply(column: int) -> str:
    factors = f"[%r3 + {column}], [%r3 + 100]"
    head = "@%p2 tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32 [%r3], %rd1, %rd1,"
    return f"{head} 0x{_WORD:x}, {factors}, %p3;"


def check(view: KernelView) -> Hits:
    for overlap in view.get(TensorMemoryUse).overlaps():
        yield Hit(overlap.point, f"{overlap.what} from column {overlap.column} on and D share columns")


RULE = Rule(
    id="TM031",
    name="tmem-operands-overlap",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 9.7.17.10.5",
    summary="The scale factors, the metadata or A of a tcgen05.mma lie within its accumulator.",
    consequence="Wrong results: the accumulator overwrites what is being read.",
    advice="Place the other operands behind the columns of D.",
    example=Example.between(
        kernel(INIT, OPEN, expect(_multiply(32), "TM031"), COMMIT, WAIT, CLOSE),
        kernel(INIT, OPEN, _multiply(64), COMMIT, WAIT, CLOSE),
    ),
    check=check,
)
