"""A cache hint at an address that is no multiple of 128.

Checks: `discard` and `applypriority`.
Why: both work on whole lines of 128 bytes; a discarded neighbour loses its data. Source: PTX ISA §9.7.9.16 and .18.
Not checked: addresses from parameters.
"""

from ..opcodes.op import Op
from .rule import Example, Hit, Hits, KernelView, Rule, Severity

_LINE = 128


_HINTS = frozenset({Op.DISCARD, Op.APPLYPRIORITY})


def check(view: KernelView) -> Hits:
    for point, instruction in enumerate(view.body.instructions):
        if instruction.operation.op not in _HINTS or view.facts.never_runs(point):
            continue
        if view.facts.is_multiple(point, instruction.operands[0], _LINE) is False:
            yield Hit(point, f"the address is not a multiple of {_LINE}")


RULE = Rule(
    id="SM004",
    name="misaligned-cache-hint",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.9.16",
    summary="The address of a discard or of a cache priority is not 128-byte aligned.",
    consequence="Undefined; a discard may destroy the data beside the intended line.",
    advice="Round the address to a multiple of 128.",
    example=Example("""
  .version 8.6
  .target sm_80
  .address_size 64

  .global .align 128 .b8 buffer[1024];

  .visible .entry kernel()
  {
      .reg .b64 %rd<8>;
      mov.u64 %rd0, buffer;
-     discard.global.L2 [%rd0+64], 128;  // expect: SM004
+     discard.global.L2 [%rd0+128], 128;
      ret;
  }
"""),
    check=check,
)
