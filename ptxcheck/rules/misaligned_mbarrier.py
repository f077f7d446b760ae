"""An mbarrier at an address that is no multiple of 8.

Checks: the address of every mbarrier operand, also of copies and commits that signal one.
Why: the object is a 64-bit word that must be 8-byte aligned; ptxas does not look at addresses.
Not checked: variables declared with less than 8-byte alignment, which may still lie at a multiple of 8.
"""

from ..protocols.typestate.barriers import find_barriers
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for use in view.get(find_barriers).uses:
        address = view.facts.value(use.point, view.body.instructions[use.point][use.operand])
        if address.divisible(8) is False:
            where = f"{use.place} is" if use.place is not None else "the address is"
            yield Hit(use.point, f"{where} not a multiple of 8, as an mbarrier must be")


RULE = Rule(
    id="MB002",
    name="misaligned-mbarrier",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.14.16.1",
    summary="An mbarrier operand is not 8-byte aligned.",
    consequence="The instruction faults or works on a wrong word.",
    advice="Declare the storage with 8-byte alignment and place barriers at multiples of 8 in it.",
    example=sm_90a("""
  ()
      .shared .align 16 .b8 storage[32];
      mov.u32 %r0, %tid.x;
      mov.u32 %r1, storage;
-     add.u32 %r2, %r1, 4;
+     add.u32 %r2, %r1, 8;
      setp.eq.u32 %p0, %r0, 0;
      @%p0 mbarrier.init.shared::cta.b64 [%r2], 1;  // expect: MB002
      bar.sync 0;
      ret;
"""),
    of_form=True,
    check=check,
)
