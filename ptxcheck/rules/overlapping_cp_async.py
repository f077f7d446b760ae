"""Two `cp.async` of one thread into the same bytes with no wait between them.

Checks: pairs of copies, and copies in loops, whose destinations surely overlap, on a path with no wait that may cover
the first.
Why: copies are not ordered among each other; two that write one place in one group are undefined.
Not checked: other threads; addresses that are not surely the same.
"""

from ..protocols.typestate.async_bytes import AsyncBytes
from ..protocols.typestate.copy_groups import small_groups
from .copy_kernels import CP_ASYNC
from .rule import Hit, Hits, KernelView, Property, Rule, Severity


def check(view: KernelView) -> Hits:
    if not view.get(small_groups).copies:
        return
    copies = view.get(AsyncBytes).small_copies
    for slip in view.get(small_groups).first_touched({one.point: one for one in copies}, copies):
        message = "this writes bytes of a copy that is still pending; either may win"
        yield Hit(slip.point, message, related=((slip.copy, "the other copy"),))


RULE = Rule(
    id="CA007",
    name="overlapping-cp-async",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.9.26.3.2",
    summary="Two pending cp.async write the same bytes.",
    consequence="Which bytes stay is undefined.",
    advice="Wait for the first copy before the second, or copy to another place.",
    example=CP_ASYNC.variant("""
=     .shared .align 128 .b8 tile[512];
      .shared .align 128 .b8 tile[1024];

=     cp.async.ca.shared.global [%r1], [%rd0], 16;
      cp.async.ca.shared.global [%r1], [%rd0], 16;
-     cp.async.ca.shared.global [%r1+8], [%rd0+32], 8; // expect: CA007
+     cp.async.ca.shared.global [%r1+512], [%rd0+32], 8;
"""),
    check=check,
    approximates=(Property.SLOT_SAFETY,),
)
