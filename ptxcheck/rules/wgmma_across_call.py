"""A function boundary crossed while a `wgmma.mma_async` may still run.

Checks: feasible paths from a multiplication to a call, or to the return of a device function, with no
`wgmma.wait_group` between.
Why: ptxas cannot keep registers in flight over a call; it serialises all multiplications of the function and says so
in a note (C7509, C7510). Source: PTX ISA §9.7.16.7; notes of ptxas 13.0.
"""

from ..protocols.typestate.wgmma import Wgmma
from .matrix_kernels import WGMMA
from .rule import Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    for point, start in view.get(Wgmma).crossings():
        related = ((start, "the multiplication"),)
        yield Hit(point, "a wgmma.mma_async may still run when this boundary is crossed", related=related)


RULE = Rule(
    id="WG007",
    name="wgmma-across-call",
    severity=Severity.SLOW,
    section="PTX ISA §9.7.16.7",
    summary="A call or return is reached while a wgmma.mma_async may still run.",
    consequence="ptxas serialises all wgmma instructions of the function.",
    advice="Wait for the multiplications before the call, or let the function be inlined.",
    example=WGMMA.variant("""
= .address_size 64
  .address_size 64
  .func helper() { ret; }

=     wgmma.wait_group.sync.aligned 0;
+     wgmma.wait_group.sync.aligned 0;
      call helper; // expect: WG007
-     wgmma.wait_group.sync.aligned 0;
"""),
    check=check,
)
