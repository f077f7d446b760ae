"""A `setmaxnreg` in a kernel whose register count at the start ptxas does not know.

Checks: kernels with neither `.maxnreg` nor a block size together with `.minnctapersm`.
Why: ptxas then drops the instruction and says so in a note (C7508) only, unless the kernel needs as many registers as
its block can have. That makes the finding a possible one. Source: PTX ISA §9.7.20.5; notes of ptxas 13.0.
Not checked: the ptxas option `--maxrregcount`, which fixes the count, too; device functions.
"""

from ..protocols.typestate.register_count import RegisterCount
from .rule import Confidence, Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    counts = view.get(RegisterCount).counts
    if counts and view.function.is_entry and view.get(RegisterCount).most is None:
        text = "no directive tells how many registers a thread starts with: ptxas may ignore this"
        yield Hit(min(counts), text, confidence=Confidence.POSSIBLE)


RULE = Rule(
    id="WG011",
    name="ignored-setmaxnreg",
    severity=Severity.SLOW,
    section="PTX ISA §9.7.20.5",
    summary="ptxas may ignore setmaxnreg, as the register count at the start is not known.",
    consequence="The registers are not redistributed.",
    advice="Give __launch_bounds__(threads, blocks) with both numbers, or .maxnreg.",
    example=sm_90a("""
- () .maxntid 384
+ () .maxntid 384 .minnctapersm 1
      setmaxnreg.dec.sync.aligned.u32 40; // expect: WG011
      ret;
"""),
    check=check,
    confidence=Confidence.POSSIBLE,
)
