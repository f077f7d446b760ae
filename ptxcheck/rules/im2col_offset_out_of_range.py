"""An im2col offset beyond what the access mode can hold.

Checks: offsets and halos that are surely too large, followed through registers.
Why: offsets have 16, 8 or 5 bits in 3, 4 or 5 dimensions; `.im2col::w` halos are below 512, `.im2col::w::128` halos
below 32, and both offsets below 32. ptxas checks none, not even literals. Source: PTX ISA §5.5.4.1 and 9.7.9.26.5.2.
Not checked: the corners of the box, which are in the tensor map.
"""

from ..ir import Vector
from ..isa.modifier import Mod
from ..protocols.typestate.ranges import said
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a

_BITS = {".3d": 16, ".4d": 8, ".5d": 5}


def check(view: KernelView) -> Hits:
    for point, instruction in enumerate(view.cfg.instructions):
        offsets = instruction.get("im2col")
        if not isinstance(offsets, Vector) or view.facts.never_runs(point):
            continue
        mode, dim = (instruction.operation.slots.get(slot, "") for slot in ("mode", "dim"))
        for index, one in enumerate(offsets.elements):
            end = _end(mode, dim, index)
            value = view.facts.value(point, one)
            if end and value.low >= end:
                yield Hit(point, f"im2col number {index} is {said(value)}; it must be below {end}")


def _end(mode: str, dim: str, index: int) -> int:
    """Return the first number that is too large; 0 when there is none."""
    if mode == Mod.IM2COL:
        return 1 << _BITS[dim] if dim in _BITS else 0
    if mode in (Mod.IM2COL_W, Mod.IM2COL_W_128):
        return 512 if mode == Mod.IM2COL_W and index == 0 else 32
    return 0


RULE = Rule(
    id="BG010",
    name="im2col-offset-out-of-range",
    severity=Severity.UNDEFINED,
    section="PTX ISA §5.5.4.1",
    summary="An im2col offset or halo is out of range.",
    consequence="The behaviour is undefined; bits that do not fit are lost.",
    advice="Keep offsets within 16, 8 or 5 bits for 3, 4 or 5 dimensions, halos below 512 (w) or 32 (w::128).",
    example=sm_90a("""
  (.param .align 64 .b8 map[128]) .reqntid 128
      .reg .b16 %h<2>;
      .shared .align 128 .b8 tile[512];
      .shared .align 8 .b64 bar;
      mov.b64 %rd1, map;
      cvta.param.u64 %rd0, %rd1;
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra DONE;
-     mov.b16 %h0, 300;
+     mov.b16 %h0, 200;
      mov.b16 %h1, 0;
      mov.u32 %r1, 0;
      mbarrier.init.shared::cta.b64 [bar], 1;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
      cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes // expect: BG010
          [tile], [%rd0, {%r1, %r1, %r1, %r1}], [bar], {%h0, %h1};
  WAIT:
      mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
      @!%p1 bra WAIT;
  DONE:
      ret;
"""),
    check=check,
)
