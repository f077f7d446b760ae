"""A change of a tensor map that a load may still read.

Checks: changes of maps in global memory behind a load with the same map, where nothing on the way could wait
for it.
Why: the map must not change while a copy that uses it is outstanding. Stores are looked at by BG012.
Source: PTX ISA 9.7.9.26.1.
Not checked: whether a wait on the way is for the right barrier and phase.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...descriptors.device.flaws import FlawKind, device_flaws
from ...finding import Severity
from ...view import KernelView
from ..rule import Hit, Rule
from .map_kernel import changed

_BAD = changed(
    (
        "        [tile], [%rd0, {%r1, %r1}], [bar];",
        """\
        [tile], [%rd0, {%r1, %r1}], [bar];
    tensormap.replace.tile.global_address.global.b1024.b64 [%rd0], %rd0; // expect: TD057
    fence.proxy.tensormap::generic.release.gpu;""",
    ),
)

_GOOD = changed(
    (
        "WAIT:",
        "WAIT0:",
    ),
    (
        "    @!%p1 bra WAIT;",
        """\
    @!%p1 bra WAIT0;
    tensormap.replace.tile.global_address.global.b1024.b64 [%rd0], %rd0;
    fence.proxy.tensormap::generic.release.gpu;""",
    ),
)


def check(view: KernelView) -> Iterator[Hit]:
    for flaw in view.get(device_flaws):
        if flaw.kind is FlawKind.REUSED:
            yield Hit(flaw.point, flaw.text, flaw.related)


RULE = Rule(
    id="TD057",
    name="map-changed-under-load",
    severity=Severity.UNDEFINED,
    since="0.1",
    section="PTX ISA 9.7.9.26.1",
    summary="A tensor map is changed while a load that reads it is under way.",
    consequence="The load may read the new map, or a mixture.",
    advice="Wait on the mbarrier of the load before changing its map.",
    bad=_BAD,
    good=_GOOD,
    check=check,
)
