"""A proxy fence for another state space than that of the bytes.

Checks: as for a missing proxy fence, with one between for the other space.
Why: `fence.proxy.async.global` does not order shared memory, nor the shared forms global memory.
Not checked: bytes that other threads write.
"""

from ..protocols.typestate.proxies import Between, find_crossings
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for crossing in view.get(find_crossings):
        if crossing.between is Between.OTHER_SPACE:
            message = (
                "this fence covers another state space than that of the bytes written before and "
                "copied after it"
            )
            yield Hit(
                crossing.fence, message, related=((crossing.write, "the write"), (crossing.read, "the copy"))
            )


RULE = Rule(
    id="PX002",
    name="proxy-fence-of-wrong-space",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 9.7.14.4",
    summary="The proxy fence is for another state space.",
    consequence="The copy may read what was there before.",
    advice=(
        "Use fence.proxy.async.shared::cta for shared memory, .global for global memory, or fence.proxy.async for "
        "both."
    ),
    example=sm_90a("""
  (.param .u64 out) .reqntid 128
      .shared .align 128 .b8 tile[512];

      ld.param.u64 %rd0, [out];
      mov.u32 %r0, %tid.x;
      shl.b32 %r2, %r0, 2;
      mov.u32 %r1, tile;
      add.u32 %r1, %r1, %r2;
      st.shared.u32 [%r1], %r0;
-     fence.proxy.async.global; // expect: PX002
+     fence.proxy.async;
      bar.sync 0;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra DONE;
      cp.async.bulk.global.shared::cta.bulk_group [%rd0], [tile], 512;
      cp.async.bulk.commit_group;
      cp.async.bulk.wait_group.read 0;
  DONE:
      ret;
"""),
    check=check,
)
