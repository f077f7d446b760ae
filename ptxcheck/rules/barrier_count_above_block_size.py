"""A named barrier that waits for more threads than the block has.

Checks: counts, through registers, against the block: `.reqntid`, `.maxntid`, or the stated launch, rounded up to whole
warps. A thread that arrives and then waits counts twice.
Why: the barrier never completes; ptxas accepts it. Source: PTX ISA §9.7.14.1; ptxas 13.0 accepts `bar.sync 1, 96` with
`.reqntid 64`.
Not checked: arrivals alone (nobody waits there); arrivals in a loop with no wait at the same barrier.
"""

from ..opcodes.op import Op
from ..protocols.typestate.divergence import WARP
from ..protocols.typestate.named_barrier import NamedBarriers
from .rule import Hit, Hits, KernelView, Property, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    limit = view.launch.max_threads
    if limit is None:
        return
    limit = (limit + WARP - 1) // WARP * WARP
    barriers = view.get(NamedBarriers)
    for site in barriers.sites:
        count = view.body.instructions[site.point].get("threads")
        if count is None or site.op is Op.BAR_ARRIVE:
            continue
        low, _ = view.facts.range(site.point, count)
        most = barriers.most_of_a_round(site.number, limit)
        if most is not None and low > most:
            again = "" if most == limit else f", and {most} with arrivals of those that wait as well"
            yield Hit(site.point, f"the barrier waits for {low} threads; a block has at most {limit}{again}")


RULE = Rule(
    id="NB003",
    name="barrier-count-above-block-size",
    severity=Severity.HANG,
    section="PTX ISA §9.7.14.1",
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
