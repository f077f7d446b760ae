"""A tensor store or reduction at a negative coordinate.

Checks: coordinates that are surely negative, in tile mode.
Why: a store must start inside the tensor; only loads fill in what lies outside.
Not checked: coordinates beyond the end, which the tensor map decides.
"""

from ..cfg.call import fitted
from ..ir import Address, Vector
from ..isa.modifier import Mod
from .copy_kernels import TENSOR_STORE
from .rule import Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    for point, instruction in enumerate(view.cfg.instructions):
        operation = instruction.operation
        address = instruction.get("tensor_map")
        if not operation.has(Mod.BULK_GROUP) or not isinstance(address, Address) or not address.extra:
            continue
        if operation.slots.get("mode", Mod.TILE) != Mod.TILE or view.facts.never_runs(point):
            continue
        coordinates = address.extra[-1]
        for index, one in enumerate(coordinates.elements if isinstance(coordinates, Vector) else ()):
            low, high = fitted(view.facts.value(point, one), 32).signed_range
            if high < 0:
                text = str(low) if low == high else f"at most {high}"
                yield Hit(point, f"coordinate {index} is {text}; a store starts inside the tensor")


RULE = Rule(
    id="BG009",
    name="negative-store-coordinate",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.9.26.5.1",
    summary="A tensor store starts at a negative coordinate.",
    consequence="The behaviour is undefined.",
    advice="Clip the box in shared memory, or let the store start at 0.",
    example=TENSOR_STORE.variant("""
-     mov.u32 %r1, -8;
+     mov.u32 %r1, 8;

      cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd0, {%r1, %r2}], [tile]; // expect: BG009
"""),
    check=check,
)
