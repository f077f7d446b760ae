"""Special registers: the numbers they can hold, and how far they are uniform."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from ..ir import Component, Register
from ..launch import MAX_THREADS as MAX_THREADS
from ..launch import Launch
from .linear import Atom, AtomKind
from .uniform import Uniformity
from .values import (
    Value,
    between,
    exactly,
    of_atom,
    top,
)

MAX_DIM = (1024, 1024, 64)
MAX_CLUSTER = 16
_AXES = {"x": 0, "y": 1, "z": 2, "r": 0, "g": 1, "b": 2}


@dataclass(frozen=True, slots=True)
class _Scalar:
    low: int
    high: int
    uniformity: Uniformity


_SCALARS: Mapping[str, _Scalar] = {
    "%laneid": _Scalar(0, 31, Uniformity.DIVERGENT),
    "%warpid": _Scalar(0, 63, Uniformity.WARP),
    "%nwarpid": _Scalar(1, 64, Uniformity.GRID),
    "%smid": _Scalar(0, 1023, Uniformity.CTA),
    "%nsmid": _Scalar(1, 1024, Uniformity.GRID),
    "%gridid": _Scalar(0, (1 << 64) - 1, Uniformity.GRID),
    "%cluster_ctarank": _Scalar(0, MAX_CLUSTER - 1, Uniformity.CTA),
    "%cluster_nctarank": _Scalar(1, MAX_CLUSTER, Uniformity.GRID),
    "%is_explicit_cluster": _Scalar(0, 1, Uniformity.GRID),
    "%total_smem_size": _Scalar(0, 1 << 18, Uniformity.GRID),
    "%aggr_smem_size": _Scalar(0, 1 << 18, Uniformity.GRID),
    "%dynamic_smem_size": _Scalar(0, 1 << 18, Uniformity.GRID),
    "%reserved_smem_offset_begin": _Scalar(0, 1 << 28, Uniformity.CTA),
    "%reserved_smem_offset_end": _Scalar(0, 1 << 28, Uniformity.CTA),
    "%reserved_smem_offset_cap": _Scalar(0, 1 << 28, Uniformity.CTA),
    "%current_graph_exec": _Scalar(0, (1 << 64) - 1, Uniformity.GRID),
}
_VECTORS: Mapping[str, Uniformity] = {
    "%tid": Uniformity.DIVERGENT,
    "%ntid": Uniformity.GRID,
    "%ctaid": Uniformity.CTA,
    "%nctaid": Uniformity.GRID,
    "%clusterid": Uniformity.CLUSTER,
    "%nclusterid": Uniformity.GRID,
    "%cluster_ctaid": Uniformity.CTA,
    "%cluster_nctaid": Uniformity.GRID,
}
_VOLATILE = frozenset(
    {"%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi", "%warpid"}
)
"""What may be another number when it is read again; `%warpid` is where the hardware has put the warp."""
_MASKS = frozenset({"%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt"})


def special_name(operand: Register | Component) -> str | None:
    """Return `%tid.x` and the like, or None for an ordinary register."""
    if isinstance(operand, Component):
        return f"{operand.base.name}.{operand.field}" if operand.base.name in _VECTORS else None
    return _special(operand.name)


@lru_cache(maxsize=4096)
def _special(name: str) -> str | None:
    if name.partition(".")[0] in _VECTORS:
        return name
    known = name in _SCALARS or name in _VOLATILE or name in _MASKS
    return name if known or name.startswith(("%pm", "%envreg")) else None


def changes(name: str) -> bool:
    """Tell whether a special register differs from read to read."""
    return name in _VOLATILE or name.startswith("%pm")


def special_uniformity(name: str) -> Uniformity:
    """Return how far all threads read the same number."""
    scalar = _SCALARS.get(name)
    if scalar is not None:
        return scalar.uniformity
    if name.startswith("%envreg"):
        return Uniformity.GRID
    return _VECTORS.get(name.partition(".")[0], Uniformity.DIVERGENT)


def special_value(name: str, width: int, launch: Launch) -> Value | None:
    """Return the value of a special register, or None for one that changes from read to read and has no bounds."""
    if changes(name):
        return _scalar_numbers(name, width, launch) if name in _SCALARS else None
    stem, _, field = name.partition(".")
    if stem in _VECTORS:
        numbers = _vector_numbers(stem, _AXES.get(field, 2), width, launch)
    elif name in _SCALARS and _SCALARS[name].high < 1 << width:
        numbers = _scalar_numbers(name, width, launch)
    else:
        numbers = top(width)
    return of_atom(Atom(AtomKind.SPECIAL, name), numbers)


def _scalar_numbers(name: str, width: int, launch: Launch) -> Value:
    size = launch.cluster_size
    if size is not None and name == "%cluster_nctarank":
        return exactly(size, width)
    if size is not None and name == "%cluster_ctarank":
        return between(0, size - 1, width)
    return between(_SCALARS[name].low, _SCALARS[name].high, width)


def _vector_numbers(stem: str, axis: int, width: int, launch: Launch) -> Value:
    limit = min(MAX_DIM[axis], launch.max_threads or MAX_THREADS)
    exact = launch.block is not None and launch.block_is_exact
    if exact and launch.block is not None:
        limit = launch.block[axis]
    cluster = launch.cluster[axis] if launch.cluster is not None else None
    match stem:
        case "%tid":
            return between(0, limit - 1, width)
        case "%ntid":
            return exactly(limit, width) if exact else between(1, limit, width)
        case "%cluster_ctaid":
            return between(0, (cluster or MAX_CLUSTER) - 1, width)
        case "%cluster_nctaid":
            return exactly(cluster, width) if cluster else between(1, MAX_CLUSTER, width)
    most = (1 << 31) - 1 if axis == 0 else 65535
    low = 1 if stem in ("%nctaid", "%nclusterid") else 0
    return between(low, most - 1 + low, width)
