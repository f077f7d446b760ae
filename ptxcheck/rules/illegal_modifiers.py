"""Modifiers that an instruction does not take, or not together.

Checks: that some form of the instruction takes the modifiers as written.
Why: ptxas rejects the module. Source: the syntax lines of PTX ISA chapter 9.7.
Not checked: modules of a PTX ISA version newer than the table.
"""

from ..isa.suggestions import nearest_opcode
from ..protocols.typestate.legality import NEWEST_VERSION, is_unknown, modifiers_fit
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    if view.module.version > NEWEST_VERSION:
        return
    for point, instruction in enumerate(view.body.instructions):
        operation = instruction.operation
        if operation.form is None and not is_unknown(operation) and not modifiers_fit(operation.text):
            near = nearest_opcode(operation.text)
            meant = f"; did you mean '{near}'?" if near else ""
            yield Hit(
                point, (operation.problem or f"no form of the instruction is '{operation.text}'") + meant
            )


RULE = Rule(
    id="PT002",
    name="illegal-modifiers",
    severity=Severity.ERROR,
    section="PTX ISA §9.7",
    summary="The instruction does not take these modifiers, or not together.",
    consequence="ptxas rejects the module.",
    advice="Compare with the forms that the PTX ISA lists for the instruction.",
    example=sm_90a("""
  (.param .u64 out)
      mov.b32 %r1, 7;
-     add.b32 %r2, %r1, 1; // expect: PT002
+     add.u32 %r2, %r1, 1;
      ret;
"""),
    check=check,
)
