"""A kernel of a programmatic dependent launch that reads global memory before `griddepcontrol.wait`.

Checks: kernels that use `griddepcontrol`: a path from the entry to a load from global memory without the wait. It is
told by default where the kernel in front may well write what is read: a way of the whole CTA has no wait at all and
writes results; or other threads wait before they read the same address; or the kernel itself writes the array; or the
parameter is not `const __restrict__`, in CUDA sources. Otherwise it is possible: reading weights early is legal and
common. Bulk and tensor copies are possible at most.
Why: only the wait orders the kernel behind its predecessor. It was missing on one of two paths in
Dao-AILab/flash-attention 3a7694c0 and altogether in NVIDIA/cutlass #2760.
Not checked: what the predecessor writes.
"""

from ..protocols.typestate.dependent_launch import DependentLaunch, Sign
from .rule import Confidence, Hit, Hits, KernelView, Rule, Severity, sm_90a

_SAID = {
    Sign.NEVER_WAITS: (
        "no thread waits for the kernel in front on the way through here, and it may write what is read"
    ),
    Sign.AWAITED_ELSEWHERE: (
        "these threads never wait for the kernel in front, and others wait before they read the same address"
    ),
    Sign.WRITTEN_HERE: (
        "this is read before griddepcontrol.wait; this kernel writes the array, and so may the one in front"
    ),
    Sign.NOT_CONSTANT: (
        "this is read before griddepcontrol.wait; the parameter is not `const __restrict__`, and the kernel in front "
        "may write what it points to"
    ),
    Sign.NONE: "global memory is read here before griddepcontrol.wait on some path",
}


def check(view: KernelView) -> Hits:
    read = view.get(DependentLaunch).early_read()
    if read is not None:
        confidence = Confidence.PROVED if read.likely else Confidence.POSSIBLE
        yield Hit(read.point, _SAID[read.sign], confidence=confidence)


RULE = Rule(
    id="PT011",
    name="missing-grid-dependency-wait",
    severity=Severity.WRONG_RESULT,
    section="PTX ISA §9.7.14.14",
    summary="Global memory is read on a path without griddepcontrol.wait.",
    consequence="The kernel may read what its predecessor has not written yet.",
    advice=(
        "Execute griddepcontrol.wait before the first read of the predecessor's results, on every path; make "
        "parameters `const __restrict__` that point to constants."
    ),
    example=sm_90a("""
  (.param .u64 in) .reqntid 128
      ld.param.u64 %rd1, [in];
      cvta.to.global.u64 %rd2, %rd1;
+     griddepcontrol.wait;
      ld.global.b32 %r1, [%rd2]; // expect: PT011
-     griddepcontrol.wait;
      add.u32 %r1, %r1, 1;
      st.global.b32 [%rd2], %r1;
      griddepcontrol.launch_dependents;
      ret;
"""),
    check=check,
)
