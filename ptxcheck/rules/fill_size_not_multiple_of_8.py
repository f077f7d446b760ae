"""`st.bulk` of a size that is no multiple of 8 bytes.

Checks: the size of `st.bulk`, followed through registers.
Why: the size must be a multiple of 8; ptxas looks at literals only. Source: PTX ISA §9.7.9.14.
Not checked: literals, which ptxas rejects; sizes that are not known.
"""

from ..ir import Immediate
from ..opcodes.op import Op
from .example import sm_100a
from .rule import Hit, Hits, KernelView, Rule, Severity

_UNIT = 8


def check(view: KernelView) -> Hits:
    for point, instruction in enumerate(view.cfg.instructions):
        size = instruction.get("size") if instruction.operation.op is Op.ST_BULK else None
        if size is None or isinstance(size, Immediate) or view.facts.never_runs(point):
            continue
        value = view.facts.value(point, size)
        if value.divisible(_UNIT) is False:
            known = "" if value.constant is None else f" ({value.constant})"
            yield Hit(point, f"the size{known} is not a multiple of {_UNIT} bytes")


RULE = Rule(
    id="SM028",
    name="fill-size-not-multiple-of-8",
    severity=Severity.UNDEFINED,
    since="0.2",
    section="PTX ISA §9.7.9.14",
    summary="The size of `st.bulk` is not a multiple of 8.",
    consequence="The behaviour is undefined: a fault, or bytes that are not set.",
    advice="Round the size up to 8 bytes and pad the buffer, or set the rest with ordinary stores.",
    example=sm_100a("""
  (.param .u64 out) .reqntid 32
      .shared .align 16 .b8 tile[512];
-     mov.u64 %rd1, 508;
+     mov.u64 %rd1, 512;
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra SET;
      st.bulk.weak.shared::cta [tile], %rd1, 0; // expect: SM028
  SET:
      bar.sync 0;
      ld.shared.u32 %r1, [tile];
      ld.param.u64 %rd0, [out];
      st.global.u32 [%rd0], %r1;
      ret;
"""),
    of_form=True,
    check=check,
)
