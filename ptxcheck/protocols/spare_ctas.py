"""CTAs that have nothing to do, as the grid is larger than the work: a host that rounds up to whole tiles makes none.

Such a CTA finds its place in the grid to be beyond a size that the host passes, and writes nothing that outlives it.
Where sizes are numbers in memory, the grid is often made for the largest of them, and CTAs beyond others are common.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from ..cfg.cfg import Cfg
from ..cfg.graph import Edge
from ..ir import Instruction
from ..spec import Trait
from .machine.doubt import sources_of
from .machine.paths import Side
from .machine.symbol import Atom, Condition, show_atom

_PLACE = "%clusterid."
_OWN = (".shared", ".local", ".param")
"""State spaces that end with the CTA."""


def spare_cta(cfg: Cfg, path: Iterable[tuple[Condition, bool]], taken: AbstractSet[Side]) -> str | None:
    """Return what is true of every CTA that has work and false in a run without any, None where that is not said.

    `path` are the decisions of a run of one CTA that is a cluster of its own, `taken` the sides of branches on what
    the host or memory gives that its threads took.
    """
    beyond = next((text for condition, truth in path if (text := _is_within(condition, truth))), None)
    return None if beyond is None or _leaves_results(cfg, taken) else beyond


def _is_within(condition: Condition, truth: bool) -> str | None:
    """Return the order of a place in the grid and a size of which a decision says the contrary."""
    if condition.relation != "lt":
        return None
    sign = -1 if truth else 1
    places = [(name, sign * factor) for name, factor in condition.form.terms if _is_place(name)]
    sizes = [(name, -sign * factor) for name, factor in condition.form.terms if not _is_place(name)]
    # The decision is that places are at least sizes plus this number.
    more = sign * (condition.bound - condition.form.constant) + (1 if truth else 0)
    if not places or not sizes or more < 0 or not all(factor > 0 for _, factor in (*places, *sizes)):
        return None
    if any(source[0] != "param" for name, _ in sizes for source in sources_of(name)):
        return None
    return f"{_sum(places)} < {_sum(sizes)}"


def _is_place(name: Atom) -> bool:
    return name[0] == "special" and str(name[1]).startswith(_PLACE)


def _sum(terms: Iterable[tuple[Atom, int]]) -> str:
    shown = ((show_atom(name).replace(_PLACE, "%ctaid."), factor) for name, factor in terms)
    return " + ".join(name if factor == 1 else f"{factor}*{name}" for name, factor in shown)


def _leaves_results(cfg: Cfg, taken: AbstractSet[Side]) -> bool:
    """Tell whether code that threads may come to on the sides that they took writes more than their CTA's memory."""
    seen, waiting = {0}, [0]
    while waiting:
        block = waiting.pop()
        if block == cfg.exit:
            continue
        if any(_writes_outside(cfg.instructions[point]) for point in cfg.blocks[block].points):
            return True
        fresh = {edge.target for edge in _onward(cfg, block, taken)} - seen
        seen |= fresh
        waiting.extend(fresh)
    return False


def _onward(cfg: Cfg, block: int, taken: AbstractSet[Side]) -> tuple[Edge, ...]:
    """Return the edges out of a block, without sides of a branch that no thread took."""
    edges = cfg.graph.outgoing[block]
    first = next((edge for edge in edges if edge.guard is not None), None)
    if first is None or len(edges) != 2:
        return edges
    point = cfg.blocks[block].last
    sides = tuple(edge for edge in edges if (point, edge is first) in taken)
    return sides or edges


def _writes_outside(instruction: Instruction) -> bool:
    operation = instruction.operation
    traits = operation.traits
    if traits & {Trait.CALL, Trait.ANYTHING}:
        return True
    if Trait.TENSOR_MEMORY in traits:
        return False
    target = operation.slots.get("dst_space", operation.slots.get("space", ""))
    if traits & {Trait.STORE, Trait.ATOMIC}:
        return not target.startswith(_OWN)
    return Trait.ASYNC in traits and target.startswith(".global")
