"""The role automata of one kernel for one launch, as the product followed them last."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ..cfg import build
from ..cfg.cfg import Cfg
from ..cfg.local_words import with_words_in_registers
from ..ir import Function, Module
from ..launch import Launch
from ..terms.effort import Effort
from .product.for_all import Open, Shown, for_all
from .product.kernel_automata import RoleAutomata
from .symex.slice.layout import layout_of
from .symex.slice.sliced_program import Program
from .symex.values.trace import Shape
from .typestate.register_count import most_registers


@dataclass(frozen=True, slots=True)
class Followed:
    """How a kernel was followed for every count, and what came of it."""

    automata: RoleAutomata | None
    """None where no way to follow it has an end."""
    result: Shown | Open


def role_automata(
    cfg: Cfg, function: Function, module: Module, launch: Launch, shape: Shape, *, seconds: float = 20.0
) -> Followed:
    """Return the role automata of a kernel; `shape` has the block and the cluster, `seconds` limits the effort."""
    followed = with_words_in_registers(function)
    if followed is not function:
        cfg, function = build(followed), followed
    seen: list[RoleAutomata] = []
    result = for_all(
        Program(cfg, module, launch, accesses=True),
        layout_of(function, module, launch.given, launch.facts),
        launch.given,
        shape,
        most_registers(function.attributes, prod(shape.block)),
        Effort(seconds),
        seen.append,
    )
    return Followed(seen[-1] if seen else None, result)


__all__ = ["Followed", "RoleAutomata", "role_automata"]
