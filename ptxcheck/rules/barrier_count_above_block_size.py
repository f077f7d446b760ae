"""A named barrier that waits for more threads than the block has.

Checks: counts, through registers, against the block: `.reqntid`, `.maxntid`, or the stated launch, rounded up to whole
warps.
Why: the barrier never completes; ptxas accepts it. Source: PTX ISA 9.7.14.1; ptxas 13.0 accepts `bar.sync 1, 96` with
`.reqntid 64`.
Not checked: arrivals alone (nobody waits there).
"""

from ..opcodes.op import Op
from ..protocols.typestate.named_barrier import NamedBarriers
from .rule import Hit, Hits, KernelView, Property, Rule, Severity, sm_90a

WARP = 32


def check(view: KernelView) -> Hits:
    limit = view.launch.max_threads
    if limit is None:
        return
    limit = (limit + WARP - 1) // WARP * WARP
    for site in view.get(NamedBarriers).sites:
        count = view.body.instructions[site.point].get("threads")
        if count is None or site.op is Op.BAR_ARRIVE:
            continue
        low, _ = view.facts.range(site.point, count)
        if low > limit:
            yield Hit(site.point, f"the barrier waits for {low} threads; a block has at most {limit}")


RULE = Rule(
    id="NB003",
    name="barrier-count-above-block-size",
    severity=Severity.HANG,
    section="PTX ISA 9.7.14.1",
    summary="The barrier waits for more threads than the block can have.",
    consequence="Every thread that waits there hangs.",
    advice="Correct the count, or the launch bounds.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128
-     bar.sync 1, 160; // expect: NB003
+     bar.sync 1, 128;
      ret;
"""),
    check=check,
    approximates=(Property.DEADLOCK_FREEDOM,),
)
