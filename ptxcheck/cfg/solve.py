"""Dataflow over a `Cfg`: `forward` and `backward` give the state at each point as a least fixpoint.

The caller brings the lattice as functions over immutable states that compare with `==`:

* `join(a, b)` is an upper bound of both; no state is None;
* `transfer(point, state)` is the state after the instruction (before it, for `backward`), and monotone;
* `edge(edge, state)` may sharpen the state that passes an edge (or return None: the edge is never taken);
* `widen(old, new)` replaces `join` at loop headers after a few rounds, and ends every ascending chain.
  Lattices of finite height need none.

Blocks are visited in reverse post-order, so that results and costs do not depend on chance. Points that no
path reaches have no state.

Example: the set of `cp.async` groups that may be open::

    def transfer(point: int, open_groups: frozenset[int]) -> frozenset[int]:
        match cfg.instructions[point].operation.op:
            case Op.CP_ASYNC_COMMIT_GROUP:
                return open_groups | {point}
            case Op.CP_ASYNC_WAIT_ALL:
                return frozenset()
        return open_groups

    states = forward(cfg, frozenset(), transfer, frozenset.union)
    for point in cfg.exits:
        leaked = states.after(point)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Generic, TypeVar

from .cfg import Cfg
from .graph import Edge

S = TypeVar("S")

WIDEN_AFTER = 3
"""Visits of a loop header before `widen` takes the place of `join`."""


@dataclass(frozen=True)
class States(Generic[S]):
    """Solution: the state before and after each reached point, and at block borders."""

    cfg: Cfg
    entering: Mapping[int, S] = field(repr=False)
    """State in which the solver enters each block: at its start, or at its end for `backward`."""
    transfer: Callable[[int, S], S] = field(repr=False)
    is_forward: bool = True

    def before(self, point: int) -> S | None:
        """State in program order just before the point; None when it is not reached."""
        return self._at(point, point if self.is_forward else point - 1)

    def after(self, point: int) -> S | None:
        """State in program order just after the point; None when it is not reached."""
        return self._at(point, point + 1 if self.is_forward else point)

    def _at(self, point: int, stop: int) -> S | None:
        block = self.cfg.block_at(point)
        state = self.entering.get(block.index)
        if state is None:
            return None
        points = range(block.start, stop) if self.is_forward else range(block.last, stop, -1)
        for passed in points:
            state = self.transfer(passed, state)
        return state

    def each(self) -> Iterable[tuple[int, S]]:
        """Yield every reached point with the state that `transfer` meets there: linear in all points."""
        for block in self.cfg.blocks:
            state = self.entering.get(block.index)
            if state is None:
                continue
            for point in block.points if self.is_forward else reversed(block.points):
                yield point, state
                state = self.transfer(point, state)


def forward(
    cfg: Cfg,
    initial: S,
    transfer: Callable[[int, S], S],
    join: Callable[[S, S], S],
    *,
    edge: Callable[[Edge, S], S | None] | None = None,
    widen: Callable[[S, S], S] | None = None,
) -> States[S]:
    """Return the least solution in which the entry has at least `initial`. The exit block has a state too."""
    headers = {loop.header for loop in cfg.loops}.union(*cfg.irreducible)

    def flow(block: int, state: S) -> Iterable[tuple[int, S]]:
        if block < len(cfg.blocks):
            for point in cfg.blocks[block].points:
                state = transfer(point, state)
        for out in cfg.edges_from(block):
            passed = state if edge is None else edge(out, state)
            if passed is not None:
                yield out.target, passed

    start = 0 if cfg.blocks else cfg.exit
    entering = _solve(cfg.order, [(start, initial)], flow, join, widen, headers)
    return States(cfg, entering, transfer)


def backward(
    cfg: Cfg,
    initial: S,
    transfer: Callable[[int, S], S],
    join: Callable[[S, S], S],
    *,
    edge: Callable[[Edge, S], S | None] | None = None,
    widen: Callable[[S, S], S] | None = None,
) -> States[S]:
    """Return the least solution in which the exit has at least `initial`, against the edges.

    Blocks that never reach the exit (endless loops) start from `initial` too.
    """
    endless = [block for block in cfg.order if block != cfg.exit and not cfg.ends(block)]
    headers = {latch for loop in cfg.loops for latch in loop.latches}.union(*cfg.irreducible)

    def flow(block: int, state: S) -> Iterable[tuple[int, S]]:
        if block < len(cfg.blocks):
            for point in reversed(cfg.blocks[block].points):
                state = transfer(point, state)
        for into in cfg.edges_into(block):
            passed = state if edge is None else edge(into, state)
            if passed is not None:
                yield into.source, passed

    starts = [(cfg.exit, initial), *((block, initial) for block in endless)]
    entering = _solve(reversed(cfg.order), starts, flow, join, widen, headers)
    return States(cfg, entering, transfer, is_forward=False)


def _solve(
    order: Iterable[int],
    starts: Iterable[tuple[int, S]],
    flow: Callable[[int, S], Iterable[tuple[int, S]]],
    join: Callable[[S, S], S],
    widen: Callable[[S, S], S] | None,
    headers: set[int],
) -> dict[int, S]:
    rank = {block: position for position, block in enumerate(order)}
    entering: dict[int, S] = {}
    rounds: dict[int, int] = {}
    queue: list[tuple[int, int]] = []
    queued: set[int] = set()

    def offer(block: int, state: S) -> None:
        old = entering.get(block)
        if old is not None:
            slow = widen is not None and block in headers and rounds.get(block, 0) >= WIDEN_AFTER
            state = widen(old, join(old, state)) if widen is not None and slow else join(old, state)
            if state == old:
                return
        entering[block] = state
        if block not in queued:
            queued.add(block)
            heappush(queue, (rank.get(block, len(rank)), block))

    for block, state in starts:
        offer(block, state)
    while queue:
        _, block = heappop(queue)
        queued.discard(block)
        rounds[block] = rounds.get(block, 0) + 1
        for target, passed in flow(block, entering[block]):
            offer(target, passed)
    return entering
