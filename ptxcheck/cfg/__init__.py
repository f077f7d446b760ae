"""Control flow, values and uniformity of one function: `build` gives a `Cfg`, `analyse` its `Facts`."""

from __future__ import annotations

from .addresses import Pointer
from .approximations import Approximation, ApproximationKind
from .calls import CallSummary
from .cfg import Cfg, ControlDependence, build
from .compare import Relation
from .definitions import Name
from .execution import Execution
from .facts import Facts, analyse
from .graph import Block, Edge, EdgeKind
from .linear import Atom, AtomKind, Linear
from .loops import Loop
from .slice import SyncSlice
from .solve import States, backward, forward
from .synchronising import SYNCHRONISING
from .threads import ThreadSet
from .uniform import Uniformity
from .values import Value

__all__ = [
    "SYNCHRONISING", "Approximation", "ApproximationKind", "Atom", "AtomKind", "Block", "CallSummary", "Cfg",
    "ControlDependence", "Edge", "EdgeKind", "Execution", "Facts", "Linear", "Loop", "Name", "Pointer",
    "Relation", "States", "SyncSlice", "ThreadSet", "Uniformity", "Value", "analyse", "backward", "build",
    "forward",
]  # fmt: skip
