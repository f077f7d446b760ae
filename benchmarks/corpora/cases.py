"""How one Triton or Gluon kernel is to be compiled; free of Triton, so that both sides can import it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel with the types of its arguments and its compile-time constants.

    `types` names one type per argument that is no constant: `*fp16` is an aligned pointer, `i32:16` an
    integer known to be a multiple of 16, and `map<fp16[128,64]>` a tensor descriptor from the host.
    """

    name: str
    kernel: Any
    types: str
    constants: Mapping[str, Any]
    targets: tuple[int, ...]
    warps: int = 4
    stages: int = 3
    ctas: int = 1
    debug: bool = False
    layouts: tuple[Any, ...] = ()
    """For Gluon: the shared-memory layout of each `map` argument."""

    def unit(self, target: int) -> str:
        return f"{self.name}.{target_name(target)}"


def target_name(capability: int) -> str:
    """The `.target` that Triton writes for a compute capability."""
    return f"sm_{capability}a" if capability >= 90 else f"sm_{capability}"
