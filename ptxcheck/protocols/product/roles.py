"""Strands as paths of role automata: which threads act together, and what they do in each node.

Property: each thread is in one strand, and at each node the strand does what the thread does there.

Argument: warps are cut wherever an event, or a branch, is of some of their threads only. The meaning of an event is
that which `model.lowering` gives it in a run.

Not covered: waits that registers of tensor loads imply: see `settled_loads`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ...cfg.cfg import Cfg
from ...launch import GivenValue
from ...opcodes.op import Op
from ...terms.effort import Effort, Work
from ..automata.automaton import Automaton
from ..automata.environments import Env, Variables
from ..automata.nodes import Arrival, Node
from ..contract.given import with_given
from ..model.actions import Action, Protocol, Strand, Transfer
from ..model.launch_answers import as_request, requests_of
from ..model.lowering import Events, Lower, Stored, strand_name, thread_classes
from ..model.lowering_cache import Lowered
from ..model.tensor_address import allocations_of
from ..model.unobserved_arrivals import without_unheard_arrivals
from ..symex.values.trace import Event, ThreadSet, Trace
from .inventory import StrandInfo

_WARP = 32
_WARP_MASK = (1 << _WARP) - 1
_At: TypeAlias = tuple[int, Env]
"""A node, and the numbers of the variables that its events depend on."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a strand does in one node, and where it goes."""

    number: int
    """Its own number: that of the node, or another one where the node is a step for each number of its variables."""
    node: Node
    actions: tuple[Action, ...]
    nexts: tuple[tuple[int, Arrival, int], ...]
    """One target, or those of the two answers, with the place of each among those of the node; none at the end."""


@dataclass(frozen=True, slots=True)
class Role:
    """One strand."""

    info: StrandInfo
    automaton: int
    threads: ThreadSet
    steps: Mapping[int, Step]
    """By number."""
    variants: Mapping[tuple[int, Env], Step]
    """By node, and the numbers of the variables that what happens there depends on."""
    variables: Variables

    def step(self, node: int, env: Env) -> Step:
        """Return what the strand does at a node, with some numbers of the variables that are live there."""
        found = self.steps.get(node)
        return self.variants[node, self.variables.variant(node, env)] if found is None else found

    def onward(self) -> dict[int, list[tuple[int, Arrival]]]:
        """Return for each step the numbers of those that may follow, with what the edge does to ordinals.

        None follow at a node that the strand comes to with no numbers of its variables.
        """
        by_node: dict[int, list[int]] = {}
        for number, step in self.steps.items():
            by_node.setdefault(step.node.number, []).append(number)
        return {
            number: [(target, arrival) for node, arrival, _ in step.nexts for target in by_node.get(node, ())]
            for number, step in self.steps.items()
        }

    def with_actions(self, actions: Mapping[int, tuple[Action, ...]]) -> Role:
        """Return the strand with other actions in some steps."""
        if all(actions[number] == self.steps[number].actions for number in actions):
            return self
        steps = {
            number: replace(step, actions=actions.get(number, step.actions))
            for number, step in self.steps.items()
        }
        variants = {key: steps[step.number] for key, step in self.variants.items()}
        return replace(self, steps=steps, variants=variants)


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
    strands = tuple(strand_of(info, by_node.values()) for info, _, _, by_node in rows)
    changed = _with_requests(cfg, with_given(Protocol(strands, 0), given).strands)
    heard = without_unheard_arrivals(cfg, changed)
    found = []
    for (info, number, threads, by_node), strand, kept in zip(rows, changed, heard, strict=True):
        left = None if kept is strand else {id(action) for action in kept.actions}
        actions = iter(strand.actions)
        steps: dict[int, Step] = {}
        variants: dict[tuple[int, Env], Step] = {}
        for (node, variant), own in by_node.items():
            taken = tuple(next(actions) for _ in own)
            if left is not None:
                taken = tuple(action for action in taken if id(action) in left)
            at = automata[number].nodes[node]
            its = len(automata[number].nodes) + len(variants) if variant else node
            steps[its] = Step(its, at, taken, _nexts(at, threads))
            if variant:
                variants[node, variant] = steps[its]
        found.append(Role(info, number, threads, steps, variants, automata[number].variables))
    return tuple(found)


def _with_requests(cfg: Cfg, strands: Sequence[Strand]) -> Sequence[Strand]:
    requests = requests_of(cfg)
    if not requests:
        return strands

    def marked(action: Action, cta: int) -> Action:
        is_request = isinstance(action, Transfer) and action.point in requests
        return as_request(action, cta) if is_request and isinstance(action, Transfer) else action

    return [replace(each, actions=tuple(marked(a, each.cta) for a in each.actions)) for each in strands]


def strand_of(info: StrandInfo, parts: Iterable[Sequence[Action]]) -> Strand:
    """Return a strand that does all that one does in any node."""
    actions = tuple(action for own in parts for action in own)
    return Strand(info.cta, info.warp, info.lanes, info.name, actions, tuple(range(len(actions))))


def _nexts(node: Node, threads: ThreadSet) -> tuple[tuple[int, Arrival, int], ...]:
    return tuple(
        (node.targets[which].node, node.targets[which].arrival, which) for which in node.open_to(threads)
    )


def _rows(
    cfg: Cfg,
    number: int,
    automaton: Automaton,
    meanings: Mapping[Op, Lower],
    stored: Stored,
    effort: Effort,
) -> Iterator[tuple[StrandInfo, int, ThreadSet, dict[_At, tuple[Action, ...]]]]:
    variables = automaton.variables
    by_variant: dict[int, list[tuple[Env, tuple[Event, ...]]]] = {}
    for node in automaton.nodes:
        by_variant[node.number] = [
            (each, variables.events(node.number, each)) for each in variables.variants(node.number)
        ]
    events = tuple(event for each in by_variant.values() for _, own in each for event in own)
    trace = Trace(automaton.rank, automaton.shape, events, (), automaton.assumptions)
    lowered = Lowered()
    origins = allocations_of(cfg, trace)
    lowering = Events(cfg, trace, meanings, origins, lowered, stored)
    known: dict[tuple[int, int], tuple[Action, ...]] = {}
    sides = {side for node in automaton.nodes for side in node.sides}
    for threads in _cut(thread_classes(cfg, trace, meanings), sorted(sides)):
        by_node: dict[_At, tuple[Action, ...]] = {}
        for node in _reached(automaton, threads):
            for variant, happening in by_variant[node.number]:
                actions: list[Action] = []
                for event in happening:
                    own = event.threads & threads
                    if own:
                        again = known.get((id(event), own))
                        if again is None:
                            effort.pay(Work.LOWERING)
                            again = known[id(event), own] = tuple(lowering.lower(event, own))
                        actions += again
                by_node[node.number, variant] = tuple(actions)
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
        for number, _, _ in _nexts(node, threads):
            if number not in seen:
                seen.add(number)
                waiting.append(number)
    for number in sorted(seen):
        yield automaton.nodes[number]
