"""Global memory that a thread writes and then has copied, with no proxy fence between.

Checks: stores and atomics of bytes that the same thread's bulk copy reads, on a path with no `fence.proxy.async` that
covers global memory.
Why: bulk copies read through the async proxy, also global memory that the same kernel has written. Source: PTX ISA 8.6
and 9.7.14.4.
Not checked: bytes that other threads write; tensor copies, whose addresses are in the tensor map.
"""

from ..protocols.typestate.proxies import Between, find_crossings
from .copy_kernels import BULK_LOAD
from .rule import Hit, Hits, KernelView, Rule, Severity


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
    section="PTX ISA §9.7.14.4",
    summary="Ordinary writes of global memory are read by an asynchronous copy with no proxy fence.",
    consequence="The copy may read what was there before.",
    advice="Execute fence.proxy.async.global in every writing thread, then the barrier, then the copy.",
    example=BULK_LOAD.variant("""
=     mov.u32 %r1, tile;
      st.global.v2.u64 [%rd0], {%rd0, %rd0};
+     fence.proxy.async.global;
      mov.u32 %r1, tile;

      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0], %r2, [bar]; // expect: PX003
"""),
    check=check,
)
