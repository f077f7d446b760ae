"""`mapa` for a CTA rank that the cluster does not have.

Checks: the rank, through registers, against `.reqnctapercluster` or the stated launch.
Why: the address points nowhere; ptxas accepts it.
Not checked: kernels whose cluster size is not known.
"""

from ..opcodes.op import Op
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    size = view.launch.cluster_size
    if size is None:
        return
    for point, instruction in enumerate(view.body.instructions):
        if instruction.operation.op is not Op.MAPA or view.facts.never_runs(point):
            continue
        low, high = view.facts.range(point, instruction.get("b"))
        if low >= size:
            shown = str(low) if low == high else f"{low} or more"
            yield Hit(point, f"rank {shown}: the cluster has {size} CTAs")


RULE = Rule(
    id="CL005",
    name="cluster-rank-out-of-range",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.9.23",
    summary="The rank given to mapa is not below the number of CTAs in the cluster.",
    consequence="The behaviour is undefined: a fault, or an access to the wrong CTA.",
    advice="Use ranks from 0 to the cluster size minus 1.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128 .reqnctapercluster 2
      .shared .align 4 .b32 data;
      mov.u32 %r1, data;
-     mapa.shared::cluster.u32 %r2, %r1, 2; // expect: CL005
+     mapa.shared::cluster.u32 %r2, %r1, 1;
      ret;
"""),
    check=check,
)
