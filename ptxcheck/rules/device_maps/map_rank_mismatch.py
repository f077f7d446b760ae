"""A copy and a tensor map of different ranks.

Checks: copies through maps that the kernel makes, or that are described with --tensor-map.
Why: the rank of the instruction must be that of the map; ptxas does not know the map.
Not checked: maps that are not known.
"""

from ...descriptors.agreement import Topic
from ...descriptors.contract import Contract
from ...descriptors.device.flaws import FlawKind, device_flaws
from ..rule import Hit, Hits, KernelView, Rule, Severity
from .map_kernel import KERNEL


def check(view: KernelView) -> Hits:
    told = {
        point for flaw in view.get(device_flaws) if flaw.kind is FlawKind.RANK for point, _ in flaw.related
    }
    for one in view.get(Contract).disagreements:
        if one.topic is Topic.RANK and one.point not in told:
            yield Hit(one.point, one.text)


RULE = Rule(
    id="TD060",
    name="map-rank-mismatch",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.9.26.5.2",
    summary="A copy gives another number of coordinates than its tensor map has dimensions.",
    consequence="The copy faults.",
    advice="Make the map and the copy of one rank.",
    example=KERNEL.variant("""
-     cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes // expect: TD060
-         [tile], [%rd0, {%r1, %r1, %r1}], [bar];
+     cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
+         [tile], [%rd0, {%r1, %r1}], [bar];
"""),
    check=check,
)
