"""Tensor maps: legality by driver version and capability, derived facts, and the cheapest legal encode.

>>> from ptxcheck.descriptors import TiledMap, violations
>>> row = TiledMap(data_type=6, global_dim=(1000, 64), global_strides=(2000,), box_dim=(64, 300), swizzle=3)
>>> [v.constraint.id for v in violations(row)]
['box-range']
"""

from ptxcheck.descriptors.columns import encodes
from ptxcheck.descriptors.constraints import (
    Constraint,
    Evidence,
    Layer,
    Platform,
)
from ptxcheck.descriptors.facts import Facts, facts
from ptxcheck.descriptors.fields import (
    DataType,
    Interleave,
    Kind,
    L2Promotion,
    OobFill,
    Swizzle,
    WideMode,
)
from ptxcheck.descriptors.legality import Violation, is_encoded, violations
from ptxcheck.descriptors.picture import svg
from ptxcheck.descriptors.ranges import Symbol
from ptxcheck.descriptors.request import (
    Answer,
    Impossible,
    Request,
    Solution,
    Use,
)
from ptxcheck.descriptors.solve import solve
from ptxcheck.descriptors.symbolic import (
    Clause,
    Legality,
    Verdict,
    decide,
)
from ptxcheck.descriptors.tensor_map import (
    Im2colMap,
    Im2colWideMap,
    TensorMap,
    TiledMap,
)

__all__ = [
    "Answer",
    "Clause",
    "Constraint",
    "DataType",
    "Evidence",
    "Facts",
    "Im2colMap",
    "Im2colWideMap",
    "Impossible",
    "Interleave",
    "Kind",
    "L2Promotion",
    "Layer",
    "Legality",
    "OobFill",
    "Platform",
    "Request",
    "Solution",
    "Swizzle",
    "Symbol",
    "TensorMap",
    "TiledMap",
    "Use",
    "Verdict",
    "Violation",
    "WideMode",
    "decide",
    "encodes",
    "facts",
    "is_encoded",
    "solve",
    "svg",
    "violations",
]
