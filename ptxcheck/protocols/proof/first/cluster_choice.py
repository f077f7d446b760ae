"""Which cluster shape a kernel means that does not state one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Protocol

from ....cfg.cfg import Cfg
from ....launch import Dim
from .cluster_use import reads_place_along
from .loop_rounds import FEWEST
from .paths import Rounds

_SHAPES: tuple[Dim, ...] = (
    (1, 1, 1), (2, 1, 1), (1, 2, 1), (4, 1, 1), (2, 2, 1), (1, 4, 1), (4, 2, 1), (2, 4, 1), (8, 1, 1), (4, 4, 1),
    (16, 1, 1),
)  # fmt: skip
MOST_CTAS = max(map(prod, _SHAPES))


class Probe(Protocol):
    """Makes single runs for one cluster shape."""

    def probe(self, rounds: Rounds | None = None) -> int:
        """Make one run: 0 when it holds its contract, else the least number of CTAs that could do better."""

    @property
    def is_in_doubt(self) -> bool:
        """What went wrong may be impossible."""


def shapes_to_try(cfg: Cfg, most: int = MOST_CTAS) -> tuple[Dim, ...]:
    """Return cluster shapes to try: first those along x, for a kernel that does not ask where it is along y.

    `most` is what `.maxclusterrank` says.
    """
    shapes = tuple(shape for shape in _SHAPES if prod(shape) <= most)
    if reads_place_along(cfg, "y"):
        return shapes
    return tuple(sorted(shapes, key=lambda shape: shape[1] > 1))


def only_cluster(cfg: Cfg, least: int, most: int) -> Dim | None:
    """Return the cluster that a kernel must have, None when there are several.

    With as many CTAs as it needs as it may have, and nothing that asks where a CTA is but along x, all clusters are
    alike.
    """
    is_one = least == most and not any(reads_place_along(cfg, axis) for axis in "yz")
    return (most, 1, 1) if is_one else None


def admitted_cluster(
    verifier: Callable[[Dim], Probe], shapes: Sequence[Dim], least: int = 1
) -> tuple[Dim, bool]:
    """Return the first cluster shape that the masks, addresses and counts of one run admit, and that there is one.

    If there is none, the first whose run goes wrong and may be impossible; else a single CTA. Only shapes with at least
    `least` CTAs are tried.
    """
    doubtful: list[Dim] = []
    put_off: list[Dim] = []
    """Shapes that a short run does not suit, for which a longer one could do better."""
    for cluster in shapes:
        if prod(cluster) >= least:
            tried = verifier(cluster)
            needed = tried.probe(FEWEST)
            if needed == 1:
                put_off.append(cluster)
            elif not needed:
                needed = tried.probe()
                if not needed:
                    return cluster, True
            least = max(least, needed)
            if tried.is_in_doubt:
                doubtful.append(cluster)
    for cluster in put_off:
        if prod(cluster) >= least:
            tried = verifier(cluster)
            if not tried.probe():
                return cluster, True
            if tried.is_in_doubt:
                doubtful.append(cluster)
    return (min(doubtful, key=shapes.index) if doubtful else shapes[0]), False
