"""Threads that come to a block, and how those of the sides of a branch go on together from its join.

Property: who goes on from a join together holds what each of the threads held where it came there.

Argument: threads of different sides are different ones, and what they have found apart has names of their own
(`parted_names`). Where one side comes to the join in several ways, a predicate that each way has answered, and so knows
as a number, is again what it was before (`path_answers`); numbers that differ between the ways are a variable, which
each way gives its own number (`variables`); what else differs is a symbol from there on, which stands for either.

Not covered: sides of which some threads end in one way and come to the join in another: these are not followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...cfg.cfg import Cfg
from ...ir import Register
from ..symex.values.kinds import Kind
from ..symex.values.symbol import LANE, WARP, Atom, Form, Value, atom
from ..symex.values.trace import NotFollowedError, ThreadSet
from .loop_heads import LoopHeads
from .nodes import Assigned, Node, Target
from .parted_names import Parting, told_apart
from .path_answers import answered
from .valuations import Valuation, key_of, restricted, united
from .variables import behind, register_of, threads_of, variable
from .ways import is_number


@dataclass(frozen=True, slots=True)
class Come:
    """Threads that come to a block, by some edges."""

    slots: tuple[Target, ...]
    source: int
    block: int
    threads: ThreadSet
    contents: Valuation
    residues: Mapping[int, int]
    given: Mapping[int, tuple[Assigned, ...]] = field(default_factory=dict)
    """What variables become on some of the edges, by the identity of the slot."""
    owners: Mapping[int, ThreadSet] = field(default_factory=dict)
    """Who comes by each of the edges, where that is not everybody."""


class Joins:
    """The joins of one kernel."""

    def __init__(self, cfg: Cfg, heads: LoopHeads, nodes: Sequence[Node], threads: int) -> None:
        self._cfg = cfg
        self._heads = heads
        self._nodes = nodes
        self._threads = threads

    def meet(
        self, node: Node, ends: Sequence[Sequence[Come]], parting: Parting, residues: Mapping[int, int]
    ) -> list[Come]:
        """Return how the threads of some sides go on together from their join. Raises NotFollowedError."""
        sides = zip(node.targets, ends, strict=True)
        came = [self._together(each, parting, first.node) for first, each in sides if each]
        if not came:
            return []
        parting.check()
        slots = tuple(slot for each in came for slot in each.slots)
        threads = sum(each.threads for each in came)
        contents = united(told_apart([(each.threads, each.contents) for each in came], parting))
        contents = self._heads.told.spread(contents, threads)
        return [
            Come(slots, node.block, parting.join, threads, contents, residues, _given(came), _owners(came))
        ]

    def on_edge(self, come: Come, slot: Target, assigned: Sequence[Assigned]) -> tuple[Assigned, ...]:
        """Return what variables become on an edge, which gives some of them numbers first.

        Raises RestartError.
        """
        given, owners = come.given.get(id(slot), ()), come.owners.get(id(slot), come.threads)
        own: dict[Atom, int | Form] = {}
        for name, value in assigned:
            if threads_of(name) & owners:
                number = behind(value, given)
                if number is None:
                    self._heads.kept.keep_numbers((name,))
                own[name] = number
        return (*given, *with_others(own, (name for name, _ in assigned)))

    def _together(self, ends: Sequence[Come], parting: Parting, began: int) -> Come:
        """Return how threads come to a join in whichever way: what differs between the ways is a symbol.

        `began` is the node that the threads of the side began with.
        """
        join = parting.join
        first = ends[0]
        if len(ends) == 1:
            return first
        by_threads: dict[ThreadSet, list[Come]] = {}
        for each in ends:
            by_threads.setdefault(each.threads, []).append(each)
        if len(by_threads) > 1:
            groups = [self._together(each, parting, began) for each in by_threads.values()]
            return self._united(groups, parting)
        live, count = self._heads.live[join], self._threads
        ways = self._heads.told.filled(
            [restricted(each.contents, live, first.threads, count) for each in ends], first.threads
        )
        keys = [dict(key_of(way)) for way in ways]
        contents = dict(ways[0])
        known = self._known_again(ends, ways, parting, began)
        given = {id(slot): list(each.given.get(id(slot), ())) for each in ends for slot in each.slots}
        for register in sorted({r for way in ways for r in way}):
            held = {key.get(register) for key in keys}
            if register in known:
                contents[register] = [(first.threads, known[register])]
            elif len(held) > 1:
                symbol = self._variable(register, ends, ways, join, given) or atom(
                    Kind.WIDENED, -1 - join, register.name, str(register.scope), differs=LANE | WARP
                )
                contents[register] = [(first.threads, symbol)]
        slots = tuple(slot for each in ends for slot in each.slots)
        on_edges = {slot: tuple(each) for slot, each in given.items() if each}
        return Come(
            slots, first.source, join, first.threads, contents, first.residues, on_edges, _owners(ends)
        )

    def _variable(
        self,
        register: Register,
        ends: Sequence[Come],
        ways: Sequence[Valuation],
        join: int,
        given: Mapping[int, list[Assigned]],
    ) -> Form | None:
        """Return the variable that a register is from a join on, and note what it becomes on each edge.

        None where it is no number in some way.
        """
        if self._heads.is_head(join) or not self._heads.kept.may_vary(join, register):
            return None
        values: dict[int, int | Form] = {}
        for each, way in zip(ends, ways, strict=True):
            pieces = tuple(way.get(register, ()))
            if len(pieces) != 1 or not is_number(pieces) or pieces[0][0] != each.threads:
                return None
            for slot in each.slots:
                value = pieces[0][1]
                number = None if isinstance(value, np.ndarray) else behind(value, given[id(slot)])
                if number is None:
                    return None
                values[id(slot)] = number
        name = variable(join, register, ends[0].threads)
        for slot_id, number in values.items():
            given[slot_id].append((name, number))
        return Form(((name, 1),))

    def _known_again(
        self, ends: Sequence[Come], ways: Sequence[Valuation], parting: Parting, began: int
    ) -> dict[Register, Form]:
        """Return the predicates that hold in each way what they held where threads parted, answered or not."""
        threads = ends[0].threads
        before = {
            register: value
            for register, value in _of_all(restricted(parting.contents, ways[0], threads, self._threads))
            if isinstance(value, Form) and parting.is_unchanged(value)
        }
        if not before:
            return {}
        found = dict(before)
        slots = [slot for each in ends for slot in each.slots]
        on_ways = [dict(_of_all(way)) for each, way in zip(ends, ways, strict=True) for _ in each.slots]
        on_edges = answered(self._nodes, began, slots, frozenset(before.values()))
        for held, answers in zip(on_ways, on_edges, strict=True):
            for register, form in before.items():
                value, answer = held.get(register), answers.get(form)
                if value != form and (answer is None or value != int(answer)):
                    found.pop(register, None)
        return found

    def _united(self, ends: Sequence[Come], parting: Parting) -> Come:
        """Return how different threads come to a join."""
        join = parting.join
        threads: ThreadSet = 0
        for each in ends:
            if threads & each.threads:
                raise NotFollowedError("some threads of a side end, or not", self._cfg.blocks[join].start)
            threads |= each.threads
        slots = tuple(slot for each in ends for slot in each.slots)
        contents = united(told_apart([(each.threads, each.contents) for each in ends], parting))
        return Come(
            slots, ends[0].source, join, threads, contents, ends[0].residues, _given(ends), _owners(ends)
        )


def _owners(ends: Sequence[Come]) -> dict[int, ThreadSet]:
    return {id(slot): each.owners.get(id(slot), each.threads) for each in ends for slot in each.slots}


def _given(ends: Sequence[Come]) -> dict[int, tuple[Assigned, ...]]:
    """Return what variables become on the edges of several sides."""
    names = dict.fromkeys(name for each in ends for own in each.given.values() for name, _ in own)
    found: dict[int, tuple[Assigned, ...]] = {}
    for each in ends if names else ():
        for slot in each.slots:
            found[id(slot)] = with_others(dict(each.given.get(id(slot), ())), names)
    return found


def with_others(own: Mapping[Atom, int | Form], names: Iterable[Atom]) -> tuple[Assigned, ...]:
    """Return what variables become on an edge, those of threads that do not come by it, too.

    These are of no account there: they become what the same register is in the others, so that what is one number for
    all threads stays so, and 0 where it is not known in these.
    """
    here = {register_of(name): value for name, value in own.items()}
    return tuple((name, own.get(name, here.get(register_of(name), 0))) for name in names)


def _of_all(valuation: Valuation) -> Iterator[tuple[Register, Value]]:
    """Yield the registers that hold one value for all threads, which is no array."""
    for register, pieces in valuation.items():
        if len(pieces) == 1 and not isinstance(pieces[0][1], np.ndarray):
            yield register, pieces[0][1]
