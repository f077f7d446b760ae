"""Shared memory that a thread writes and then has copied, with no proxy fence between.

Checks: stores, matrix stores, atomics and `cp.async` of bytes that the same thread's bulk or tensor copy reads, on a
path with no `fence.proxy.async` that covers shared memory.
Why: bulk copies read through the async proxy. Barriers and mbarriers order the threads, but not the proxies. Source:
PTX ISA 8.6 and 9.7.9.26.2.
Not checked: bytes that other threads write; operands of wgmma and tcgen05; bytes of a box beyond the first 16.
"""

from ..protocols.typestate.proxies import Between, find_crossings
from .protocol_kernels import STORE
from .rule import Hit, Hits, KernelView, Property, Rule, Severity


def check(view: KernelView) -> Hits:
    for crossing in view.get(find_crossings):
        if crossing.between is Between.NOTHING and not crossing.is_global:
            message = "bytes that this reads were written by ordinary stores with no fence.proxy.async since"
            yield Hit(crossing.read, message, related=((crossing.write, "the write"),))


RULE = Rule(
    id="PX001",
    name="missing-proxy-fence",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.9.26.2",
    summary="Ordinary writes of shared memory are read by an asynchronous copy with no proxy fence.",
    consequence="The copy may read what was there before.",
    advice="Execute fence.proxy.async.shared::cta in every writing thread, then the barrier, then the copy.",
    example=STORE.variant("""
+     fence.proxy.async.shared::cta;

      cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 512; // expect: PX001
"""),
    check=check,
    approximates=(Property.SLOT_SAFETY,),
)
