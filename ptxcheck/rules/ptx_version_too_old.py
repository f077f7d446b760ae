"""An instruction, modifier or target that came with a later PTX ISA than `.version` says.

Checks: the first version of every form and modifier, and of the `.target`.
Why: ptxas rejects the module. Source: the "PTX ISA Notes" of each instruction; PTX ISA 11.1.
Not checked: directives.
"""

from itertools import islice

from ..protocols.typestate.legality import newer_target_span, newer_version_needed
from .rule import Example, Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    version = view.module.version
    for operation, points in view.body.points_by_operation.items():
        for missing in islice(newer_version_needed(operation, version), 1):
            needed = missing.requirement.version
            message = f"{missing.what} needs PTX ISA {needed}; the module is of version {version}"
            yield from (Hit(point, message) for point in points)
    found = newer_target_span(view.module, view.function)
    if found is not None:
        target, needed, span = found
        yield Hit(0, f"target {target} needs PTX ISA {needed}; the module is of version {version}", span=span)


RULE = Rule(
    id="PT004",
    name="ptx-version-too-old",
    severity=Severity.ERROR,
    section="PTX ISA §11.1.1",
    summary="The module's `.version` is older than something that it uses.",
    consequence="ptxas rejects the module.",
    advice="Raise `.version` (and the driver that must load the module), or do without the newer form.",
    example=Example("""
- .version 8.0
+ .version 8.3
  .target sm_90a
  .address_size 64

  .visible .entry k(.param .u64 out)
  {
      fence.acq_rel.cluster;
      fence.proxy.tensormap::generic.release.gpu; // expect: PT004
      ret;
  }
"""),
    check=check,
)
