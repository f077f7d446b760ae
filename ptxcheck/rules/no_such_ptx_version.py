"""A `.version` that no PTX ISA ever had.

Checks: that the version is one of those that were released, below the newest that the table covers.
Why: every ptxas rejects the module. Source: PTX ISA, the release notes; PTX ISA §11.1.1.
Not checked: later versions than those that the table covers; minor numbers from 10 on, which ptxas reads as fractions.
"""

from ..isa.versions import RELEASED
from ..protocols.typestate.legality import version_span
from .rule import Example, Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    version = view.module.version
    if version in RELEASED or version > RELEASED[-1] or version.minor >= 10:
        return
    span = version_span(view.module, view.function)
    if span is not None:
        next_one = next(each for each in RELEASED if each > version)
        yield Hit(0, f"there is no PTX ISA {version}; the next one is {next_one}", span=span)


RULE = Rule(
    id="PT013",
    name="no-such-ptx-version",
    severity=Severity.ERROR,
    section="PTX ISA §11.1.1",
    summary="The module's `.version` is none that PTX ever had.",
    consequence="ptxas rejects the module.",
    advice="Take the version that the code was written for; each CUDA release has one.",
    example=Example("""
- .version 8.9 // expect: PT013
+ .version 8.8
  .target sm_90a
  .address_size 64

  .visible .entry k(.param .u64 out)
  {
      ret;
  }
"""),
    check=check,
)
