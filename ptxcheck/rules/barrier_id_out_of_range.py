"""A named barrier whose number is not 0 to 15.

Checks: the number of every `bar` and `barrier` instruction, through registers, also where the thread index decides it;
ptxas looks at literals alone.
Why: a block has 16 barriers; a number beyond them faults or hits another barrier. An inverted range check in CUTLASS
let such numbers through (NVIDIA/cutlass 6c3044136). Source: PTX ISA §9.7.14.1, operand a.
Not checked: numbers that come from parameters or memory.
"""

from ..ir import Register
from ..protocols.typestate.named_barrier import NamedBarriers
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a

LAST_BARRIER = 15


def check(view: KernelView) -> Hits:
    for site in view.get(NamedBarriers).sites:
        number = view.body.instructions[site.point].get("barrier")
        low, high = view.facts.range(site.point, number)
        if low > LAST_BARRIER:
            shown = str(low) if low == high else f"{low} or more"
            yield Hit(site.point, f"barrier number {shown}: a block has barriers 0 to {LAST_BARRIER}")
        elif high > LAST_BARRIER and isinstance(number, Register):
            yield from _by_thread(view, site.point, number)


def _by_thread(view: KernelView, point: int, number: Register) -> Hits:
    """Tell of threads of a known block that surely execute the point with a number that is too large."""
    execution = view.facts.execution(point)
    threads = execution.threads
    numbers = view.facts.by_thread(view.facts.name(point, number))
    if numbers is None or threads is None or not execution.exact or not view.launch.block_is_exact:
        return
    beyond = [
        thread for thread, each in enumerate(numbers) if threads.bits >> thread & 1 and each > LAST_BARRIER
    ]
    if beyond:
        named = f"thread {beyond[0]} names barrier {int(numbers[beyond[0]])}"
        yield Hit(point, f"{named}: a block has barriers 0 to {LAST_BARRIER}", is_of_block=True)


RULE = Rule(
    id="NB001",
    name="barrier-id-out-of-range",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.14.1",
    summary="The barrier number is above 15 whatever the input.",
    consequence="The behaviour is undefined: a fault, or threads that meet at a barrier that others use.",
    advice="Number barriers 0 to 15; __syncthreads() uses 0.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128
-     mov.b32 %r1, 16;
+     mov.b32 %r1, 15;
      bar.sync %r1, 128; // expect: NB001
      ret;
"""),
    check=check,
)
