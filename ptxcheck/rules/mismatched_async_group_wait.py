"""A wait for groups of the other kind: `cp.async` and bulk copies are counted apart.

Checks: waits of one kind in kernels that start copies of the other kind only, behind such a copy that nothing waits
for.
Why: `cp.async.wait_group` never waits for a bulk copy, nor `cp.async.bulk.wait_group` for a `cp.async`.
Not checked: kernels that use both kinds.
"""

from ..protocols.typestate.copy_groups import bulk_groups, wrong_waits
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for slip in view.get(wrong_waits):
        is_bulk = slip.copy in view.get(bulk_groups).copies
        pending, waited = ("a bulk copy", "cp.async") if is_bulk else ("a cp.async", "bulk copies")
        message = f"{pending} is pending, but this waits for {waited} only, of which there are none"
        yield Hit(slip.point, message, related=((slip.copy, "the copy"),))


RULE = Rule(
    id="BG005",
    name="mismatched-async-group-wait",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 9.7.9.26.1.1",
    summary="The wait is for the other kind of asynchronous copies.",
    consequence="The copy is not waited for; what follows races with it.",
    advice="Use cp.async.bulk.wait_group for bulk copies and cp.async.wait_group for cp.async.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128
      .shared .align 128 .b8 tile[512];

      ld.param.u64 %rd0, [out];
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra DONE;
      fence.proxy.async.shared::cta;
      cp.async.bulk.global.shared::cta.bulk_group [%rd0], [tile], 512;
      cp.async.bulk.commit_group;
-     cp.async.wait_group 0; // expect: BG005
+     cp.async.bulk.wait_group 0;
  DONE:
      ret;
"""),
    check=check,
)
