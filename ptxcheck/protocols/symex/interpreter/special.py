"""Special registers of the SIMT machine.

Property: each register reads what PTX says for the shape of the launch, or a symbol that is one number for all
threads that read one.

Argument: numbers of threads and CTAs follow from the shape; the place in the grid is a symbol for each axis of the
clusters.

Not covered: registers that change from read to read; they are symbols of their own (`operand_values`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..values.kinds import Kind
from ..values.symbol import (
    Form,
    Lanes,
    Value,
    atom,
    plus,
)
from ..values.trace import Shape

_AXIS = {"x": 0, "y": 1, "z": 2}
_ALL = np.uint64(0xFFFFFFFF)
_LANE_MASKS: Mapping[str, Callable[[Lanes], Lanes]] = {
    "%lanemask_eq": lambda bit: bit,
    "%lanemask_lt": lambda bit: bit - np.uint64(1),
    "%lanemask_le": lambda bit: (bit << np.uint64(1)) - np.uint64(1),
    "%lanemask_gt": lambda bit: _ALL & ~((bit << np.uint64(1)) - np.uint64(1)),
    "%lanemask_ge": lambda bit: _ALL & ~(bit - np.uint64(1)),
}
"""Masks of lanes beside one's own, whose bit is given (PTX ISA, "Special Registers")."""


def special_register(name: str, axis: str, shape: Shape, rank: int) -> Value | None:
    """Return what a special register reads, or None when the name is not one that is known."""
    index = _AXIS.get(axis)
    if index is not None:
        return _axis_register(name, index, shape, rank)
    threads = np.arange(shape.threads, dtype=np.uint64)
    known: dict[str, Value] = {
        "%laneid": threads % 32,
        "%cluster_ctarank": rank,
        "%cluster_nctarank": shape.ctas,
        "%is_explicit_cluster": int(shape.ctas > 1),
    }
    if name in known:
        return known[name]
    if name in _LANE_MASKS:
        return _LANE_MASKS[name](np.uint64(1) << threads % np.uint64(32))
    if name == "%smid":
        return atom(Kind.VOLATILE, name, rank)
    return (
        atom(Kind.SPECIAL, name)
        if name.startswith("%") and name[1:].isidentifier() and name[-1].isalpha()
        else None
    )


def _axis_register(name: str, index: int, shape: Shape, rank: int) -> Value | None:
    local = shape.place(rank)[index]
    if name == "%tid":
        threads = np.arange(shape.threads, dtype=np.uint64)
        width, height, _ = shape.block
        return (threads % width, threads // width % height, threads // (width * height))[index]
    if name == "%ntid":
        return shape.block[index]
    if name == "%cluster_ctaid":
        return local
    if name == "%cluster_nctaid":
        return shape.cluster[index]
    axis = "xyz"[index]
    if name == "%ctaid":
        cluster: Form = atom(Kind.SPECIAL, f"%clusterid.{axis}")
        scaled = Form(((cluster.terms[0][0], shape.cluster[index]),))
        return plus(scaled, local)
    if name in ("%nctaid", "%clusterid", "%nclusterid"):
        return atom(Kind.SPECIAL, f"{name}.{axis}")
    return None
