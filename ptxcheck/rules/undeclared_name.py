"""A register, variable, label or function that nothing declares where it is used.

Checks: every name in an operand or guard, with the blocks that declare names; `.reg .b32 %r<4>` declares `%r0` to
`%r3`.
Why: ptxas rejects the module. Source: PTX ISA §4.4 (identifiers), 5.4.6 (parameterised names), 6.2.
Not checked: that the declaration stands above the use.
"""

from ..protocols.typestate.names import DeclaredNames
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for found in DeclaredNames(view.module, view.function).undeclared():
        yield Hit(found.point, found.reason)


RULE = Rule(
    id="PT006",
    name="undeclared-name",
    severity=Severity.ERROR,
    section="PTX ISA §5.4, 6.2",
    summary="Nothing declares this name in the block or around it.",
    consequence="ptxas rejects the module.",
    advice="Declare the name; for numbered registers raise the count in `<…>`.",
    example=sm_90a("""
  (.param .u64 out)
      mov.b32 %r3, 7;
-     mov.b32 %r24, %r3; // expect: PT006
+     mov.b32 %r4, %r3;
      ret;
"""),
    check=check,
)
