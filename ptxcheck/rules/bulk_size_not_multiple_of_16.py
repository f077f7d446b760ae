"""A bulk copy of a size that is no multiple of 16 bytes.

Checks: the size of bulk copies, reductions and prefetches, followed through registers, and its upper bound; what runs
of the whole kernel make of it.
Why: the size must be a multiple of 16; ptxas looks at literals only. Source: PTX ISA §9.7.9.26.4.
Not checked: literals, which ptxas rejects.
"""

from ..ir import Immediate
from ..protocols.model.outcome import Flaw
from ..protocols.typestate.async_bytes import BULK
from ..protocols.typestate.ranges import said
from .copy_kernels import BULK_LOAD
from .rule import Hit, Hits, KernelView, Rule, Severity
from .violations import Beside, of_flaws

_MOST = (1 << 20) - 16


def check(view: KernelView) -> Hits:
    for point, instruction in enumerate(view.cfg.instructions):
        size = instruction.get("size") if instruction.operation.op in BULK else None
        if size is None or isinstance(size, Immediate) or view.facts.never_runs(point):
            continue
        value = view.facts.value(point, size)
        if value.divisible(16) is False:
            known = "" if value.constant is None else f" ({value.constant})"
            yield Hit(point, f"the size{known} is not a multiple of 16 bytes")
        elif value.low > _MOST:
            yield Hit(point, f"the size is {said(value)}; one bulk copy moves at most {_MOST} bytes")


RULE = Rule(
    id="BG001",
    name="bulk-size-not-multiple-of-16",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.9.26.4.1",
    summary="The size of a bulk copy is not a multiple of 16.",
    consequence="The behaviour is undefined: a fault, or bytes that are not copied and a phase that never completes.",
    advice="Round the size up to 16 bytes and pad the buffers, or copy the rest with ordinary loads.",
    example=BULK_LOAD.variant("""
-     mov.u32 %r2, 24;
+     mov.u32 %r2, 256;

      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0], %r2, [bar]; // expect: BG001
"""),
    of_form=True,
    check=Beside(check, of_flaws(Flaw.SIZE_OF_COPY), BULK),
)
