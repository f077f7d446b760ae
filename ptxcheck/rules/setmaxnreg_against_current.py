"""A `setmaxnreg.inc` to fewer registers than the thread has, or a `setmaxnreg.dec` to more.

Checks: the count against that of the `setmaxnreg` before on a feasible path; a decrease also against the most that
the directives leave a thread at the start.
Why: the instruction is undefined in the wrong direction.
Source: PTX ISA 9.7.20.5.
Not checked: increases against the count at the start, which ptxas chooses so that the first ones fit.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..finding import Severity
from ..protocols.typestate.register_count import RegisterCount
from ..view import KernelView
from .rule import Hit, Rule

_BAD = """
.version 8.6
.target sm_90a
.address_size 64

.visible .entry kernel() .reqntid 384 .minnctapersm 1
{
    .reg .pred %p<4>;
    .reg .b32 %r<4>;

    setmaxnreg.dec.sync.aligned.u32 40;
    bar.sync 0;
    setmaxnreg.dec.sync.aligned.u32 80; // expect: WG009
    ret;
}
"""

_GOOD = """
.version 8.6
.target sm_90a
.address_size 64

.visible .entry kernel() .reqntid 384 .minnctapersm 1
{
    .reg .pred %p<4>;
    .reg .b32 %r<4>;

    setmaxnreg.dec.sync.aligned.u32 40;
    bar.sync 0;
    setmaxnreg.inc.sync.aligned.u32 80;
    ret;
}
"""


def check(view: KernelView) -> Iterator[Hit]:
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
    name="setmaxnreg-against-current",
    severity=Severity.UNDEFINED,
    since="0.1",
    section="PTX ISA 9.7.20.5",
    summary="setmaxnreg.inc asks for fewer registers than there are, or setmaxnreg.dec for more.",
    consequence="Undefined: registers in use may be lost.",
    advice="Use setmaxnreg.dec to give registers up and setmaxnreg.inc to get more.",
    bad=_BAD,
    good=_GOOD,
    check=check,
)
