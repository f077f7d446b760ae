"""Random delays before synchronising instructions: other schedules of the same kernel, for the hardware to run."""

from __future__ import annotations

import random

from ..ir import Function, Module
from ..opcodes.spec import Trait
from .edits import Edit, apply_edits

_SYNCHRONISING = frozenset(
    {Trait.MBARRIER, Trait.BARRIER, Trait.WAIT, Trait.COMMIT, Trait.ASYNC, Trait.FENCE, Trait.TENSOR_MEMORY}
)
_LONGEST_NANOSECONDS = 20_000
_DELAY = """{{
.reg .b32 %ptxcheck_delay<3>;
mov.u32 %ptxcheck_delay0, %warpid;
xor.b32 %ptxcheck_delay1, %ptxcheck_delay0, {salt};
mul.lo.s32 %ptxcheck_delay1, %ptxcheck_delay1, 0x9E3779B1;
shr.u32 %ptxcheck_delay2, %ptxcheck_delay1, {shift};
nanosleep.u32 %ptxcheck_delay2;
}}
"""


def perturb(module: Module, kernel: str, seed: int, *, share: float = 0.3) -> str:
    """Return the text of a module with delays before a share of one kernel's synchronising instructions.

    The length of a delay depends on the seed, the place and the warp; at most 20 µs. Nothing else changes, so a
    kernel that keeps its contract gives the same results (PTX ISA, nanosleep).
    """
    generator = random.Random(seed)
    text = module.source.text
    edits: list[Edit] = []
    for start in _places(module, kernel):
        if generator.random() < share:
            shift = 32 - generator.randrange(6, _LONGEST_NANOSECONDS.bit_length())
            edits.append(Edit(start, start, _DELAY.format(salt=generator.randrange(1 << 16), shift=shift)))
    return apply_edits(text, edits)


def _places(module: Module, kernel: str) -> list[int]:
    function: Function | None = next((f for f in module.functions if f.name == kernel and f.body), None)
    if function is None or function.body is None:
        raise ValueError(f"no kernel {kernel!r}")
    return [i.start for i in function.body.instructions if _SYNCHRONISING & set(i.operation.traits)]
