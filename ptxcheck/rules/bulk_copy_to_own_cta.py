"""A bulk copy from shared memory to shared memory of the same CTA.

Checks: destinations of copies between CTAs that are surely the executing CTA's own memory, also by verification of the
whole kernel.
Why: such a copy goes to another CTA of the cluster.
Not checked: without that, ranks that are computed in other ways than from the CTA's own.
"""

from ..isa.modifier import Mod
from ..opcodes.op import Op
from ..protocols.model.outcome import Flaw
from ..protocols.typestate.places import Owner, Places
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a
from .violations import Beside, of_flaws


def check(view: KernelView) -> Hits:
    for point, instruction in enumerate(view.cfg.instructions):
        operation = instruction.operation
        between = operation.slots.get("src_space") == Mod.SHARED_CTA
        if (
            operation.op not in _COPIES
            or not between
            or operation.slots.get("dst_space") != Mod.SHARED_CLUSTER
        ):
            continue
        place = view.get(Places).of(point, instruction["dst"])
        if place is not None and place.owner is Owner.OWN and not view.facts.never_runs(point):
            yield Hit(point, f"the destination {place} is in the executing CTA, not in another one")


_COPIES = frozenset({Op.CP_ASYNC_BULK, Op.CP_REDUCE_ASYNC_BULK})


RULE = Rule(
    id="BG008",
    name="bulk-copy-to-own-cta",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.9.26.4.1",
    summary="A bulk copy between CTAs has its destination in the executing CTA.",
    consequence="The behaviour is undefined.",
    advice="Map the destination and the mbarrier to another CTA with mapa, or copy with ordinary loads and stores.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128 .reqnctapercluster 2
      .shared .align 128 .b8 tile[512];
      .shared .align 8 .b64 bar;
      .shared .align 128 .b8 source[512];
      ld.param.u64 %rd0, [out];
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra DONE;
      mbarrier.init.shared::cta.b64 [bar], 1;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
      mov.u32 %r1, tile;
      mov.u32 %r2, bar;
      mov.u32 %r3, %cluster_ctarank;
      xor.b32 %r3, %r3, 1;
      mapa.shared::cluster.u32 %r4, %r1, %r3;
      mapa.shared::cluster.u32 %r5, %r2, %r3;
      fence.proxy.async.shared::cta;
-     cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes // expect: BG008
-         [%r1], [source], 512, [%r5];
+     cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r4], [source], 512, [%r5];
  WAIT:
      mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
      @!%p1 bra WAIT;
  DONE:
      ret;
"""),
    check=Beside(check, of_flaws(Flaw.COPY_TO_OWN_CTA), _COPIES),
)
