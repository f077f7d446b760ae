"""A buffer or tensor map that is changed while a bulk copy may still read it.

Checks: stores, `cp.async` and copies into the source of a bulk copy, and changes of its tensor map, on a path of the
thread that started it with no wait that may cover it.
Why: the source must not change until the copy has read it; only a wait of the same thread tells.
Not checked: other threads; addresses that are not surely the same.
"""

from ..protocols.typestate.async_bytes import AsyncBytes
from ..protocols.typestate.copy_groups import bulk_groups
from ..protocols.typestate.tensor_map_updates import in_flight
from .copy_kernels import BULK_STORE
from .rule import Hit, Hits, KernelView, Property, Rule, Severity


def check(view: KernelView) -> Hits:
    if not view.get(bulk_groups).copies:
        return
    read = {one.point: one for one in view.get(AsyncBytes).copied_from_shared}
    writes = (*view.get(AsyncBytes).shared_writes, *view.get(AsyncBytes).copied_to_shared)
    told = set()
    for slip in view.get(bulk_groups).first_touched(read, writes):
        told.add(slip.point)
        message = "this overwrites what a bulk copy may still read: the thread has not waited for it"
        yield Hit(slip.point, message, related=((slip.copy, "the copy"),))
    for point, copy in in_flight(view):
        if point not in told:
            told.add(point)
            message = "this changes a tensor map that a copy may still read: the thread has not waited for it"
            yield Hit(point, message, related=((copy, "the copy"),), is_beyond=True)


RULE = Rule(
    id="BG012",
    name="bulk-source-overwritten",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.9.26.1",
    summary="The source of a pending bulk copy, or its tensor map, is overwritten.",
    consequence="The copy writes a mixture of old and new bytes.",
    advice=(
        "Execute cp.async.bulk.wait_group.read in the thread that started the copy before the buffer is written again."
    ),
    example=BULK_STORE.variant("""
=     @%p0 bra DONE;
      @%p0 bra DONE;
      st.shared.u32 [tile], %r0;

=     cp.async.bulk.global.shared::cta.bulk_group [%rd0], [tile], 512;
      cp.async.bulk.global.shared::cta.bulk_group [%rd0], [tile], 512;
      cp.async.bulk.commit_group;
+     cp.async.bulk.wait_group.read 0;
      st.shared.u32 [tile], 1; // expect: BG012
      fence.proxy.async.shared::cta;
      cp.async.bulk.global.shared::cta.bulk_group [%rd0+512], [tile], 512;
"""),
    check=check,
    approximates=(Property.SLOT_SAFETY,),
)
