"""An instruction or modifier that the module's `.target` does not have.

Checks: the targets of every form and modifier, architecture-specific (`a`) and family-specific (`f`) ones included.
Why: ptxas rejects the module; a `sm_90` module cannot use what only `sm_90a` has. Source: the "Target ISA Notes" of
each instruction; PTX ISA §11.1.2.
Not checked: limits that depend on the target, such as the size of shared memory.
"""

from itertools import islice

from ..protocols.typestate.legality import names_of, other_target_needed
from .rule import Example, Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    target = view.module.target
    if target is None:
        return
    for operation, points in view.body.points_by_operation.items():
        for missing in islice(other_target_needed(operation, target), 1):
            needed = names_of(missing.requirement)
            message = f"{missing.what} needs {needed}; the module's target is {target}"
            yield from (Hit(point, message) for point in points)


RULE = Rule(
    id="PT005",
    name="unsupported-target",
    severity=Severity.ERROR,
    section="PTX ISA §11.1.2",
    summary="The module's `.target` does not have this instruction or modifier.",
    consequence="ptxas rejects the module.",
    advice="Compile for a target that has it; features of `sm_90a` are not in `sm_90`, nor in any later target.",
    example=Example("""
  .version 8.0
- .target sm_90
+ .target sm_90a
  .address_size 64

  .visible .entry k(.param .u64 out)
  {
      wgmma.fence.sync.aligned; // expect: PT005
      ret;
  }
"""),
    check=check,
)
