"""Bytes of a `cp.async` that are read before anything waits for it.

Checks: loads, atomics and matrix loads of bytes that the same thread's `cp.async` writes, on a path with no wait that
may cover the copy.
Why: until a wait the destination holds old bytes, new ones, or some of each.
Not checked: other threads; addresses that are not surely the same.
"""

from ..protocols.typestate.async_bytes import AsyncBytes
from ..protocols.typestate.copy_groups import small_groups
from .copy_kernels import CP_ASYNC
from .rule import Hit, Hits, KernelView, Property, Rule, Severity


def check(view: KernelView) -> Hits:
    if not view.get(small_groups).copies:
        return
    copied = {one.point: one for one in view.get(AsyncBytes).small_copies}
    for slip in view.get(small_groups).first_touched(copied, view.get(AsyncBytes).shared_reads):
        message = "these bytes may not have arrived: the thread has not waited for their cp.async"
        yield Hit(slip.point, message, related=((slip.copy, "the copy"),))


RULE = Rule(
    id="CA003",
    name="read-before-cp-async-wait",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.9.26.3",
    summary="The destination of cp.async is read before the copy is waited for.",
    consequence="The thread reads old bytes.",
    advice="Commit the copy and wait for its group before the read; count the groups that the wait leaves open.",
    example=CP_ASYNC.variant("""
+     cp.async.wait_group 0;
      ld.shared.u32 %r3, [%r1]; // expect: CA003
-     cp.async.wait_group 0;
"""),
    check=check,
    approximates=(Property.SLOT_SAFETY,),
)
