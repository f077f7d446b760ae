"""One round of an aligned barrier that is completed from several instructions.

Checks: aligned `sync` sites of one number and count in branches of different warps, each with fewer threads than the
count.
Why: the older text of the manual asks that all threads of the block execute the same aligned barrier instruction;
compute-sanitizer reports it (mlc-ai/TIRx-kernels 011bdee, triton-lang/triton #11710). Hardware takes it when whole
warps arrive, and CUTLASS and FlashAttention rely on that, so the rule is pedantic.
Not checked: blocks of unknown size.
"""

from ..opcodes.op import Op
from ..opcodes.spec import Trait
from ..protocols.typestate.named_barrier import NamedBarriers, Site
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def _is_part(view: KernelView, barriers: NamedBarriers, site: Site) -> bool:
    threads, count = barriers.exact_threads(site), barriers.count_of(site)
    aligned = Trait.ALIGNED in view.body.instructions[site.point].operation.traits
    return aligned and site.op is not Op.BAR_ARRIVE and bool(threads and count and len(threads) < count)


def check(view: KernelView) -> Hits:
    barriers = view.get(NamedBarriers)
    parts = [site for site in barriers.sites if site.number is not None and _is_part(view, barriers, site)]
    for site in parts:
        for other in parts:
            same = (site.number, barriers.count_of(site)) == (other.number, barriers.count_of(other))
            mine, others = barriers.exact_threads(site), barriers.exact_threads(other)
            if not same or mine is None or others is None or len(mine & others):
                continue
            message = f"threads {mine} meet threads {others} at aligned barrier {site.number} from elsewhere"
            yield Hit(site.point, message, related=((other.point, "the other instruction"),))
            break


RULE = Rule(
    id="NB006",
    name="aligned-barrier-at-several-sites",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.14.1",
    summary="Warps meet at one aligned barrier through different instructions.",
    consequence="The manual leaves the behaviour undefined; compute-sanitizer reports it.",
    advice="Use barrier.sync without .aligned, with the same number and count.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128
      mov.u32 %r1, %tid.x;
      setp.ge.u32 %p1, %r1, 64;
      @%p1 bra $upper;
-     bar.sync 5, 128; // expect: NB006
+     barrier.sync 5, 128;
      bra.uni $done;
  $upper:
-     bar.sync 5, 128; // expect: NB006
+     barrier.sync 5, 128;
  $done:
      bar.sync 0;
      ret;
"""),
    check=check,
    pedantic=True,
)
