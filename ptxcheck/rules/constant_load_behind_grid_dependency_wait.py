"""A load through the read-only path behind `griddepcontrol.wait`.

Checks: `ld.global.nc` that a `griddepcontrol.wait` reaches, one of each array.
Why: `.nc` takes its memory to be constant for as long as the kernel runs. A dependent kernel runs while its predecessor
still writes, so results of that are not constant. The compiler writes `.nc` for `const __restrict__`, also where the
pointer is to the predecessor's results; released kernels do so, and the rule is pedantic. Source: PTX ISA §9.7.9.8.2
(`ld.global.nc`); CUDA programming guide, "Read-Only Data Cache Load Function", "Programmatic Dependent Launch".
Not checked: what the predecessor writes; whether anything has read the same bytes before the wait.
"""

from ..protocols.typestate.dependent_launch import DependentLaunch
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for wait, load in view.get(DependentLaunch).constant_reads_behind():
        message = "this takes for constant what the kernel in front may have written while this one ran"
        yield Hit(load, message, related=((wait, "the wait for the kernel in front"),))


RULE = Rule(
    id="PT012",
    name="constant-load-behind-grid-dependency-wait",
    severity=Severity.WRONG_RESULT,
    since="0.2",
    section="PTX ISA §9.7.9.8.2",
    summary="What the predecessor of a dependent launch may write is read as if it were constant.",
    consequence="The read-only cache may give what was there before.",
    advice="Read the predecessor's results without .nc: leave `__restrict__` off parameters that point to them.",
    example=sm_90a("""
  (.param .u64 in) .reqntid 128
      ld.param.u64 %rd1, [in];
      cvta.to.global.u64 %rd2, %rd1;
      griddepcontrol.wait;
-     ld.global.nc.b32 %r1, [%rd2]; // expect: PT012
+     ld.global.b32 %r1, [%rd2];
      griddepcontrol.launch_dependents;
      ret;
"""),
    check=check,
    pedantic=True,
)
