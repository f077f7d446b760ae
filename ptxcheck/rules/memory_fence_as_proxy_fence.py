"""A memory fence where a proxy fence is needed.

Checks: as for a missing proxy fence, with a `fence` or `membar` between.
Why: memory fences order accesses of one proxy; none of them crosses to the async proxy.
Not checked: bytes that other threads write.
"""

from ..protocols.typestate.proxies import Between, find_crossings
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for crossing in view.get(find_crossings):
        if crossing.between is Between.MEMORY_FENCE:
            message = "a memory fence does not order the write before it with the asynchronous copy after it"
            yield Hit(
                crossing.fence, message, related=((crossing.write, "the write"), (crossing.read, "the copy"))
            )


RULE = Rule(
    id="PX005",
    name="memory-fence-as-proxy-fence",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 8.6",
    summary="A memory fence stands where a proxy fence is needed.",
    consequence="The copy may read what was there before.",
    advice="Replace it by fence.proxy.async, or add one after the writes.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128
      .shared .align 128 .b8 tile[512];

      ld.param.u64 %rd0, [out];
      mov.u32 %r0, %tid.x;
      shl.b32 %r2, %r0, 2;
      mov.u32 %r1, tile;
      add.u32 %r1, %r1, %r2;
      st.shared.u32 [%r1], %r0;
-     fence.acq_rel.gpu; // expect: PX005
+     fence.proxy.async.shared::cta;
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
