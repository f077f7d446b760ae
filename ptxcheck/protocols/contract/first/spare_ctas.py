"""CTAs that have nothing to do, as the grid is larger than the work: a host that rounds up to whole tiles makes none.

Such a CTA finds its place in the grid to be beyond a size that the host passes, and writes nothing that outlives it.
Where sizes are numbers in memory, the grid is often made for the largest of them, and CTAs beyond others are common.

A compiler that knows all sizes leaves nothing to be passed: a CTA compares its place with a number. Nothing is said
then of a CTA beyond it, which may have another role, unless a run is made with just one parameter of that number; but
where a loop counts from the place of the CTA up to the number, one that would make no round at all is none of the grid.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from ....cfg.cfg import Cfg
from ....cfg.definitions import Definitions
from ....cfg.graph import Edge, EdgeKind
from ....ir import Component, Instruction, Register
from ....opcodes.op import Op
from ....opcodes.spec import Trait
from ...model.outside import writes_outside
from ...proof.first.paths import Plan, Side
from ...symex.values.approximated_terms import sources_of
from ...symex.values.kinds import Kind
from ...symex.values.symbol import Atom, Condition, show_atom

_PLACE = "%clusterid."
_PLACES = frozenset({"%ctaid", "%clusterid", "%cluster_ctaid"})


def spare_cta(
    cfg: Cfg, path: Iterable[tuple[Condition, bool]], taken: AbstractSet[Side], numbers: Mapping[Atom, int]
) -> str | None:
    """Return what is true of every CTA that has work and false in a run without any, None where that is not said.

    `path` are the decisions of a run of one CTA that is a cluster of its own, `taken` the sides of branches on what
    the host or memory gives that its threads took, `numbers` those that the run was made with.
    """
    beyond = next(
        (text for condition, truth in path if (text := _is_within(condition, truth, numbers))), None
    )
    return None if beyond is None or _leaves_results(cfg, taken) else beyond


def without_rounds(cfg: Cfg, definitions: Definitions, plan: Plan) -> str | None:
    """Return what is true of every CTA whose place leaves it rounds of a loop, None where a run makes some.

    A run that comes to code of its own for such a place is one that the kernel is meant for.
    """
    made = ((side, *answer) for (side, _), answer in zip(plan.made, plan.answers, strict=True))
    followed = ((side, condition, truth) for side, (_, condition, truth) in plan.followed.items())
    beyond = [
        (side, text)
        for side, condition, truth in (*made, *followed)
        if (text := _is_below(condition, truth)) is not None
    ]
    if not beyond or not all(
        _skips_rounds_from_place(cfg, definitions, point, is_taken=is_taken)
        for (point, is_taken), _ in beyond
    ):
        return None
    return beyond[0][1]


def _is_below(condition: Condition, truth: bool) -> str | None:
    """Return the order of one place in the grid and a number of which a decision says the contrary."""
    if condition.relation != "lt" or len(condition.form.terms) != 1:
        return None
    ((name, factor),) = condition.form.terms
    limit = condition.bound - condition.form.constant
    if not _is_place(name) or abs(factor) != 1 or truth == (factor > 0):
        return None
    # The place is at least `limit`, or it is more than `-limit`.
    most = limit if factor > 0 else 1 - limit
    return f"{_sum([(name, 1)])} < {most}" if most > 0 else None


def _skips_rounds_from_place(cfg: Cfg, definitions: Definitions, point: int, *, is_taken: bool) -> bool:
    """Tell whether a side of a branch does no more than to leave out a loop that counts from a place in the grid."""
    block = cfg.graph.block_of[point]
    sides = {edge.kind is EdgeKind.BRANCH: edge.target for edge in cfg.graph.outgoing[block]}
    if point != cfg.blocks[block].last or len(sides) != 2:
        return False
    around, through = sides[is_taken], sides[not is_taken]
    return any(
        cfg.dominators.dominates(through, loop.header)
        and block not in loop.blocks
        and _rejoins(cfg, around, loop.header)
        and any(_is_by_place(cfg, definitions, inside) for inside, _ in loop.exits)
        for loop in cfg.loops
    )


def _rejoins(cfg: Cfg, block: int, header: int) -> bool:
    """Tell whether a block is where a loop leads to, or only sets registers on the way there."""
    seen = set[int]()
    while not cfg.leads_to(header, block) and block not in seen and block != cfg.exit:
        seen.add(block)
        *others, last = (cfg.instructions[point] for point in cfg.blocks[block].points)
        onward = cfg.graph.outgoing[block]
        if len(onward) != 1 or not all(
            map(_sets_register, (*others, *(() if _is_branch(last) else (last,))))
        ):
            return False
        block = onward[0].target
    return cfg.leads_to(header, block)


def _sets_register(instruction: Instruction) -> bool:
    return Trait.PURE in instruction.operation.traits


def _is_branch(instruction: Instruction) -> bool:
    return instruction.operation.op is Op.BRA


def _is_by_place(cfg: Cfg, definitions: Definitions, block: int) -> bool:
    """Tell whether the branch at the end of a block goes by what is computed from a place in the grid."""
    last = cfg.blocks[block].last
    guard = cfg.instructions[last].guard
    names = [] if guard is None else [definitions.before(last, guard.register)]

    def operands(point: int) -> Iterable[Register]:
        instruction = cfg.instructions[point]
        return instruction.reads() if _sets_register(instruction) else ()

    return any(
        _names_place(operand)
        for point in definitions.computed_from(names, operands)
        for operand in cfg.instructions[point].operands
    )


def _names_place(operand: object) -> bool:
    return isinstance(operand, Component) and operand.base.name in _PLACES


def _is_within(condition: Condition, truth: bool, numbers: Mapping[Atom, int]) -> str | None:
    """Return the order of a place in the grid and a size of which a decision says the contrary.

    A size that a run is made with stands in its decisions as the number.
    """
    if condition.relation != "lt":
        return None
    sign = -1 if truth else 1
    places = [(name, sign * factor) for name, factor in condition.form.terms if _is_place(name)]
    sizes = [(name, -sign * factor) for name, factor in condition.form.terms if not _is_place(name)]
    # The decision is that places are at least sizes plus this number.
    more = sign * (condition.bound - condition.form.constant) + (1 if truth else 0)
    if not sizes and more > 0:
        made = [name for name, number in numbers.items() if number == more and name.kind is Kind.PARAM]
        if len(made) == 1:
            sizes, more = [(made[0], 1)], 0
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
        if any(writes_outside(cfg.instructions[point]) for point in cfg.blocks[block].points):
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
