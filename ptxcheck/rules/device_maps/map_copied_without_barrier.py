"""A tensor map that one thread makes in shared memory and a warp copies out, with nothing where they meet.

Checks: `tensormap.cp_fenceproxy` of a map of which one thread has replaced a field, with no barrier of the warp or the
block on any way between the two; and a field that one thread replaces where others have stored zeros before.
Why: `.sync` lets the lanes of the warp wait for each other, and orders no access of one lane for another, as a barrier
does. CUTLASS and Triton have `bar.warp.sync` there.
Source: PTX ISA 9.7.14.2 (`bar.warp.sync` guarantees memory ordering), 9.7.14.17.
Not checked: maps whose place was not followed, and maps that several threads make.
"""

from ...descriptors.device.flaws import FlawKind
from ...descriptors.device.flow import DeviceMaps
from ..rule import Hit, Hits, KernelView, Rule, Severity
from .map_kernel import KERNEL


def check(view: KernelView) -> Hits:
    for flaw in view.get(DeviceMaps).flaws:
        if flaw.kind is FlawKind.UNMET:
            yield Hit(flaw.point, flaw.text, flaw.related)


RULE = Rule(
    id="TD067",
    name="map-copied-without-barrier",
    severity=Severity.WRONG_RESULT,
    since="0.2",
    section="PTX ISA 9.7.14.2, 9.7.14.17",
    summary="Threads take turns in making a tensor map, with no barrier between.",
    consequence="Lanes may copy what was there before a change, or clear the field behind it.",
    advice="Put `bar.warp.sync` (`__syncwarp`) before the first `tensormap.replace` and behind the last.",
    example=KERNEL.variant("""
+     bar.warp.sync -1;
-     // expect: TD067
      tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd0], [map], 128;
"""),
    check=check,
)
