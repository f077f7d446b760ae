"""Strands as paths of role automata: which threads act together, and what they do in each node.

Property: each thread is in one strand, and at each node the strand does what the thread does there.

Argument: warps are cut wherever an event, or a branch, is of some of their threads only. The meaning of an event is
that which `model.lowering` gives it in a run.

Not covered: waits that registers of tensor loads imply (`model.tensor_loads`): without them less is in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...cfg.cfg import Cfg
from ...launch import GivenValue
from ...opcodes.op import Op
from ...terms.effort import Effort, Work
from ..automata.automaton import Arrival, Automaton, Node
from ..contract.given import with_given
from ..model.actions import Action, Protocol, Strand, Transfer
from ..model.launch_answers import as_request, requests_of
from ..model.lowering import Events, Lower, Stored, strand_name, thread_classes
from ..model.lowering_cache import Lowered
from ..model.tensor_address import allocations_of
from ..model.unobserved_arrivals import without_unheard_arrivals
from ..symex.values.trace import ThreadSet, Trace
from .inventory import StrandInfo

_WARP = 32
_WARP_MASK = (1 << _WARP) - 1


@dataclass(frozen=True, slots=True)
class Step:
    """What a strand does in one node, and where it goes."""

    node: Node
    actions: tuple[Action, ...]
    nexts: tuple[tuple[int, Arrival], ...]
    """One target, or those of the two answers; none at the end."""


@dataclass(frozen=True, slots=True)
class Role:
    """One strand."""

    info: StrandInfo
    automaton: int
    threads: ThreadSet
    steps: Mapping[int, Step]


def roles_of(
    cfg: Cfg,
    automata: Sequence[Automaton],
    meanings: Mapping[Op, Lower],
    stored: Stored,
    given: Sequence[GivenValue],
    effort: Effort,
) -> tuple[Role, ...]:
    """Return the strands of all CTAs. Raises NotFollowedError, OutOfEffortError."""
    rows = [
        row
        for number, each in enumerate(automata)
        for row in _rows(cfg, number, each, meanings, stored, effort)
    ]
    strands = tuple(_strand(info, by_node) for info, _, _, by_node in rows)
    changed = _with_requests(cfg, with_given(Protocol(strands, 0), given).strands)
    heard = without_unheard_arrivals(cfg, changed)
    found = []
    for (info, number, threads, by_node), strand, kept in zip(rows, changed, heard, strict=True):
        left = None if kept is strand else {id(action) for action in kept.actions}
        actions = iter(strand.actions)
        steps: dict[int, Step] = {}
        for node, own in by_node.items():
            taken = tuple(next(actions) for _ in own)
            if left is not None:
                taken = tuple(action for action in taken if id(action) in left)
            steps[node] = Step(
                automata[number].nodes[node], taken, _nexts(automata[number].nodes[node], threads)
            )
        found.append(Role(info, number, threads, steps))
    return tuple(found)


def _with_requests(cfg: Cfg, strands: Sequence[Strand]) -> Sequence[Strand]:
    requests = requests_of(cfg)
    if not requests:
        return strands

    def marked(action: Action, cta: int) -> Action:
        is_request = isinstance(action, Transfer) and action.point in requests
        return as_request(action, cta) if is_request and isinstance(action, Transfer) else action

    return [replace(each, actions=tuple(marked(a, each.cta) for a in each.actions)) for each in strands]


def _strand(info: StrandInfo, by_node: Mapping[int, tuple[Action, ...]]) -> Strand:
    """Return a strand that does all that one does in any node."""
    actions = tuple(action for own in by_node.values() for action in own)
    return Strand(info.cta, info.warp, info.lanes, info.name, actions, tuple(range(len(actions))))


def _nexts(node: Node, threads: ThreadSet) -> tuple[tuple[int, Arrival], ...]:
    if node.sides:
        chosen = next(
            target for side, target in zip(node.sides, node.targets, strict=True) if not threads & ~side
        )
        return ((chosen.node, chosen.arrival),)
    return tuple((target.node, target.arrival) for target in node.targets)


def _rows(
    cfg: Cfg,
    number: int,
    automaton: Automaton,
    meanings: Mapping[Op, Lower],
    stored: Stored,
    effort: Effort,
) -> Iterator[tuple[StrandInfo, int, ThreadSet, dict[int, tuple[Action, ...]]]]:
    events = tuple(event for node in automaton.nodes for event in node.events)
    trace = Trace(automaton.rank, automaton.shape, events, (), automaton.assumptions)
    lowered = Lowered()
    origins = allocations_of(cfg, trace)
    lowering = Events(cfg, trace, meanings, origins, lowered, stored)
    known: dict[tuple[int, int], tuple[Action, ...]] = {}
    sides = {side for node in automaton.nodes for side in node.sides}
    for threads in _cut(thread_classes(cfg, trace, meanings), sorted(sides)):
        by_node: dict[int, tuple[Action, ...]] = {}
        for node in _reached(automaton, threads):
            actions: list[Action] = []
            for event in node.events:
                own = event.threads & threads
                if own:
                    again = known.get((id(event), own))
                    if again is None:
                        effort.pay(Work.LOWERING)
                        again = known[id(event), own] = tuple(lowering.lower(event, own))
                    actions += again
            by_node[node.number] = tuple(actions)
        first = (threads & -threads).bit_length() - 1
        warp = first // _WARP
        lanes = threads >> warp * _WARP & _WARP_MASK
        name = strand_name(trace, warp, lanes)
        yield StrandInfo(automaton.rank, warp, lanes, name), number, threads, by_node


def _cut(classes: Sequence[ThreadSet], sides: Sequence[ThreadSet]) -> list[ThreadSet]:
    found = list(classes)
    for side in sides:
        parts: list[ThreadSet] = []
        for mask in found:
            parts += [part for part in (mask & side, mask & ~side) if part]
        found = parts
    return found


def _reached(automaton: Automaton, threads: ThreadSet) -> Iterator[Node]:
    """Yield the nodes on the paths of some threads, by number."""
    seen, waiting = {automaton.entry}, [automaton.entry]
    while waiting:
        node = automaton.nodes[waiting.pop()]
        for number, _ in _nexts(node, threads):
            if number not in seen:
                seen.add(number)
                waiting.append(number)
    for number in sorted(seen):
        yield automaton.nodes[number]
