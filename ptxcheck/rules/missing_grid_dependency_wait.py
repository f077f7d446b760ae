"""A kernel of a programmatic dependent launch that reads global memory before `griddepcontrol.wait`.

Checks: kernels that use `griddepcontrol`: a path from the entry to a load from global memory without the wait.
Why: only the wait orders the kernel behind its predecessor. It was missing on one of two paths in
Dao-AILab/flash-attention 3a7694c0 and altogether in NVIDIA/cutlass #2760.
Not checked: whether the bytes come from the predecessor. Reading weights early is legal and common, so the rule claims
no more than "possible".
"""

from ..opcodes.op import Op
from ..protocols.typestate.paths import Paths, Query
from .rule import Confidence, Hit, Hits, KernelView, Rule, Severity, sm_90a

_USES = frozenset({Op.GRIDDEPCONTROL_WAIT, Op.GRIDDEPCONTROL_LAUNCH_DEPENDENTS})


_LOADS = frozenset({Op.LD, Op.LD_NC, Op.CP_ASYNC})


def check(view: KernelView) -> Hits:
    instructions = view.body.instructions
    if not view.function.is_entry or not any(i.operation.op in _USES for i in instructions):
        return
    waits = frozenset(p for p, i in enumerate(instructions) if i.operation.op is Op.GRIDDEPCONTROL_WAIT)
    for point, instruction in enumerate(instructions):
        from_global = instruction.operation.slots.get("space") == ".global"
        if instruction.operation.op not in _LOADS or not (
            from_global or instruction.operation.op is Op.CP_ASYNC
        ):
            continue
        if view.get(Paths.of).find(Query(None, frozenset({point}), waits)) is not None:
            message = "global memory is read here before griddepcontrol.wait on some path"
            yield Hit(point, message, confidence=Confidence.POSSIBLE)
            return


RULE = Rule(
    id="PT011",
    name="missing-grid-dependency-wait",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA 9.7.14.14",
    summary="Global memory is read on a path without griddepcontrol.wait.",
    consequence="The kernel may read what its predecessor has not written yet.",
    advice="Execute griddepcontrol.wait before the first read of the predecessor's results, on every path.",
    example=sm_90a("""
  (.param .u64 in) .reqntid 128
      ld.param.u64 %rd1, [in];
      cvta.to.global.u64 %rd2, %rd1;
+     griddepcontrol.wait;
      ld.global.b32 %r1, [%rd2]; // expect: PT011
-     griddepcontrol.wait;
      griddepcontrol.launch_dependents;
      ret;
"""),
    check=check,
    confidence=Confidence.POSSIBLE,
)
