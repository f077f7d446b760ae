"""How a kernel is launched, as far as directives, configuration or the user say."""

from __future__ import annotations

from dataclasses import dataclass

Dim = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class GivenValue:
    """A number that the host passes: bytes of parameter space, or a named quantity of the contract."""

    name: str
    """As the user wrote it: `param+640`, `n`, `box_bytes(param+128)`."""
    value: int
    offset: int | None = None
    """Offset in parameter space; None for a quantity of the contract, which `name` then is."""
    size: int = 4
    """Bytes of parameter space."""


@dataclass(frozen=True, slots=True)
class Launch:
    """Block and cluster shape; None where nothing says. `*_is_exact` is False for upper bounds."""

    block: Dim | None = None
    block_is_exact: bool = False
    cluster: Dim | None = None
    max_threads: int | None = None
    """Upper bound of threads per block (`.maxntid`, or the exact block)."""
    given: tuple[GivenValue, ...] = ()
    """Values of kernel parameters, and of what they stand for, that the user gives."""

    @property
    def threads(self) -> int | None:
        """Exact number of threads of a block, or None."""
        if self.block is None or not self.block_is_exact:
            return None
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def cluster_size(self) -> int | None:
        """CTAs per cluster, or None when not known."""
        return None if self.cluster is None else self.cluster[0] * self.cluster[1] * self.cluster[2]
