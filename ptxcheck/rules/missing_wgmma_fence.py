"""A `wgmma.mma_async` with no `wgmma.fence` since its registers were written.

Checks: feasible paths from the start of a kernel, or from a write to an accumulator or a fragment of A, to the
multiplication with no fence between. Registers that are moved count as written where the value was.
Why: the multiplication reads and writes registers asynchronously; only the fence orders it after the ordinary accesses
before. Multiplications of one shape on the same accumulators follow each other without.
Not checked: reads of the registers before the multiplication overwrites them; the first fence of a device function. A
zero moved to the registers in straight code is only possible to be wrong: ptxas starts from zero without the
registers.
"""

from ..protocols.typestate.wgmma import Wgmma
from .matrix_kernels import WGMMA
from .rule import Confidence, Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    for found in view.get(Wgmma).unfenced():
        if found.since is None or found.register is None:
            yield Hit(found.point, "no wgmma.fence comes before this first multiplication")
            continue
        yield Hit(
            found.point,
            f"no wgmma.fence comes between the write to {found.register.name} and this multiplication",
            related=((found.since, "the write"),),
            confidence=Confidence.POSSIBLE if found.zero else Confidence.PROVED,
        )


RULE = Rule(
    id="WG001",
    name="missing-wgmma-fence",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.16.7.1",
    summary="A wgmma.mma_async uses registers that were written since the last wgmma.fence.",
    consequence="The multiplication may read old values; some ptxas releases insert a fence and serialise.",
    advice=(
        "Put wgmma.fence.sync.aligned after the last write to accumulators and fragments, before the first "
        "multiplication."
    ),
    example=WGMMA.variant("""
+     mov.f32 %f1, 0f00000000;
+     mov.f32 %f2, %f1;
+     mov.f32 %f3, %f1;
+     mov.f32 %f4, %f1;
      wgmma.fence.sync.aligned;
-     ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
-     // expect: WG001
"""),
    check=check,
)
