"""Summaries of called functions: only whether they synchronise.

Property: `synchronises` False means that no instruction of the callee, nor of what it calls, synchronises
threads or asynchronous work. None: the callee, or one that it calls, is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..ir import Function, Module, Symbol
from ..spec import Trait
from .cfg import Cfg
from .synchronising import SYNCHRONISING


@dataclass(frozen=True, slots=True)
class CallSummary:
    """What is known of one call."""

    callee: str | None
    """Name of the function, None for an indirect call."""
    synchronises: bool | None


def summarise(cfg: Cfg, module: Module) -> Mapping[int, CallSummary]:
    """Return the summary of each call of a function, by point."""
    bodies = {f.name: f for f in module.functions if f.body is not None}
    return {
        point: CallSummary(callee, _synchronises(callee, bodies)) for point, callee in cfg.graph.calls.items()
    }


def _synchronises(name: str | None, bodies: Mapping[str, Function]) -> bool | None:
    """Search the call graph from one callee."""
    seen: set[str] = set()
    work = [name]
    known = True
    while work:
        current = work.pop()
        function = None if current is None else bodies.get(current)
        if function is None or function.body is None:
            known = False
            continue
        if function.name in seen:
            continue
        seen.add(function.name)
        for instruction in function.body.instructions:
            if instruction.operation.traits & SYNCHRONISING:
                return True
            if Trait.CALL in instruction.operation.traits:
                callee = instruction.get("function")
                work.append(callee.name if isinstance(callee, Symbol) else None)
    return False if known else None
