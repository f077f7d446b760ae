"""Summaries of called functions: whether they synchronise, and whether they only compute.

Property: `synchronises` False means that no instruction of the callee, nor of what it calls, synchronises
threads or asynchronous work. `computes` True means that moreover none may access shared memory or end a thread. None:
the callee, or one that it calls, is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..ir import (
    Function,
    Instruction,
    Module,
)
from ..opcodes.op import Op
from ..opcodes.spec import Trait
from .cfg import Cfg
from .synchronising import SYNCHRONISING


@dataclass(frozen=True, slots=True)
class CallSummary:
    """What is known of one call."""

    callee: str | None
    """Name of the function, None for an indirect call."""
    synchronises: bool | None
    computes: bool | None


_ENDS = frozenset({Op.EXIT})
_ACCESSING = frozenset({Trait.LOAD, Trait.STORE, Trait.ATOMIC})


def summarise(cfg: Cfg, module: Module) -> Mapping[int, CallSummary]:
    """Return the summary of each call of a function, by point."""
    calls = cfg.graph.calls
    summaries = {callee: _summary(callee, module.bodies) for callee in dict.fromkeys(calls.values())}
    return {point: summaries[callee] for point, callee in calls.items()}


def _summary(callee: str | None, bodies: Mapping[str, Function]) -> CallSummary:
    is_known = True
    acts = False
    for instruction in _instructions(callee, bodies):
        if instruction is None:
            is_known = False
        elif instruction.operation.traits & SYNCHRONISING:
            return CallSummary(callee, synchronises=True, computes=False)
        else:
            acts |= _acts(instruction)
    return CallSummary(callee, False if is_known else None, False if acts else True if is_known else None)


def called_from(name: str, module: Module) -> list[str]:
    """Return the functions with a body that run when one does, as far as calls name them: the first is that one."""
    return [function.name for function in _functions(name, module.bodies) if function is not None]


def _instructions(name: str | None, bodies: Mapping[str, Function]) -> Iterator[Instruction | None]:
    """Yield the instructions of a function and all that it calls, None for a function that is not known."""
    for function in _functions(name, bodies):
        if function is None or function.body is None:
            yield None
        else:
            yield from function.body.instructions


def _functions(name: str | None, bodies: Mapping[str, Function]) -> Iterator[Function | None]:
    """Yield a function and all that it calls, each once, None for one that is not known."""
    seen: set[str] = set()
    work = [name]
    while work:
        current = work.pop()
        function = None if current is None else bodies.get(current)
        if function is None or function.body is None:
            yield None
            continue
        if function.name in seen:
            continue
        seen.add(function.name)
        yield function
        calls = (each for each in function.body.instructions if Trait.CALL in each.operation.traits)
        work += [call.callee for call in calls]


def _acts(instruction: Instruction) -> bool:
    """Tell whether an instruction may access shared memory, or end a thread alone."""
    operation = instruction.operation
    space = operation.slots.get("space", "")
    reaches = operation.traits & _ACCESSING and (not space or space.startswith(".shared"))
    return bool(reaches) or operation.op in _ENDS
