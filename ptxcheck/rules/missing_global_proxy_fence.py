"""Global memory that a thread writes and then has copied, with no proxy fence between.

Checks: stores and atomics of bytes that the same thread's bulk copy reads, on a path with no `fence.proxy.async` that
covers global memory.
Why: bulk copies read through the async proxy, also global memory that the same kernel has written.
Source: PTX ISA 8.6 and 9.7.14.4.
Not checked: bytes that other threads write; tensor copies, whose addresses are in the tensor map.
"""

from ..protocols.typestate.proxies import Between, find_crossings
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for crossing in view.get(find_crossings):
        if crossing.between is Between.NOTHING and crossing.is_global:
            message = (
                "global memory that this reads was written by ordinary stores with no fence.proxy.async since"
            )
            yield Hit(crossing.read, message, related=((crossing.write, "the write"),))


RULE = Rule(
    id="PX003",
    name="missing-global-proxy-fence",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 9.7.14.4",
    summary="Ordinary writes of global memory are read by an asynchronous copy with no proxy fence.",
    consequence="The copy may read what was there before.",
    advice="Execute fence.proxy.async.global in every writing thread, then the barrier, then the copy.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128
      .shared .align 128 .b8 tile[512];
      .shared .align 8 .b64 bar;

      ld.param.u64 %rd0, [out];
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra DONE;
      st.global.v2.u64 [%rd0], {%rd0, %rd0};
+     fence.proxy.async.global;

      mbarrier.init.shared::cta.b64 [bar], 1;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
-     cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes // expect: PX003
-         [tile], [%rd0], 512, [bar];
+     cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd0], 512, [bar];
  WAIT:
      mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
      @!%p1 bra WAIT;
  DONE:
      ret;
"""),
    check=check,
)
