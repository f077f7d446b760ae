"""A register of a `tcgen05.ld` accessed before `tcgen05.wait::ld`.

Checks: registers read or written on a feasible path from the load with no wait between.
Why: the load runs on after the instruction; its registers are settled by the wait. ptxas makes later uses of the
registers wait by itself, compilers move arithmetic in front of the wait, and released kernels do without it: the rule
is pedantic. Source: PTX ISA §9.7.17.6 and 9.7.17.8.5.
Not checked: plain moves, which compilers place freely and the assembler removes.
"""

from ..protocols.typestate.tensor_memory import TensorMemory
from .rule import Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import ALLOCATION


def check(view: KernelView) -> Hits:
    for touch in view.get(TensorMemory).early_uses:
        yield Hit(
            touch.point,
            f"{touch.register.name} is accessed before tcgen05.wait::ld",
            related=((touch.site, "the load"),),
        )


RULE = Rule(
    id="TM008",
    name="tmem-load-not-awaited",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.17.8.5",
    summary="The result of a tcgen05.ld is used before it was waited for.",
    consequence="The value may be an old one.",
    advice="Execute tcgen05.wait::ld.sync.aligned first.",
    example=ALLOCATION.variant("""
=     ld.shared.b32 %r3, [slot];
      ld.shared.b32 %r3, [slot];
      tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3];
+     tcgen05.wait::ld.sync.aligned;
      add.u32 %r6, %r4, 1; // expect: TM008
-     tcgen05.wait::ld.sync.aligned;
"""),
    check=check,
    pedantic=True,
)
