"""Contents of tensor maps at each point, as the thread that goes there finds them.

Each map in memory has a maker: who replaces its fields. The maker's own way through the kernel decides what the
map is made of; what another thread finds is what the maker had done at the last barrier that both passed.

Property: on every path that the follower may take, the contents it meets are among those of `State`. Taken for
granted: no data race on the bytes of a map (a write by another thread is ordered by barriers), and what
`place.py` and `events.py` say about addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from ...cfg import (
    Edge,
    States,
    Uniformity,
    forward,
)
from ...launch import ParameterFact
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ...protocols.typestate.conditions import Conditions
from ...protocols.typestate.named_barrier import NamedBarriers
from ..symbolic import Verdict
from . import contents
from .contents import Base, Contents, Step
from .events import (
    Acquire,
    CopyOut,
    Event,
    Fill,
    Release,
    Replace,
    Use,
    Write,
    find_events,
    find_uses,
)
from .follower import (
    Follower,
    decides,
    follower_at,
    takes,
)
from .guarded import parameter_facts
from .made import (
    Made,
    MadeMap,
    made_maps,
    platform_of,
)
from .place import Key, changing_points

if TYPE_CHECKING:
    from ...view import KernelView

State = Mapping[Key, Contents]
"""Contents by place; a place that is missing has not been written."""

_ALL_LANES = 0xFFFFFFFF


@dataclass(frozen=True)
class DeviceMaps:
    """The tensor maps that one kernel changes, and the copies that read tensor maps."""

    view: KernelView = field(repr=False)

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """Copies and prefetches that read a tensor map."""
        return find_uses(self.view)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """What happens to tensor maps; empty where the kernel changes none."""
        operations = {instruction.operation.op for instruction in self.view.cfg.instructions}
        if not operations & {Op.TENSORMAP_REPLACE, Op.TENSORMAP_CP_FENCEPROXY}:
            return ()
        return tuple(find_events(self.view))

    @cached_property
    def replacements(self) -> tuple[Replace, ...]:
        """The replacements among the events."""
        return tuple(event for event in self.events if isinstance(event, Replace))

    @cached_property
    def copies_out(self) -> tuple[CopyOut, ...]:
        """The copies of maps to global memory among the events."""
        return tuple(event for event in self.events if isinstance(event, CopyOut))

    @cached_property
    def keys(self) -> frozenset[Key]:
        """Places of the maps that the kernel writes."""
        found = {event.key for event in self.replacements}
        found |= {key for event in self.copies_out for key in (event.source, event.target)}
        return frozenset(key for key in found if key is not None)

    @cached_property
    def has_lost(self) -> bool:
        """Whether some change is of a map whose address is not followed, or made where nobody can see it."""
        lost = any(event.key is None for event in self.replacements)
        lost = lost or any(event.source is None or event.target is None for event in self.copies_out)
        unknown = {Trait.ANYTHING, Trait.CALL}
        return lost or any(i.operation.traits & unknown for i in self.view.cfg.instructions)

    @cached_property
    def makers(self) -> Mapping[Key, Follower | None]:
        """Who makes each map; None where several threads do, or nobody knows."""
        found: dict[Key, set[Follower | None]] = {}
        for event in self.replacements:
            if event.key is not None:
                found.setdefault(event.key, set()).add(follower_at(self.view, event.point))
        for copy in self.copies_out:
            if copy.target is not None:
                of_source = found.get(copy.source) if copy.source is not None else None
                own: set[Follower | None] = {follower_at(self.view, copy.point)}
                found.setdefault(copy.target, set()).update(of_source or own)
        return {key: makers.pop() if len(makers) == 1 else None for key, makers in found.items()}

    def made_of(self, known: Contents, *, at: int | None = None) -> tuple[Made, ...]:
        """Return the maps that contents stand for; as far as runs go that execute the point `at`, if it is given."""
        facts = () if at is None else parameter_facts(self.view, at, self._conditions)
        key = (known, facts)
        if key not in self._made:
            self._made[key] = tuple(made_maps(self._narrowed(facts), known))
        return self._made[key]

    @cached_property
    def _made(self) -> dict[tuple[Contents, tuple[ParameterFact, ...]], tuple[Made, ...]]:
        return {}

    @cached_property
    def _conditions(self) -> Conditions:
        return Conditions(self.view.cfg, self.view.facts)

    def _narrowed(self, facts: tuple[ParameterFact, ...]) -> KernelView:
        """Return the kernel as it is where more is known of its parameters."""
        if facts not in self._views:
            launch = replace(self.view.launch, facts=(*self.view.launch.facts, *facts))
            self._views[facts] = replace(self.view, launch=launch)
        return self._views[facts]

    @cached_property
    def _views(self) -> dict[tuple[ParameterFact, ...], KernelView]:
        return {(): self.view}

    def legality(self, made: MadeMap) -> Verdict:
        """Return whether a map that the kernel makes is legal."""
        key = id(made)
        if key not in self._judged:
            self._judged[key] = (made, made.decide(platform_of(self.view)))
        return self._judged[key][1]

    @cached_property
    def _judged(self) -> dict[int, tuple[MadeMap, Verdict]]:
        """Answers by identity; the map is kept, so that no other gets its identity."""
        return {}

    # ---- contents

    def at(self, use: Use) -> Contents | None:
        """Return the contents that a copy finds behind its tensor map; None where that is not known.

        A map that the kernel never changes, or changes later, has the base `GIVEN`.
        """
        if use.key is None:
            return None if self.keys else contents.of(Base.GIVEN)
        near = [key for key in self.keys if key.overlaps(use.key)]
        if not near:
            return None if self.has_lost else contents.of(Base.GIVEN)
        if near != [use.key] or self.has_lost:
            return None
        follower, maker = follower_at(self.view, use.point), self.makers.get(use.key)
        if follower is None or maker is None:
            return None
        state = self._run(follower).before(use.point)
        found = None if state is None else _in(state, use.key)
        if (
            found is not None
            and follower != maker
            and any(point == contents.NO_CHANGE for point, _ in found.steps)
        ):
            return None
        return found

    def left_behind(self) -> Iterator[tuple[int, Contents]]:
        """Yield maps that the kernel leaves in global memory and does not use, with the point of the last change."""
        used = {use.key for use in self.uses}
        last = {copy.target: copy.point for copy in self.copies_out if copy.target is not None}
        last |= {e.key: e.point for e in self.replacements if e.key is not None and not e.key.is_shared}
        for key, point in last.items():
            if key in used:
                continue
            maker = self.makers.get(key)
            state = None if maker is None or self.has_lost else self.own_run(maker).after(point)
            yield point, contents.LOST if state is None else _in(state, key)

    def _run(self, follower: Follower) -> States[State]:
        if follower not in self._runs:
            self._runs[follower] = _Run(self, follower, is_told=True).solve()
        return self._runs[follower]

    @cached_property
    def _runs(self) -> dict[Follower, States[State]]:
        return {}

    def own_run(self, maker: Follower) -> States[State]:
        """Return what a maker does to its own maps, whatever others do to theirs."""
        if maker not in self._own_runs:
            self._own_runs[maker] = _Run(self, maker, is_told=False).solve()
        return self._own_runs[maker]

    @cached_property
    def _own_runs(self) -> dict[Follower, States[State]]:
        return {}

    @cached_property
    def by_point(self) -> Mapping[int, tuple[Event, ...]]:
        """Events at each point."""
        found: dict[int, list[Event]] = {}
        for event in self.events:
            found.setdefault(event.point, []).append(event)
        return {point: tuple(events) for point, events in found.items()}

    @cached_property
    def changing(self) -> Mapping[int, tuple[Key, ...]]:
        """Keys whose address is computed anew at a point."""
        found: dict[int, list[Key]] = {}
        for key in self.keys:
            for point in changing_points(self.view, key):
                found.setdefault(point, []).append(key)
        return {point: tuple(keys) for point, keys in found.items()}

    @cached_property
    def block_barriers(self) -> frozenset[int]:
        """Barriers that all threads of the block pass together."""
        sites = (site for site in self.view.get(NamedBarriers).sites if site.op is not Op.BAR_ARRIVE)
        threads = self.view.launch.threads
        return frozenset(
            site.point
            for site in sites
            if site.count_known
            and (site.count is None or site.count == threads)
            and site.execution.uniformity <= Uniformity.CTA
            and self.view.cfg.instructions[site.point].guard is None
        )

    @cached_property
    def warp_barriers(self) -> frozenset[int]:
        """Barriers that all threads of a warp pass together, each for its own warp."""
        return frozenset(
            point
            for point, instruction in enumerate(self.view.cfg.instructions)
            if instruction.operation.op is Op.BAR_WARP_SYNC
            and (self.view.facts.value(point, instruction.operands[0]).constant or 0) & _ALL_LANES
            == _ALL_LANES
        )


class _Run:
    """The forward problem of one follower."""

    def __init__(self, maps: DeviceMaps, follower: Follower, *, is_told: bool) -> None:
        self._maps = maps
        self._view = maps.view
        self._follower = follower
        self._is_told = is_told
        """Whether the maps of others become known at barriers."""
        self._foreign = frozenset(
            key for key, maker in maps.makers.items() if maker is None or not self._is(maker)
        )
        """Maps that somebody else makes: what they are comes from there, at barriers."""

    def solve(self) -> States[State]:
        return forward(self._view.cfg, {}, self._transfer, _join, edge=self._edge)

    def _is(self, maker: Follower) -> bool:
        return maker == self._follower or (maker.covers(self._follower) and not maker.is_elected)

    def _edge(self, edge: Edge, state: State) -> State | None:
        return state if takes(self._view, self._follower, edge) else None

    def _transfer(self, point: int, state: State) -> State:
        for key in self._maps.changing.get(point, ()):
            if key in state:
                state = {**state, key: contents.LOST}
        for event in self._maps.by_point.get(point, ()):
            state = self._after(event, state)
        return self._met(point, state) if self._foreign and self._is_told else state

    def _after(self, event: Event, state: State) -> State:
        guard = self._view.cfg.instructions[event.point].guard
        passes = None if guard is None else decides(self._view, self._follower, event.point, guard)
        if guard is not None and passes is False:
            return state
        after = self._done(event, state)
        return after if guard is None or passes else _join(state, after)

    def _done(self, event: Event, state: State) -> State:
        match event:
            case Replace(point=point, key=key, slot=slot) if key is not None:
                return self._with(state, key, _in(state, key).replaced(slot, point))
            case Fill(point=point, key=key):
                return self._with(state, key, contents.of(Base.ZERO, point))
            case Write(point=point, key=key):
                return self._with(state, key, contents.of(Base.GIVEN, point))
            case CopyOut(point=point, source=source, target=target) if source and target:
                return self._with(state, target, _in(state, source).copied(point))
            case Release():
                return {key: known.moved(Step.RELEASED) for key, known in state.items()}
            case Acquire(key=key) if key is not None:
                return {**state, key: _in(state, key).moved(Step.ACQUIRED)} if key in state else state
            case Acquire():
                return {each: _perhaps(known) for each, known in state.items()}
        return state

    def _with(self, state: State, key: Key, known: Contents) -> State:
        return state if key in self._foreign else {**state, key: known}

    def _met(self, point: int, state: State) -> State:
        """Return the state after a barrier at which others' work becomes known."""
        if point in self._maps.block_barriers:
            return self._told(point, state, self._foreign)
        is_collective = self._view.cfg.instructions[point].operation.op is Op.TENSORMAP_CP_FENCEPROXY
        if point not in self._maps.warp_barriers and not is_collective:
            return state
        mine = self._follower.warps
        near = frozenset(key for key in self._foreign if self._is_in_warp(key, mine))
        if is_collective:
            own = {e.target for e in self._maps.by_point.get(point, ()) if isinstance(e, CopyOut)}
            near &= own
        return self._told(point, state, near)

    def _is_in_warp(self, key: Key, mine: frozenset[int]) -> bool:
        maker = self._maps.makers[key]
        return maker is not None and len(mine) == 1 and maker.warps == mine

    def _told(self, point: int, state: State, keys: Iterable[Key]) -> State:
        told = dict(state)
        for key in keys:
            maker = self._maps.makers[key]
            after = None if maker is None else self._maps.own_run(maker).after(point)
            told[key] = contents.LOST if after is None else _in(after, key)
        return told


def _in(state: State, key: Key) -> Contents:
    return state.get(key) or contents.of(Base.UNSET if key.is_shared else Base.GIVEN)


def _perhaps(known: Contents) -> Contents:
    """Return the contents after a fence that may be for them."""
    steps = frozenset((p, Step.UNKNOWN if s is not Step.ACQUIRED else s) for p, s in known.steps)
    return Contents(known.bases, known.slots, steps)


def _join(a: State, b: State) -> State:
    if a == b:
        return a
    return {key: _in(a, key).join(_in(b, key)) for key in a.keys() | b.keys()}
