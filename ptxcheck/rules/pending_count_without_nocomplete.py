"""A pending count read from a state that does not hold one.

Checks: the definitions of the state operand, copies looked through.
Why: only the state of an arrival with `.noComplete` may be asked for the pending count.
Not checked: states from memory, parameters or calls.
"""

from ..ir import Register
from ..isa.modifier import Mod
from ..opcodes.op import Op
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a

_DEPTH = 4


def check(view: KernelView) -> Hits:
    for point, instruction in enumerate(view.body.instructions):
        if instruction.operation.op is not Op.MBARRIER_PENDING_COUNT:
            continue
        arrivals = _arrivals(view, point, "state", _DEPTH)
        if arrivals and not view.facts.never_runs(point):
            related = tuple((arrival, "this arrival has no .noComplete") for arrival in arrivals)
            yield Hit(point, "the state does not come from an arrival with .noComplete", related)


def _arrivals(view: KernelView, point: int, operand: str, depth: int) -> tuple[int, ...]:
    """Return the arrivals without `.noComplete` that a state comes from; empty when it may be another."""
    register = view.body.instructions[point].get(operand)
    sources = view.facts.definitions(point, register) if isinstance(register, Register) else ()
    found: list[int] = []
    for source in sources:
        operation = view.body.instructions[source].operation
        if operation.op is Op.MOV and depth:
            behind = _arrivals(view, source, "a", depth - 1)
        else:
            plain = operation.op in (Op.MBARRIER_ARRIVE, Op.MBARRIER_ARRIVE_DROP)
            behind = (source,) if plain and not operation.has(Mod.NO_COMPLETE) else ()
        if not behind:
            return ()
        found.extend(behind)
    return tuple(found)


RULE = Rule(
    id="MB014",
    name="pending-count-without-nocomplete",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.14.16.20",
    summary="The pending count is read from the state of an arrival without `.noComplete`.",
    consequence="The number is undefined.",
    advice="Add `.noComplete` to the arrival, where its count cannot complete the phase, or do not ask for the count.",
    example=sm_90a("""
  ()
      .shared .align 8 .b64 bar;
      .shared .align 4 .b32 left;
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra READY;
-     mbarrier.init.shared::cta.b64 [bar], 1;
+     mbarrier.init.shared::cta.b64 [bar], 2;
  READY:
      bar.sync 0;
      @%p0 bra DONE;
-     mbarrier.arrive.shared::cta.b64 %rd0, [bar];
+     mbarrier.arrive.noComplete.shared::cta.b64 %rd0, [bar], 1;
      mbarrier.pending_count.b64 %r1, %rd0;  // expect: MB014
      st.shared.u32 [left], %r1;
  DONE:
      ret;
"""),
    check=check,
)
