"""A thread count of a named barrier that is no multiple of 32, or an arrival for zero threads.

Checks: the count of every `bar` and `barrier` instruction, through registers; ptxas looks at literals alone.
Why: barriers count whole warps. A count of 48 for the threads of `if (tid < 48)` never matches what arrives
(tile-ai/tilelang 4aea435ba). Source: PTX ISA §9.7.14.1: "the number of threads must be a multiple of the warp size";
arrive needs a count above zero.
Not checked: counts that come from parameters or memory.
"""

from ..opcodes.op import Op
from ..protocols.typestate.named_barrier import NamedBarriers
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a

WARP = 32


def check(view: KernelView) -> Hits:
    for site in view.get(NamedBarriers).sites:
        count = view.body.instructions[site.point].get("threads")
        if count is None:
            continue
        value = view.facts.value(site.point, count)
        if value.divisible(WARP) is False:
            yield Hit(site.point, f"thread count {value} is not a multiple of {WARP}")
        elif value.constant == 0 and site.op is Op.BAR_ARRIVE:
            yield Hit(site.point, "an arrival needs a thread count above zero")


RULE = Rule(
    id="NB002",
    name="barrier-count-not-multiple-of-warp",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.14.1",
    summary="The count of a named barrier is no multiple of the warp size, or an arrival for no thread.",
    consequence="The behaviour is undefined: the barrier completes early, or never.",
    advice="Round the count up to whole warps and let whole warps arrive.",
    example=sm_90a("""
- (.param .u64 out) .reqntid 128
+ (.param .u64 out) .reqntid 64
-     mov.b32 %r1, 48;
+     mov.b32 %r1, 64;
      bar.sync 1, %r1; // expect: NB002
      ret;
"""),
    check=check,
)
