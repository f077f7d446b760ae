"""An instruction whose name PTX does not have.

Checks: every instruction against the table of all mnemonics.
Why: ptxas rejects the module. Source: PTX ISA chapter 9.7 and its version notes.
Not checked: modules of a PTX ISA version newer than the table.
"""

from ..isa.suggestions import nearest_opcode
from ..protocols.typestate.legality import NEWEST_VERSION, is_unknown
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    if view.module.version > NEWEST_VERSION:
        return
    for point, instruction in enumerate(view.body.instructions):
        if is_unknown(instruction.operation):
            text = instruction.operation.text
            near = nearest_opcode(text)
            meant = f"; did you mean '{near}'?" if near else ""
            yield Hit(point, f"PTX has no instruction '{text}'{meant}")


RULE = Rule(
    id="PT001",
    name="unknown-instruction",
    severity=Severity.ERROR,
    section="PTX ISA §9.7",
    summary="The instruction is not one of PTX.",
    consequence="ptxas rejects the module, and so does the driver when it compiles it at load time.",
    advice="Correct the spelling; opcodes and modifiers are in lower case and separated by dots.",
    example=sm_90a("""
  (.param .u64 out)
      mov.b32 %r1, 7;
-     addd.s32 %r2, %r1, 1; // expect: PT001
+     add.s32 %r2, %r1, 1;
      ret;
"""),
    check=check,
)
