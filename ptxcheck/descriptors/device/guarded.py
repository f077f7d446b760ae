"""What the guards on every way to a point say of kernel parameters.

Property: in every run of a thread that executes the point, each of `parameter_facts` holds. Parameters do not change
while a kernel runs, so that it holds as well where the map was made that a copy at the point reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...cfg import AtomKind
from ...cfg.compare import constrain
from ...cfg.values import top
from ...ir import Guard
from ...launch import FactOrigin, ParameterFact
from ...protocols.typestate.conditions import Comparison, Conditions

if TYPE_CHECKING:
    from ...view import KernelView


def parameter_facts(view: KernelView, point: int, conditions: Conditions) -> tuple[ParameterFact, ...]:
    """Return what holds of single parameters whenever the point is executed."""
    places = {variable.name: at for at, _, variable in view.function.parameter_places}
    found: dict[ParameterFact, None] = {}
    for at, guard in _guards(view, point):
        for comparison in conditions.of(at, guard).comparisons:
            fact = _fact(comparison, places)
            if fact is not None:
                found[fact] = None
    return tuple(found)


def _guards(view: KernelView, point: int) -> Iterator[tuple[int, Guard]]:
    """Yield guards that hold on every way to a point, with the points at which they are read."""
    own = view.cfg.instructions[point].guard
    if own is not None:
        yield point, own
    block = view.cfg.graph.block_of[point]
    for edge in view.cfg.graph.edges:
        alone = len(view.cfg.edges_into(edge.target)) == 1
        if edge.guard is None or not alone or edge.target == view.cfg.exit:
            continue
        if view.cfg.dominators.dominates(edge.target, block):
            yield view.cfg.blocks[edge.source].last, edge.guard


def _fact(comparison: Comparison, places: dict[str, int]) -> ParameterFact | None:
    """Return a comparison of one parameter, or of one and a constant, with a number."""
    key, width = comparison.key, comparison.width
    if len(key.terms) != 1:
        return None
    atom, factor = key.terms[0]
    if factor != 1 or atom.kind is not AtomKind.PARAMETER or atom.name not in places or atom.width != width:
        return None
    numbers = constrain(top(width), comparison.relation, comparison.number, comparison.signed)
    if numbers is None or numbers == top(width):
        return None
    low, high = ((bound - key.constant) % (1 << width) for bound in (numbers.low, numbers.high))
    if low > high:
        return None
    offset = places[atom.name] + atom.at
    text = f"{low} <= {atom.name} <= {high}"
    return ParameterFact(atom.name, offset, width // 8, FactOrigin.GUARD, text, low=low, high=high)
