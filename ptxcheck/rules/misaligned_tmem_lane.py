"""A tensor-memory address whose lane does not fit the shape of the access.

Checks: `tcgen05.ld` and `.st` of 32 lanes and `tcgen05.shift` at a lane that is no multiple of 32, and shapes of 16
lanes at one that is no multiple of 16; D of `tcgen05.mma` at a lane that is no multiple of 16, or not 0 where D has
all 128 lanes; A and metadata in the other half of the quarters than a D of 16 lanes of each. For addresses that are
constant, or away from an allocation by a constant or, of loads and stores, by what follows from the thread index.
Why: the shape starts at the first lane of a quarter, or in the middle of it; a layout of D starts at lane 0, or, of
half of the lanes, at 16, where A and the metadata start, too. Source: PTX ISA §9.7.17.8.2, 9.7.17.9.3 and 9.7.17.10.5.
Not checked: addresses computed in other ways.
"""

from collections.abc import Iterator

from ..opcodes.op import Op
from ..protocols.typestate.accumulator_columns import AccumulatorColumns
from ..protocols.typestate.tensor_address import tensor_address, warp_addresses
from ..protocols.typestate.tensor_memory import LOADS, TensorMemory
from .rule import Hit, Hits, KernelView, Rule, Severity
from .tensor_memory_kernels import ALLOCATION


def check(view: KernelView) -> Hits:
    memory = view.get(TensorMemory)
    for point in sorted(memory.of(LOADS | {Op.TCGEN05_ST, Op.TCGEN05_SHIFT})):
        shape = view.body.instructions[point].operation.slots.get("shape", "")
        step = 16 if shape.startswith(".16") else 32
        lane = next((lane for lane in _lanes(view, point) if lane % step), None)
        if lane is not None:
            yield Hit(point, f"lane {lane} is not a multiple of {step}")
    for point, lane, step in view.get(AccumulatorColumns).d_off_its_lanes():
        where = f"a multiple of {step}" if step < 128 else "0: D has all lanes"
        yield Hit(point, f"D starts at lane {lane}, which is not {where}")
    for point, what, lane, of_d in view.get(AccumulatorColumns).operands_off_d():
        text = f"{what} starts at lane {lane} and D at lane {of_d}: both have the same half of each quarter of lanes"
        yield Hit(point, text)


def _lanes(view: KernelView, point: int) -> Iterator[int]:
    """Yield the lanes that the address of an access has, those of single warps as well."""
    address = tensor_address(view, point)
    if address is not None:
        yield address.lane
    else:
        yield from (each.lane for _, each in warp_addresses(view, point))


RULE = Rule(
    id="TM016",
    name="misaligned-tmem-lane",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.17.8.2",
    summary="A tensor-memory access starts at a lane that its shape does not allow.",
    consequence="Undefined.",
    advice="Start at a multiple of 32 lanes (16 for shapes of 16 lanes).",
    example=ALLOCATION.variant("""
=     ld.shared.b32 %r3, [slot];
      ld.shared.b32 %r3, [slot];
-     add.u32 %r9, %r3, 524288;
-     tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r9]; // expect: TM016
+     tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3];
      tcgen05.wait::ld.sync.aligned;
      add.u32 %r6, %r4, 1;
"""),
    check=check,
)
