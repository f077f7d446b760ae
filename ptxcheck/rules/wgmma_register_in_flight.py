"""A register of a `wgmma.mma_async` accessed before a wait covers the multiplication.

Checks: accumulators read or written, and fragments of A written, on a feasible path from the multiplication with no
`wgmma.wait_group` that reaches its group; the groups committed in between are counted.
Why: the multiplication runs on after the instruction; its registers belong to it until the wait.
Not checked: plain moves, which compilers place freely and the assembler removes; reads of fragments of A.
"""

from ..protocols.typestate.wgmma import Wgmma
from .matrix_kernels import WGMMA
from .rule import Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    for touch in view.get(Wgmma).touches:
        if not touch.open:
            yield Hit(
                touch.point,
                f"{touch.register.name} is accessed before a wait covers the multiplication on it",
                related=((touch.site, "the multiplication"),),
            )


RULE = Rule(
    id="WG003",
    name="wgmma-register-in-flight",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.16.7.3",
    summary="A register is accessed while a wgmma.mma_async still works on it.",
    consequence="The result is undefined; ptxas may serialise all multiplications of the function.",
    advice=(
        "Wait (wgmma.wait_group) for the group of the multiplication first; N is the number of newer groups that may "
        "stay open."
    ),
    example=WGMMA.variant("""
-     wgmma.wait_group.sync.aligned 1;
+     wgmma.wait_group.sync.aligned 0;
      st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4}; // expect: WG003
"""),
    check=check,
)
