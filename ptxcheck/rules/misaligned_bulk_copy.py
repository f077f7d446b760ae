"""A bulk copy from or to an address that is no multiple of 16.

Checks: source and destination of bulk copies and reductions, in shared and global memory; in shared memory also by
verification of the whole kernel, round by round.
Why: both must be 16-byte aligned; ptxas does not look at addresses.
Not checked: pointers that the kernel gets as parameters and does not change.
"""

from ..protocols.model.outcome import Flaw
from ..protocols.typestate.async_bytes import BULK
from ..protocols.typestate.places import Places
from .copy_kernels import BULK_LOAD
from .rule import Hit, Hits, KernelView, Rule, Severity
from .violations import Beside, of_flaws

_ALIGNMENT = 16


def check(view: KernelView) -> Hits:
    for point, instruction in enumerate(view.cfg.instructions):
        if instruction.operation.op not in BULK or view.facts.never_runs(point):
            continue
        for operand, name in (("dst", "destination"), ("src", "source")):
            address = instruction.get(operand)
            if address is not None and view.facts.is_multiple(point, address, _ALIGNMENT) is False:
                place = view.get(Places).of(point, address)
                where = "" if place is None else f" {place}"
                yield Hit(point, f"the {name}{where} is not a multiple of {_ALIGNMENT} bytes")


RULE = Rule(
    id="BG002",
    name="misaligned-bulk-copy",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.9.26.4.1",
    summary="An address of a bulk copy is not 16-byte aligned.",
    consequence="The copy faults or moves other bytes than those named.",
    advice="Align the buffers to 16 bytes (128 for tensor copies) and keep offsets multiples of 16.",
    example=BULK_LOAD.variant("""
      mov.u32 %r1, tile;
-     add.u32 %r1, %r1, 8;

      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0], %r2, [bar]; // expect: BG002
"""),
    of_form=True,
    check=Beside(check, of_flaws(Flaw.MISALIGNED_COPY), BULK),
)
