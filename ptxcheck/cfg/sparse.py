"""A demand-driven fixpoint over a sparse dependency graph.

Property: `Sparse.get(key)` is a sound solution of `value(key) = evaluate(key, value)` for the keys that `key`
depends on, each solved once. Acyclic keys are evaluated exactly once. A cycle starts from "no value" (None)
and ascends, `merge` bounding the chain at the keys where cycles close; then it is evaluated twice more
without `merge`, which can only sharpen a sound solution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

K = TypeVar("K")
V = TypeVar("V")

DESCENTS = 2


class Problem(Protocol[K, V]):
    """What to solve. `V` values compare with `==`; None means that no run gets there."""

    def inputs(self, key: K) -> Sequence[K]:
        """Return all keys that `evaluate` may read for `key`."""
        ...

    def evaluate(self, key: K, read: Callable[[K], V | None]) -> V | None:
        """Return the value of a key from those of its inputs."""
        ...

    def closes_cycle(self, key: K) -> bool:
        """Tell whether `merge` must be used at a key; every cycle has such a key."""
        ...

    def merge(self, key: K, old: V, new: V, turn: int, cycle: Sequence[K]) -> V:
        """Return an upper bound of both; with growing `turn` the chain must end."""
        ...


class Sparse(Generic[K, V]):
    """Memoised solutions of one problem."""

    def __init__(self, problem: Problem[K, V]) -> None:
        self._problem = problem
        self._solved: dict[K, V | None] = {}

    def get(self, key: K) -> V | None:
        """Return the solution for a key; None when no run gets there."""
        if key not in self._solved:
            self._solve(key)
        return self._solved[key]

    def _solve(self, root: K) -> None:
        """Solve `root` and what it needs, strongly connected component by component (Tarjan)."""
        solved = self._solved
        first = self._problem.inputs(root)
        if root not in first and all(needed in solved for needed in first):
            solved[root] = self._problem.evaluate(root, solved.__getitem__)
            return
        number: dict[K, int] = {}
        low: dict[K, int] = {}
        finished: dict[K, int] = {}
        pending: list[K] = []
        stack: list[tuple[K, Sequence[K], int]] = []

        def open_key(key: K, inputs: Sequence[K]) -> None:
            number[key] = low[key] = len(number)
            pending.append(key)
            stack.append((key, inputs, 0))

        open_key(root, first)
        while stack:
            key, inputs, at = stack.pop()
            while at < len(inputs):
                needed = inputs[at]
                at += 1
                if needed in solved:
                    continue
                if needed not in number:
                    stack.append((key, inputs, at - 1))
                    open_key(needed, self._problem.inputs(needed))
                    break
                low[key] = min(low[key], low[needed])
            else:
                finished[key] = len(finished)
                if low[key] == number[key]:
                    self._finish(key, inputs, pending, finished)

    def _finish(self, key: K, inputs: Sequence[K], pending: list[K], finished: dict[K, int]) -> None:
        if pending[-1] == key and key not in inputs:
            pending.pop()
            self._solved[key] = self._problem.evaluate(key, self._solved.__getitem__)
            return
        at = len(pending) - 1
        while pending[at] != key:
            at -= 1
        cycle = pending[at:]
        del pending[at:]
        self._ascend(sorted(cycle, key=finished.__getitem__))

    def _ascend(self, order: list[K]) -> None:
        """Solve one cycle, its keys in an order in which most inputs come first."""
        problem, solved = self._problem, self._solved
        for key in order:
            solved[key] = None
        turn, changed = 0, True
        while changed:
            changed = False
            for key in order:
                old, new = solved[key], problem.evaluate(key, solved.__getitem__)
                if old is not None and new is not None and problem.closes_cycle(key):
                    new = problem.merge(key, old, new, turn, order)
                if new is not None and new != old:
                    solved[key] = new
                    changed = True
            turn += 1
        for _ in range(DESCENTS):
            for key in order:
                solved[key] = problem.evaluate(key, solved.__getitem__)
