"""A cluster barrier that not all threads of the block come to.

Checks: the aligned forms executed by part of a warp while its other lanes are alive; and warps that wait for the
cluster while the others of their block wait for them at a barrier of the whole block, whichever instructions of its
number come to it.
Why: the cluster barrier has no thread count: all threads of all CTAs take part. Emitted for one warp of a
warp-specialised kernel it hangs (triton-lang/triton #9456).
Not checked: branches on values from memory; threads that may have ended, which do not count.
"""

from ..opcodes.spec import Trait
from ..protocols.typestate.cluster_barrier import ClusterBarrier
from ..protocols.typestate.divergence import part_of_warp
from .rule import Confidence, Hit, Hits, KernelView, Property, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    steps = view.get(ClusterBarrier)
    for point in sorted(steps.arrivals | steps.waits):
        aligned = Trait.ALIGNED in view.body.instructions[point].operation.traits
        part = part_of_warp(view, point) if aligned else None
        if part is not None:
            yield Hit(
                point,
                f"this aligned barrier is executed by {part} only",
                related=((part.branch, "the other lanes leave here"),),
                confidence=Confidence.PROVED if part.sure else Confidence.POSSIBLE,
            )
    for stall in steps.stalls():
        yield Hit(
            stall.point,
            f"threads {stall.threads} wait for the others, which wait for them at a barrier of the block",
            related=((stall.block_barrier, "where the others wait"),),
        )


RULE = Rule(
    id="CL006",
    name="divergent-cluster-barrier",
    severity=Severity.HANG,
    section="PTX ISA §9.7.14.3",
    summary="Some threads of the block wait at the cluster barrier that others do not come to.",
    consequence="The kernel hangs.",
    advice="Let every thread of the block arrive at the cluster barrier.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128 .reqnctapercluster 2
      mov.u32 %r1, %tid.x;
      setp.ge.u32 %p1, %r1, 32;
-     @%p1 bra $join;
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned; // expect: CL006
+     @%p1 bra $join;
+     mov.b32 %r2, 1;
  $join:
      bar.sync 0;
      ret;
"""),
    check=check,
    approximates=(Property.DEADLOCK_FREEDOM,),
)
