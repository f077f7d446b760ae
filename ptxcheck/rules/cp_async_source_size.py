"""A `cp.async` that is to read more bytes than it writes.

Checks: the optional number of source bytes against the copy size, followed through registers.
Why: a source size above the copy size is undefined; ptxas looks at literals only.
Not checked: literals, which ptxas rejects.
"""

from ..ir import Register
from ..opcodes.op import Op
from ..protocols.typestate.ranges import said
from .copy_kernels import CP_ASYNC
from .rule import Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    for point, instruction in enumerate(view.cfg.instructions):
        given = instruction.get("src_size") if instruction.operation.op is Op.CP_ASYNC else None
        if not isinstance(given, Register) or view.facts.never_runs(point):
            continue
        size, value = view.facts.constant(point, instruction["size"]), view.facts.value(point, given)
        if size is not None and value.low > size:
            yield Hit(point, f"the source size is {said(value)}, but only {size} bytes are copied")


RULE = Rule(
    id="CA006",
    name="cp-async-source-size",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.9.26.3.1",
    summary="The source size of cp.async exceeds the copy size.",
    consequence="The behaviour is undefined.",
    advice="Limit the source size to the copy size; what is below it is filled with zeros.",
    example=CP_ASYNC.variant("""
=     cp.async.ca.shared.global [%r1], [%rd0], 16;
=     cp.async.commit_group;
=     cp.async.wait_group 0;
-     mov.u32 %r4, 16;
+     mov.u32 %r4, 4;
      cp.async.ca.shared.global [%r1], [%rd0], 8, %r4; // expect: CA006
      cp.async.wait_all;
"""),
    of_form=True,
    check=check,
)
