"""A name that one block, or the module, declares twice.

Checks: registers, variables, parameters and labels of each block, which share one set of names; functions and
variables of the module.
Why: ptxas rejects the module. Two inline-assembly blocks with the same label, without braces of their own, are the
usual cause: it shows only when the compiler unrolls or inlines. Source: PTX ISA §4.4; checked against ptxas 13.0.
Not checked: prototypes whose parameters differ.
"""

from ..protocols.typestate.names import DeclaredNames, duplicate_items
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for found in DeclaredNames(view.module, view.function).duplicates():
        yield Hit(found.point, f"'{found.name}' is declared before in this block", span=found.span)
    with_body = next((f for f in view.module.functions if f.body is not None), None)
    for item in duplicate_items(view.module) if with_body is view.function else ():
        yield Hit(0, f"'{item.name}' is defined before in this module", span=item.span)


RULE = Rule(
    id="PT007",
    name="duplicate-name",
    severity=Severity.ERROR,
    section="PTX ISA §4.4, 5.4",
    summary="The name is declared before in the same block.",
    consequence="ptxas rejects the module.",
    advice="Put inline assembly with labels or registers between braces, or use %= in label names.",
    example=sm_90a("""
  (.param .u64 out)
+     {
  WAIT:
      mov.b32 %r1, 7;
+     }
+     {
  WAIT: // expect: PT007
      mov.b32 %r2, 7;
+     }
      ret;
"""),
    check=check,
)
