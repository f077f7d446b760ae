"""Which assumptions matter to what a path comes to.

Property: an assumption that is left out here is one that nothing asks about behind the place: no guard on any way
from there says anything about its key before an atom of the key is another number, and no counter takes its number
from it. Paths that differ in such assumptions alone go on alike, so that a search need not tell them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from ...cfg.linear import Linear
from ...cfg.linear import atom as atom_form
from .conditions import Assumptions, Conditions, Literal

if TYPE_CHECKING:
    from ...cfg import Cfg


class LiveKeys:
    """The keys that guards still ask about, by place; as bits, since a block may have hundreds."""

    def __init__(self, cfg: Cfg, conditions: Conditions) -> None:
        self._cfg = cfg
        self._conditions = conditions
        self._kept: dict[tuple[int, int], tuple[Assumptions, Assumptions]] = {}
        self._from: dict[tuple[int, int], int] = {}

    def begin(self) -> None:
        """Say that a search begins, which may have forgotten the assumptions of earlier ones."""
        if not self._conditions.begin():
            self._kept.clear()

    def behind(self, point: int, assumed: Assumptions) -> Assumptions:
        """Return the assumptions that matter behind a guarded point."""
        return self._only(assumed, point, self._behind[point]) if assumed else assumed

    def entering(self, block: int, source: int, assumed: Assumptions) -> Assumptions:
        """Return the assumptions that are left on entry to a block by the edge from `source`, and matter there."""
        left = self._conditions.entering(block, source, assumed)
        return self._only(left, -1 - block, self._in[block]) if left else left

    def decides_nothing(self, point: int) -> bool:
        """Tell whether who executes a guarded point is known from no history and gives none to a counter.

        Of a path that goes on either way nothing is learnt from it.
        """
        return point in self._free

    def _only(self, assumed: Assumptions, place: int, live: int) -> Assumptions:
        key = (id(assumed), place)
        known = self._kept.get(key)
        if known is None or known[0] is not assumed:
            bits = self._bits
            left = tuple(one for one in assumed if bits.get(one[0], 0) & live)
            shared = assumed if len(left) == len(assumed) else self._conditions.share(left)
            known = self._kept[key] = (assumed, shared)
        return known[1]

    @cached_property
    def _bits(self) -> Mapping[Linear, int]:
        """A bit for each key that an assumption may be about."""
        keys = dict.fromkeys(sorted(self._conditions.relevant))
        keys.update(
            dict.fromkeys(atom_form(a) for atoms in self._conditions.counters.values() for a in atoms)
        )
        return {key: 1 << number for number, key in enumerate(keys)}

    def _of(self, keys: Iterable[Linear]) -> int:
        found = 0
        for key in keys:
            found |= self._bits.get(key, 0)
        return found

    @cached_property
    def _asked(self) -> Mapping[int, int]:
        """Keys that the guard of each point asks about."""
        return {
            point: self._of(key for literal in self._conditions.both(point) for key in _keys(literal))
            for point, instruction in enumerate(self._cfg.instructions)
            if instruction.guard is not None and self._cfg.connected(point)
        }

    @cached_property
    def _asked_in(self) -> Mapping[int, int]:
        found: dict[int, int] = {}
        for point, keys in self._asked.items():
            block = self._cfg.graph.block_of[point]
            found[block] = found.get(block, 0) | keys
        return found

    @cached_property
    def _out(self) -> Mapping[int, int]:
        """Keys that matter where each block ends."""
        renewed = {block: self._of(keys) for block, keys in self._conditions.renewed.items()}
        out = {block: 0 for block in self._cfg.order if block != self._cfg.exit}
        work = dict.fromkeys(reversed(out))
        while work:
            block = next(iter(work))
            del work[block]
            entering = self._asked_in.get(block, 0) | out[block]
            passed = entering & ~renewed.get(block, 0)
            for source in out.keys() & self._cfg.predecessors[block]:
                leaving = out[source] | passed | self._carried(block, source, entering)
                if leaving != out[source]:
                    out[source] = leaving
                    work[source] = None
        return out

    def _carried(self, block: int, source: int, entering: int) -> int:
        """Return the keys from which counters that matter in a block get their numbers along an edge."""
        found = 0
        for atom in self._conditions.counters.get(block, ()):
            bit = self._bits[atom_form(atom)]
            if not bit & entering:
                continue
            edge = (source, bit)
            if edge not in self._from:
                origin = self._conditions.origin(atom, source)
                self._from[edge] = 0 if origin is None else self._bits.get(origin, 0)
            found |= self._from[edge]
        return found

    @cached_property
    def _in(self) -> Mapping[int, int]:
        """Keys that matter where each block begins."""
        return {block: self._asked_in.get(block, 0) | out for block, out in self._out.items()}

    @cached_property
    def _behind(self) -> Mapping[int, int]:
        """Keys that matter behind each guarded point."""
        found: dict[int, int] = {}
        block, live = -1, 0
        for point in reversed(self._asked):
            if self._cfg.graph.block_of[point] != block:
                block = self._cfg.graph.block_of[point]
                live = self._out[block]
            found[point] = live
            live |= self._asked[point]
        return found

    @cached_property
    def _free(self) -> frozenset[int]:
        """Guarded points that say nothing of threads or merges, nor of what a counter gets its number from."""
        given = 0
        if self._out:
            for keys in self._from.values():
                given |= keys
        return frozenset(
            point
            for point, keys in self._asked.items()
            if not keys & given and all(_is_free(literal) for literal in self._conditions.both(point))
        )


def _keys(literal: Literal) -> Iterator[Linear]:
    for comparison in literal.comparisons:
        yield comparison.key
    for atom in literal.merges:
        yield atom_form(atom)


def _is_free(literal: Literal) -> bool:
    return not literal.never and literal.threads is None and not literal.merges


__all__ = ["LiveKeys"]
