"""A tensor copy from or to a shared address that is no multiple of 128.

Checks: the shared address of tensor copies and reductions; by verification of the whole kernel, whether it is a
multiple of 16 in each round.
Why: boxes in shared memory must be 128-byte aligned; swizzled ones need the repeat of their pattern, 256 to 1024
bytes. ptxas does not look at addresses. Source: CUDA programming guide, alignment requirements of multi-dimensional
bulk tensor copies.
Not checked: variables whose declared alignment is below 128; the swizzle mode, which is in the tensor map.
"""

from ..protocols.model.outcome import Flaw
from ..protocols.typestate.async_bytes import TENSOR
from ..protocols.typestate.places import Places
from .copy_kernels import TENSOR_STORE
from .rule import Hit, Hits, KernelView, Rule, Severity
from .violations import Beside, of_flaws

_ALIGNMENT = 128


def check(view: KernelView) -> Hits:
    for point, instruction in enumerate(view.cfg.instructions):
        if instruction.operation.op not in TENSOR or view.facts.never_runs(point):
            continue
        address = instruction.get("dst") or instruction.get("src")
        if address is not None and view.facts.is_multiple(point, address, _ALIGNMENT) is False:
            place = view.get(Places).of(point, address)
            where = "it" if place is None else str(place)
            yield Hit(point, f"the box must lie at a multiple of {_ALIGNMENT} bytes, and {where} does not")


RULE = Rule(
    id="BG011",
    name="misaligned-tensor-box",
    severity=Severity.WRONG_RESULT,
    section="CUDA programming guide, tensor memory access",
    summary="The shared-memory box of a tensor copy is not 128-byte aligned.",
    consequence="The copy faults, or writes other bytes and its barrier never completes.",
    advice="Align every stage to 128 bytes, to 1024 with a 128-byte swizzle.",
    example=TENSOR_STORE.variant("""
=     mov.u32 %r1, 8;
      mov.u32 %r1, tile;
-     add.u32 %r1, %r1, 64;
+     add.u32 %r1, %r1, 128;

=     cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd0, {%r1, %r2}], [tile];
      cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd0, {%r2, %r2}], [%r1]; // expect: BG011
"""),
    of_form=True,
    check=Beside(check, of_flaws(Flaw.MISALIGNED_COPY), TENSOR),
)
