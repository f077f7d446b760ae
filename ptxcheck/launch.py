"""How a kernel is launched, as far as directives, configuration or the user say."""

from __future__ import annotations

from dataclasses import dataclass

Dim = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Launch:
    """Block and cluster shape; None where nothing says. `*_is_exact` is False for upper bounds."""

    block: Dim | None = None
    block_is_exact: bool = False
    cluster: Dim | None = None
    max_threads: int | None = None
    """Upper bound of threads per block (`.maxntid`, or the exact block)."""

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
