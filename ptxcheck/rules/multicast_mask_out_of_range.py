"""A multicast to CTAs that the cluster does not have, or to none.

Checks: bits of the mask that are surely set against the size of the cluster, and masks that are surely zero.
Why: bit i names the CTA of rank i; bytes for a CTA that does not exist, or for none, are never counted. Source: PTX
ISA 9.7.9.26.4.1 and 9.7.9.26.5.2.
Not checked: bits beyond the cluster where its size is not known.
"""

from ..opcodes.spec import Trait
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    size = view.launch.cluster_size
    for point, instruction in enumerate(view.cfg.instructions):
        mask = instruction.get("mask") if Trait.ASYNC in instruction.operation.traits else None
        if mask is None or view.facts.never_runs(point):
            continue
        value = view.facts.value(point, mask)
        beyond = 0 if size is None else value.ones & _BITS >> size << size
        if beyond:
            names = ", ".join(str(bit) for bit in range(beyond.bit_length()) if beyond >> bit & 1)
            yield Hit(point, f"the mask names CTA {names} of a cluster of {size}")
        elif value.constant is not None and not value.constant & _BITS:
            yield Hit(point, "the mask is zero: no CTA gets the bytes")


_BITS = 0xFFFF


RULE = Rule(
    id="BG007",
    name="multicast-mask-out-of-range",
    severity=Severity.HANG,
    section="PTX ISA §9.7.9.26.5.2",
    summary="The multicast mask names CTAs outside the cluster, or none.",
    consequence="The barrier of a CTA that waits for the bytes never completes.",
    advice="Set the bits of ranks from 0 to the size of the cluster minus 1.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128 .reqnctapercluster 2
      .reg .b16 %h<2>;
      .shared .align 128 .b8 tile[512];
      .shared .align 8 .b64 bar;
      ld.param.u64 %rd0, [out];
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra DONE;
-     mov.b16 %h0, 7;
+     mov.b16 %h0, 3;
      mbarrier.init.shared::cta.b64 [bar], 1;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster // expect: BG007
          [tile], [%rd0], 512, [bar], %h0;
  WAIT:
      mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
      @!%p1 bra WAIT;
  DONE:
      ret;
"""),
    check=check,
)
