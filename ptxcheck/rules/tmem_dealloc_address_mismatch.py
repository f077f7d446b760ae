"""A `tcgen05.dealloc` of an address inside an allocation.

Checks: addresses at a constant distance from what an allocation wrote.
Why: what is freed is an allocation, and its address is its first column in lane 0.
Not checked: addresses computed in other ways.
"""

from ..protocols.typestate.tensor_memory_use import TensorMemoryUse
from .rule import Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import LOADED


def check(view: KernelView) -> Hits:
    for point, address in view.get(TensorMemoryUse).freed_elsewhere():
        where = (
            f"column {address.column}"
            if not address.lane
            else f"lane {address.lane}, column {address.column}"
        )
        yield Hit(point, f"this is {where} of the allocation, not its start")


RULE = Rule(
    id="TM028",
    name="tmem-dealloc-address-mismatch",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.17.7",
    summary="A tcgen05.dealloc does not get the address that the allocation returned.",
    consequence="Undefined: other columns are freed, or none.",
    advice="Keep the address that tcgen05.alloc wrote, and free that.",
    example=LOADED.variant("""
-     add.u32 %r3, %r3, 64;
      @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 128; // expect: TM028
"""),
    check=check,
)
