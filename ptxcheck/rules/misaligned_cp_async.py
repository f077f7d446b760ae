"""A `cp.async` whose addresses are no multiples of its size.

Checks: destination and source; the destination also thread by thread where the block is known.
Why: both must be aligned to the 4, 8 or 16 bytes copied; ptxas does not look at addresses. Source: PTX ISA §6.4.1 and
9.7.9.26.3.1.
Not checked: pointers that the kernel gets as parameters and does not change.
"""

from ..opcodes.op import Op
from ..protocols.typestate.alignment import misaligned
from ..protocols.typestate.copy_groups import small_groups
from ..protocols.typestate.shared_access import find_shared_accesses
from .copy_kernels import CP_ASYNC
from .rule import Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    for access in view.get(find_shared_accesses) if view.get(small_groups).copies else ():
        instruction = view.cfg.instructions[access.point]
        if instruction.operation.op is not Op.CP_ASYNC:
            continue
        wrong = view.facts.is_multiple(access.point, instruction["dst"], access.size) is False
        where = "it" if wrong else None
        if access.place is not None:
            where = misaligned(view, access, access.size)
        if where is not None:
            yield Hit(access.point, f"the destination is not a multiple of {access.size}: {where}")
        elif view.facts.is_multiple(access.point, instruction["src"], access.size) is False:
            yield Hit(access.point, f"the source is not a multiple of {access.size}, the bytes copied")


RULE = Rule(
    id="CA001",
    name="misaligned-cp-async",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.9.26.3.1",
    summary="An address of cp.async is not aligned to the bytes copied.",
    consequence="The copy faults.",
    advice="Align both addresses to the copy size, or copy 4 or 8 bytes at a time.",
    example=CP_ASYNC.variant("""
=     cp.async.ca.shared.global [%r1], [%rd0], 16;
-     cp.async.ca.shared.global [%r1+4], [%rd0], 8; // expect: CA001
+     cp.async.ca.shared.global [%r1+8], [%rd0], 8;

=     ld.shared.u32 %r3, [%r1];
-     ld.shared.u32 %r3, [%r1+4];
+     ld.shared.u32 %r3, [%r1+8];
"""),
    of_form=True,
    check=check,
)
