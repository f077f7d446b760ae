"""A `wgmma.mma_async` that is in no group when its result is used, or when its thread ends.

Checks: feasible paths from a multiplication to an access to its accumulators, or to the end, with no
`wgmma.commit_group` between.
Why: `wgmma.wait_group` waits for groups; what was never committed is in none, so that no wait covers it.
"""

from ..protocols.typestate.wgmma import Wgmma
from .matrix_kernels import WGMMA
from .rule import Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    uses = {touch.site: touch for touch in reversed(view.get(Wgmma).touches) if touch.open}
    for site, touch in sorted(uses.items()):
        related = ((touch.point, f"{touch.register.name} is used here"),)
        yield Hit(site, "no wgmma.commit_group comes before the result is used", related=related)
    end = None if uses else view.get(Wgmma).uncommitted_end()
    if end is not None:
        yield Hit(end[0], "the thread ends with no wgmma.commit_group", related=((end[1], "the end"),))


RULE = Rule(
    id="WG002",
    name="uncommitted-wgmma",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.16.7.2",
    summary="A wgmma.mma_async is never put into a group by wgmma.commit_group.",
    consequence="No wait covers the multiplication: its result may be read before it is there.",
    advice="Execute wgmma.commit_group.sync.aligned after the last multiplication of each batch.",
    example=WGMMA.variant("""
      wgmma.fence.sync.aligned;
-     // expect: WG002

+     wgmma.commit_group.sync.aligned;
"""),
    check=check,
)
