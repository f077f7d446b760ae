"""Rules about bulk copies between CTAs, in runs of the whole kernel."""

from ...protocols.model.outcome import Flaw
from ..rule import Rule, Severity, sm_90a
from ..violations import of_flaws

RULES = (
    # Checks: for each copy into shared memory in a run, whether its mbarrier is in the CTA that it writes, or in its
    # pair with `.cta_group::2`.
    # Why: the copy completes its bytes on an mbarrier in the destination. Source: PTX ISA §9.7.9.26.4.1 (the mbarrier
    # object is in the same CTA shared memory as the destination).
    # Not checked: destinations and mbarriers that are not known.
    Rule(
        id="BG014",
        name="copy-signals-another-cta",
        severity=Severity.UNDEFINED,
        since="0.2",
        section="PTX ISA §9.7.9.26.4.1",
        summary="A bulk copy into one CTA of a cluster signals an mbarrier of another one.",
        consequence="Undefined: the receiver is not told, or the sender's mbarrier counts bytes that it never gets.",
        advice="Map the destination and the mbarrier to the same CTA with mapa.",
        example=sm_90a("""
  (.param .u64 out) .reqntid 128 .reqnctapercluster 2
      .shared .align 128 .b8 tile[512];
      .shared .align 8 .b64 bar;
      .shared .align 128 .b8 source[512];
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra READY;
      mbarrier.init.shared::cta.b64 [bar], 1;
      fence.mbarrier_init.release.cluster;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
  READY:
      barrier.cluster.arrive.release.aligned;
      barrier.cluster.wait.acquire.aligned;
      @%p0 bra DONE;
      mov.u32 %r1, tile;
      mov.u32 %r2, bar;
      mov.u32 %r3, %cluster_ctarank;
      xor.b32 %r3, %r3, 1;
      mapa.shared::cluster.u32 %r4, %r1, %r3;
      mapa.shared::cluster.u32 %r5, %r2, %r3;
-     cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes // expect: BG014
-         [%r4], [source], 512, [%r2];
+     cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r4], [source], 512, [%r5];
  WAIT:
      mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
      @!%p1 bra WAIT;
  DONE:
      barrier.cluster.arrive.release.aligned;
      barrier.cluster.wait.acquire.aligned;
      ret;
"""),
        check=of_flaws(Flaw.FOREIGN_SIGNAL),
    ),
)
