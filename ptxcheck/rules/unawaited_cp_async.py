"""A committed `cp.async` that no wait can cover.

Checks: copies after which no `wait_group` that leaves few enough groups open, no `wait_all` and no
`cp.async.mbarrier.arrive` is reachable.
Why: only these complete it; a barrier of the CTA does not.
Source: PTX ISA 9.7.9.26.3.
Not checked: device functions; paths that skip a wait which others take, as the last round of a prefetch does.
"""

from ..protocols.typestate.copy_groups import small_groups, wrong_waits
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_80


def check(view: KernelView) -> Hits:
    elsewhere = {slip.copy for slip in view.get(wrong_waits)}
    empty = [slip.point for slip in view.get(small_groups).without_effect()]
    for slip in view.get(small_groups).never_awaited():
        if slip.copy not in elsewhere and not any(view.cfg.reaches(slip.copy, wait) for wait in empty):
            related = ((slip.point, "the thread ends here"),)
            yield Hit(slip.copy, "no wait of this thread can cover this copy", related=related)


RULE = Rule(
    id="CA002",
    name="unawaited-cp-async",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 9.7.9.26.3.3",
    summary="A cp.async is committed and never waited for.",
    consequence="Whoever reads the destination may see old bytes.",
    advice="Execute cp.async.wait_group or wait_all, then a barrier, before the bytes are read.",
    example=sm_80("""
  (.param .u64 out) .reqntid 32
      .shared .align 128 .b8 tile[512];

      ld.param.u64 %rd0, [out];
      mov.u32 %r0, %tid.x;
      shl.b32 %r2, %r0, 4;
      mov.u32 %r1, tile;
      add.u32 %r1, %r1, %r2;
      cp.async.ca.shared.global [%r1], [%rd0], 16; // expect: CA002
      cp.async.commit_group;
+     cp.async.wait_group 0;
      bar.sync 0;
      ld.shared.u32 %r3, [tile];
      st.global.u32 [%rd0+64], %r3;
      ret;
"""),
    check=check,
)
