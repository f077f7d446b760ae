"""A bulk copy from or to an address that is no multiple of 16.

Checks: source and destination of bulk copies and reductions, in shared and global memory.
Why: both must be 16-byte aligned; ptxas does not look at addresses.
Not checked: pointers that the kernel gets as parameters and does not change.
"""

from ..protocols.typestate.async_bytes import BULK
from ..protocols.typestate.places import Places
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a

_ALIGNMENT = 16


def check(view: KernelView) -> Hits:
    for point, instruction in enumerate(view.cfg.instructions):
        if instruction.operation.op not in BULK or view.facts.never_runs(point):
            continue
        for operand, name in (("dst", "destination"), ("src", "source")):
            address = instruction.get(operand)
            if address is not None and view.facts.is_multiple(point, address, _ALIGNMENT) is False:
                place = view.get(Places).of(point, address)
                where = "" if place is None else f" {place}"
                yield Hit(point, f"the {name}{where} is not a multiple of {_ALIGNMENT} bytes")


RULE = Rule(
    id="BG002",
    name="misaligned-bulk-copy",
    severity=Severity.UNDEFINED,
    since="0.1",
    section="PTX ISA 9.7.9.26.4.1",
    summary="An address of a bulk copy is not 16-byte aligned.",
    consequence="The copy faults or moves other bytes than those named.",
    advice="Align the buffers to 16 bytes (128 for tensor copies) and keep offsets multiples of 16.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128
      .shared .align 128 .b8 tile[512];
      .shared .align 8 .b64 bar;

      ld.param.u64 %rd0, [out];
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra DONE;
      mov.u32 %r1, tile;
-     add.u32 %r1, %r1, 8;
+     add.u32 %r1, %r1, 16;

      mbarrier.init.shared::cta.b64 [bar], 1;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;
-     cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes // expect: BG002
-         [%r1], [%rd0], 256, [bar];
+     cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0], 256, [bar];
  WAIT:
      mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
      @!%p1 bra WAIT;
  DONE:
      ret;
"""),
    check=check,
)
