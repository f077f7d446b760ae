"""Increases of `setmaxnreg` that the registers of the block can never satisfy.

Checks: kernels in which each warpgroup is known to execute one `setmaxnreg` or none, outside loops: the counts that
the warpgroups end up with against those that they start with, summed.
Why: an increase waits until others have released as many registers to the pool of the block.
Not checked: blocks of unknown size, roles that no thread index decides.
"""

from ..protocols.typestate.register_count import RegisterCount
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    found = view.get(RegisterCount).demand()
    if found is not None:
        point, wanted, there = found
        yield Hit(
            point,
            f"the warpgroups ask for {wanted} registers per thread in all, but start with {there}: "
            "an increase waits for ever",
        )


RULE = Rule(
    id="WG013",
    name="setmaxnreg-exceeds-pool",
    severity=Severity.HANG,
    section="PTX ISA §9.7.20.5",
    summary="The warpgroups of a block ask for more registers than it has.",
    consequence="The last increase waits for ever.",
    advice="Let the decreases release what the increases take: the sum over the warpgroups must not grow.",
    example=sm_90a("""
  () .reqntid 512 .minnctapersm 1
      mov.u32 %r1, %tid.x;
      setp.ge.u32 %p1, %r1, 256;
      @%p1 bra $rest;
-     setmaxnreg.inc.sync.aligned.u32 240; // expect: WG013
+     setmaxnreg.inc.sync.aligned.u32 208;
      ret;
  $rest:
      setmaxnreg.dec.sync.aligned.u32 24;
      ret;
"""),
    check=check,
)
