"""A map that other threads changed, used with no acquire fence by anybody.

Checks: copies through maps that other threads of the block made, on all paths of which nobody acquired the map since.
PX004 looks at a thread's own changes.
Why: copies read maps through a proxy of its own; a barrier alone does not reach it.
Source: PTX ISA 9.7.14.4 and 9.7.14.17.
Not checked: maps that other blocks or kernels changed.
"""

from ...descriptors.device.flaws import FlawKind
from ...descriptors.device.flow import DeviceMaps
from ..rule import Hit, Hits, KernelView, Rule, Severity
from .map_kernel import KERNEL


def check(view: KernelView) -> Hits:
    for flaw in view.get(DeviceMaps).flaws:
        if flaw.kind is FlawKind.UNACQUIRED:
            yield Hit(flaw.point, flaw.text, flaw.related)


RULE = Rule(
    id="TD058",
    name="missing-tensormap-acquire",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 9.7.14.4",
    summary="A tensor map that other threads changed is used with no acquire of the tensormap proxy.",
    consequence="The copy may use the old map, or a mixture.",
    advice="Execute fence.proxy.tensormap::generic.acquire on the map behind the barrier, before the copy.",
    example=KERNEL.variant("""
= .visible .entry kernel(.param .u64 workspace, .param .u64 source) .reqntid 32
  .visible .entry kernel(.param .u64 workspace, .param .u64 source) .reqntid 64

=     mov.u32 %r1, 0;
      mov.u32 %r1, 0;
      setp.ge.u32 %p2, %r0, 32;
      @%p2 bra SYNC;

=     fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;
=     @%p0 bra DONE;
  SYNC:
      bar.sync 0;
      setp.ne.u32 %p3, %r0, 32;
      @%p3 bra DONE;
+     fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;

      cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes // expect: TD058
"""),
    check=check,
)
