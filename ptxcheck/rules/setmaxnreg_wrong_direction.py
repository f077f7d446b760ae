"""A `setmaxnreg.inc` to fewer registers than the thread has, or a `setmaxnreg.dec` to more.

Checks: the count against that of the `setmaxnreg` before on a feasible path; a decrease also against the most that the
directives leave a thread at the start.
Why: the instruction is undefined in the wrong direction.
Not checked: increases against the count at the start, which ptxas chooses so that the first ones fit.
"""

from ..protocols.typestate.register_count import RegisterCount
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    counts = view.get(RegisterCount).counts
    for step in view.get(RegisterCount).wrong_steps():
        verb = "increases" if view.get(RegisterCount).is_increase(step.point) else "decreases"
        if step.before is None:
            most = view.get(RegisterCount).most
            yield Hit(
                step.point,
                f"this {verb} the count to {counts[step.point]}, but a thread starts with {most} at most",
            )
            continue
        yield Hit(
            step.point,
            f"this {verb} the count to {counts[step.point]}, but it is {counts[step.before]}",
            related=((step.before, "the count is set here"),),
        )


RULE = Rule(
    id="WG009",
    name="setmaxnreg-wrong-direction",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.20.5",
    summary="setmaxnreg.inc asks for fewer registers than there are, or setmaxnreg.dec for more.",
    consequence="Undefined: registers in use may be lost.",
    advice="Use setmaxnreg.dec to give registers up and setmaxnreg.inc to get more.",
    example=sm_90a("""
  () .reqntid 384 .minnctapersm 1
      setmaxnreg.dec.sync.aligned.u32 40;
      bar.sync 0;
-     setmaxnreg.dec.sync.aligned.u32 80; // expect: WG009
+     setmaxnreg.inc.sync.aligned.u32 80;
      ret;
"""),
    check=check,
)
