"""A box that is larger than its place in shared memory.

Checks: copies through maps that the kernel makes or that are described with --tensor-map, against the end of the
variable and the next copy to the same barrier.
Why: the size of a box is in the map, not in the instruction.
Source: PTX ISA 5.5.3, 5.5.7; docs/tensor-maps.md for rows under a swizzle.
Not checked: dynamic shared memory, whose size is the launch's.
"""

from ...descriptors.agreement import Topic
from ...descriptors.device.flow import DeviceMaps
from ..rule import Hit, Hits, KernelView, Rule, Severity
from .map_kernel import KERNEL


def check(view: KernelView) -> Hits:
    for one in view.get(DeviceMaps).contract.disagreements:
        if one.topic is Topic.ROOM:
            related = ((one.other, "the copy"),) if one.other >= 0 else ()
            yield Hit(one.point, one.text, related)


RULE = Rule(
    id="TD064",
    name="box-exceeds-shared-buffer",
    severity=Severity.UNDEFINED,
    since="0.1",
    section="PTX ISA 5.5.3",
    summary="The box of a tensor map fills more shared memory than there is for it.",
    consequence="The copy overwrites what follows: another stage, another variable, a barrier.",
    advice="Size stages by the box; under a swizzle every row takes a whole span.",
    example=KERNEL.variant("""
-     .shared .align 1024 .b8 tile[4096];
+     .shared .align 1024 .b8 tile[8192];

      cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes // expect: TD064
"""),
    check=check,
)
