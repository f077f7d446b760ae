"""A changed map of which the fences on the way acquire only its neighbours.

Checks: copies through changed maps, where every acquire of the kernel is of a map at another offset from the same
pointer.
Why: an acquire is about the 128 bytes that it names.
Not checked: fences whose address is not followed.
"""

from ...descriptors.device.flaws import FlawKind
from ...descriptors.device.flow import DeviceMaps
from ..rule import Hit, Hits, KernelView, Rule, Severity
from .map_kernel import KERNEL


def check(view: KernelView) -> Hits:
    for flaw in view.get(DeviceMaps).flaws:
        if flaw.kind is FlawKind.OTHER_ACQUIRED:
            yield Hit(flaw.point, flaw.text, flaw.related)


RULE = Rule(
    id="TD066",
    name="mismatched-tensormap-acquire",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 9.7.14.4",
    summary="The fences between the change of a tensor map and its use acquire other maps.",
    consequence="The copy may use the old map, or a mixture.",
    advice="Execute fence.proxy.tensormap::generic.acquire on the map that the copy uses.",
    example=KERNEL.variant("""
-     add.u64 %rd3, %rd0, 128;
-     fence.proxy.tensormap::generic.acquire.gpu [%rd3], 128;
+     fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;

      cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes // expect: TD066
"""),
    check=check,
)
