"""Role automata as a graph: what the threads of each role do, in which order, and what decides where they go on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..protocols.automata.automaton import Automaton
from ..protocols.automata.nodes import Arrival, Node
from ..protocols.model.actions import Action, Wait
from ..protocols.product.roles import Role, Step
from ..protocols.role_automata import RoleAutomata
from .barrier_names import BarrierNames, barriers_of, is_of_warp
from .graphviz import LEFT, digraph, quoted
from .predicates import predicate_text
from .roles import roles_of
from .timeline import Locate
from .wording import wording

_LONGEST_QUESTION = 72


def automaton_graph(found: RoleAutomata, names: BarrierNames, locate: Locate, title: str) -> Any:
    """Return a graph of networkx: a node for each place where threads do or decide something, apart for each role.

    Roles that do the same are drawn once, in whichever CTAs they are. Nodes have `role` and `label`, edges a `label`:
    the answer to the question of the node, and whether a loop is entered or begins a further round.
    """
    import networkx as nx

    graph = nx.DiGraph(title=title)
    drawn: set[tuple[int, ...]] = set()
    protocol = found.protocol
    for number, group in enumerate(roles_of(protocol)):
        points = tuple(action.point for action in protocol.strands[group.strands[0]].actions)
        if points in drawn:
            continue
        drawn.add(points)
        role = found.roles[group.strands[0]]
        places = merged(places_of(role, found.automata[role.automaton], names, locate))
        for place in places.values():
            ident = f"r{number}n{place.number}"
            graph.add_node(ident, role=group.name, label="\n".join(place.lines) or "start", asks=place.asks)
            for target, text in place.nexts:
                edge = ident, f"r{number}n{target}"
                told = graph.edges[edge]["label"].split("\n") if edge in graph.edges else []
                graph.add_edge(*edge, label="\n".join(dict.fromkeys([*told, text])))
    return graph


def automaton_dot(graph: Any) -> str:
    """Return a graph of role automata for Graphviz: a frame for each role, rounded boxes where threads decide."""
    lines: list[str] = []
    by_role: dict[str, list[str]] = {}
    for ident, node in graph.nodes.items():
        style = ", style=rounded" if node["asks"] else ""
        by_role.setdefault(node["role"], []).append(
            f"    {ident} [label={quoted(node['label'] + chr(10), LEFT)}{style}];"
        )
    for number, (role, nodes) in enumerate(by_role.items()):
        lines += [f"  subgraph cluster_{number} {{", f"    label={quoted(role)};", *nodes, "  }"]
    lines += [f"  {a} -> {b} [label={quoted(edge['label'])}];" for (a, b), edge in graph.edges.items()]
    return digraph(graph.graph["title"], lines, graph='fontname="monospace", ', node="shape=box, ")


@dataclass(slots=True)
class Place:
    """Where threads do or decide something."""

    number: int
    lines: list[str]
    asks: bool
    nexts: list[tuple[int, str]] = field(default_factory=list)
    """Places that are next, and what is said of the way there."""


@dataclass(frozen=True, slots=True)
class _Labels:
    """What is written at places."""

    names: BarrierNames
    locate: Locate

    def lines(self, steps: Sequence[Step]) -> Iterator[str]:
        """Yield what happens at a node, of which there is a step for each number of its variables."""
        by_point: dict[tuple[int, type[Action]], list[Action]] = {}
        for action in (action for step in steps for action in step.actions if not is_of_warp(action)):
            by_point.setdefault((action.point, type(action)), []).append(action)
        by_place: dict[tuple[str, type[Action]], dict[str, None]] = {}
        for (point, kind), actions in by_point.items():
            by_place.setdefault((self.locate(point), kind), {})[self._text(actions)] = None
        for (where, _), (first, *others) in by_place.items():
            more = f", and {len(others)} more" if others else ""
            yield f"{first}{more}  [{where}]"

    def question(self, node: Node) -> str:
        """Return what decides where threads go on from a node."""
        assert node.question is not None
        text = self.names.say(predicate_text(node.question.truth))
        cut = text if len(text) <= _LONGEST_QUESTION else f"{text[: _LONGEST_QUESTION - 1]}…"
        return f"{cut}?  [{self.locate(node.question.point)}]"

    def _text(self, actions: Sequence[Action]) -> str:
        """Return what one instruction does, with one name for all stages of a ring where that depends on variables."""
        first, *others = dict.fromkeys(wording(action, None, self.names) for action in actions)
        if not others:
            return first
        for barrier in barriers_of(actions[0]):
            first = first.replace(self.names.of(barrier), self.names.ring_of(barrier))
        return first.split(_PARITY)[0] if isinstance(actions[0], Wait) else first


_PARITY = " with parity "
_BEGUN = {Arrival.ENTER: "first round", Arrival.REPEAT: "next round"}


def places_of(role: Role, automaton: Automaton, names: BarrierNames, locate: Locate) -> dict[int, Place]:
    """Return the nodes on the paths of a role, by number, from the entry on."""
    labels = _Labels(names, locate)
    steps: dict[int, list[Step]] = {}
    for step in role.steps.values():
        steps.setdefault(step.node.number, []).append(step)
    found: dict[int, Place] = {}
    waiting = [automaton.entry]
    while waiting:
        number = waiting.pop()
        if number in found:
            continue
        node, own = automaton.nodes[number], steps.get(number, [])
        lines = list(labels.lines(own))
        nexts = own[0].nexts if own else ()
        asks = len(nexts) > 1 and node.question is not None
        if asks:
            lines.append(labels.question(node))
        if node.not_followed is not None:
            lines.append(f"followed no further: {node.not_followed.reason}")
        elif not nexts:
            lines.append("end")
        found[number] = place = Place(number, lines, asks)
        for index, (target, arrival, _) in enumerate(nexts):
            answer = ("yes" if index == 0 else "no") if asks else ""
            place.nexts.append((target, ", ".join(filter(None, (answer, _BEGUN.get(arrival, ""))))))
            waiting.append(target)
    return found


def merged(places: dict[int, Place]) -> dict[int, Place]:
    """Return places with those put together that can only follow each other, or at which nothing is said."""
    first = next(iter(places))
    for place in places.values():
        place.nexts = [_past_silence(places, *each) for each in place.nexts]
    sources = Counter(target for number in _reached(places, first) for target, _ in places[number].nexts)
    found: dict[int, Place] = {}
    waiting = [first]
    while waiting:
        number = waiting.pop()
        if number in found:
            continue
        found[number] = place = places[number]
        while not place.asks and len(place.nexts) == 1:
            ((target, text),) = place.nexts
            if text or target in found or sources[target] > 1 or target == first:
                break
            behind = places[target]
            place.lines += behind.lines
            place.asks, place.nexts = behind.asks, behind.nexts
        waiting += [target for target, _ in place.nexts]
    return found


def _reached(places: Mapping[int, Place], first: int) -> set[int]:
    found, waiting = set[int](), [first]
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            waiting += [target for target, _ in places[number].nexts]
    return found


def _past_silence(places: dict[int, Place], target: int, text: str) -> tuple[int, str]:
    """Return where an edge leads behind places at which nothing is said, with what is said on the way."""
    seen: set[int] = set()
    while not places[target].lines and len(places[target].nexts) == 1 and target not in seen:
        seen.add(target)
        ((onward, more),) = places[target].nexts
        target, text = onward, ", ".join(filter(None, (text, more)))
    return target, text


__all__ = ["Place", "automaton_dot", "automaton_graph", "merged", "places_of"]
