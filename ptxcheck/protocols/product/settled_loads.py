"""Loads of tensor memory that are over because their registers have been read: see `model.tensor_loads`.

Property: a wait that `with_settled_loads` puts in a step settles only loads that the strand has issued and whose
registers it has read by then, and earlier ones.

Argument: a forward analysis over the steps of a strand: which loads are open at the end of each, in their order, as far
back as all ways to it agree. A read settles the load and what was issued before it.

Not covered: loads further back than the ways to a step agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ...cfg.cfg import Cfg
from ..automata.nodes import Arrival
from ..model.actions import TENSOR_LOADS, Action, TensorAccess, TensorWait
from ..model.tensor_loads import LoadUses
from ..symex.slice.branch_sides import between
from .roles import Role, Step

_Open: TypeAlias = tuple[int, ...]
"""Points of loads that are open, in the order of their issue."""
_MOST_OPEN = 32


def with_settled_loads(cfg: Cfg, roles: Sequence[Role]) -> tuple[Role, ...]:
    """Return the strands of a kernel, with waits where loads are over."""
    uses = LoadUses(cfg)
    return tuple(
        _settled(cfg, uses, role) if any(map(_loads, role.steps.values())) else role for role in roles
    )


def _loads(step: Step) -> bool:
    return any(isinstance(each, TensorAccess) and each.pipeline == TENSOR_LOADS for each in step.actions)


def _settled(cfg: Cfg, uses: LoadUses, role: Role) -> Role:
    blocks = {step.node.number: step.node.block for step in role.steps.values()}
    onward = role.onward()
    begun = _begun(cfg, role, onward)
    rests = {
        number: _read_at_end(cfg, uses, role, step, blocks, begun[number])
        for number, step in role.steps.items()
    }
    entered = {target for own in onward.values() for target, _ in own}
    known: dict[int, _Open] = {number: () for number in role.steps if number not in entered}
    waiting = list(known)
    while waiting:
        number = waiting.pop()
        after, _ = _through(role.steps[number], known[number], uses, begun[number], rests[number])
        for target, _ in onward[number]:
            before = known.get(target)
            now = after if before is None else _common(before, after)
            if now != before:
                known[target] = now
                waiting.append(target)
    return role.with_actions(
        {
            number: _through(step, known.get(number, ()), uses, begun[number], rests[number])[1]
            for number, step in role.steps.items()
        }
    )


def _through(
    step: Step, open_loads: _Open, uses: LoadUses, last: int, rest: frozenset[int]
) -> tuple[_Open, tuple[Action, ...]]:
    """Return what is open behind a step, and what a strand does in it, with waits.

    It begins behind the point `last`; the registers of the loads `rest` are read at its end.
    """
    found: list[Action] = []
    for action in step.actions:
        if open_loads and action.point > last:
            read = uses.read_in(range(last + 1, action.point))
            open_loads, waits = _without(open_loads, read, action.point)
            found += waits
        last = max(last, action.point)
        found.append(action)
        if isinstance(action, TensorAccess) and action.pipeline == TENSOR_LOADS:
            open_loads = (*open_loads, action.point)[-_MOST_OPEN:]
        elif isinstance(action, TensorWait) and action.pipeline == TENSOR_LOADS:
            open_loads = open_loads[-action.pending :] if action.pending else ()
    open_loads, waits = _without(open_loads, rest, last)
    return open_loads, (*found, *waits)


def _begun(cfg: Cfg, role: Role, onward: Mapping[int, Sequence[tuple[int, Arrival]]]) -> dict[int, int]:
    """Return the last point in front of each step that was executed in its block by the steps before it."""
    begun = {
        number: cfg.blocks[step.node.block].start - 1 if step.node.block != cfg.exit else -1
        for number, step in role.steps.items()
    }
    waiting = list(role.steps)
    while waiting:
        number = waiting.pop()
        last = max((begun[number], *(action.point for action in role.steps[number].actions)))
        for target, arrival in onward[number]:
            if arrival is Arrival.KEEP and begun[target] < last:
                begun[target] = last
                waiting.append(target)
    return begun


def _read_at_end(
    cfg: Cfg, uses: LoadUses, role: Role, step: Step, blocks: Mapping[int, int], begun: int
) -> frozenset[int]:
    """Return the loads whose registers are read behind the last action of a step, and before the next step begins.

    None where the step only asks what happens next in its block, or only parts threads; but on sides on which nothing
    happens, what all threads of the strand read. Where both sides of a branch are passed at once, what is read on some
    way counts, as it does in a run.
    """
    node, block = step.node, step.node.block
    on_sides = [
        frozenset(
            load for edge in edges for load in _read_behind(cfg, uses, *edge, cfg.blocks[edge[0]].start)
        )
        for threads, edges in node.passed
        if threads & role.threads
    ]
    passed = frozenset.intersection(*on_sides) if on_sides else frozenset[int]()
    is_part_of_one = any(arrival is Arrival.KEEP for _, arrival, _ in step.nexts)
    if block == cfg.exit or is_part_of_one or (node.sides and not step.actions):
        return passed
    first = 1 + max((begun, *(action.point for action in step.actions)))
    nexts = [blocks[target] for target, _, _ in step.nexts] if not node.passed else []
    own = uses.read_in(range(first, cfg.blocks[block].end))
    return passed.union(own, *(_read_behind(cfg, uses, block, each, first) for each in nexts))


def _read_behind(cfg: Cfg, uses: LoadUses, block: int, target: int, first: int) -> frozenset[int]:
    """Return the loads whose registers are read from a point of a block on, and up to another block.

    That is the join where both sides of the branch at the end are passed at once.
    """
    parts = [range(first, cfg.blocks[block].end)]
    if target not in cfg.successors[block]:
        parts += [
            range(cfg.blocks[each].start, cfg.blocks[each].end) for each in sorted(between(cfg, block).blocks)
        ]
    return frozenset(load for part in parts for load in uses.read_in(part))


def _without(open_loads: _Open, read: frozenset[int], point: int) -> tuple[_Open, tuple[TensorWait, ...]]:
    """Return what is still open when the registers of some loads were read, and the wait that this amounts to."""
    used = [place for place, load in enumerate(open_loads) if load in read]
    if not used:
        return open_loads, ()
    left = open_loads[used[-1] + 1 :]
    return left, (TensorWait(point, TENSOR_LOADS, len(left)),)


def _common(one: _Open, other: _Open) -> _Open:
    """Return the last loads that two ways have in common."""
    length = 0
    while length < min(len(one), len(other)) and one[-1 - length] == other[-1 - length]:
        length += 1
    return one[len(one) - length :]
