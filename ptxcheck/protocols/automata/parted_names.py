"""Names of what threads have found apart, where they come together.

Property: of the valuations that `told_apart` returns, two have an atom in common only if it stands for one number in
the threads of both, or for another number in each thread.

Argument: an atom is named by the text that gives it, so threads that come to one text apart, on different sides of a
branch, have one name for numbers of their own: how many rounds of a loop each of them made, what a loop or an
instruction has left there. Such an atom gets a name for each side. It keeps its name where the threads had it before
they parted, unless some came to the head of a loop that they parted in: else nothing that was executed before the
branch is executed again.

Not covered: threads of which some begin a further round of a loop before they meet the others in it; and values that
were received through shared memory: the product knows of each thread which one that is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ...cfg.cfg import Cfg
from ..symex.values.kinds import Kind
from ..symex.values.recurrent_arithmetic import COUNTED
from ..symex.values.symbol import LANE, VARYING, WARP, Atom, Form
from ..symex.values.trace import NotFollowedError, ThreadSet
from ..symex.values.traversal import walk
from .received_values import is_received, renamed
from .round_names import OF_ROUND, place_of
from .valuations import Valuation

_FOUND = OF_ROUND | COUNTED


@dataclass
class Parting:
    """Threads that have parted at the end of a block, and are about to meet at a join."""

    cfg: Cfg
    block: int
    join: int
    contents: Valuation
    """What they held where they parted."""
    passed: Collection[int]
    """Heads of loops that some of them came to since."""

    def check(self) -> None:
        """Check that threads meet in one round of the loops around. Raises NotFollowedError."""
        if any(loop.header in self.passed for loop in self.cfg.loops_around(self.join)):
            raise NotFollowedError(
                "threads of one side begin a further round before they meet the others",
                self.cfg.blocks[self.join].start,
            )

    def is_common(self, name: Atom) -> bool:
        """Tell whether an atom is one number for all of the threads, or another one for each."""
        if name.differs == LANE | WARP:
            return True
        if name.inner_kind in COUNTED:
            return place_of(name) not in self.passed
        return name in self._held

    def is_unchanged(self, value: Form) -> bool:
        """Tell whether a value that was held where they parted is one number for all of them, and still that one."""
        if value.differs or value.origin & VARYING or self._begins_round:
            return False
        names = walk(value.terms, lambda name: name.inner_kind not in _FOUND)
        return all(
            self.is_common(name) and not is_received(name) for name in names if name.inner_kind in _FOUND
        )

    @property
    def _begins_round(self) -> bool:
        return any(loop.header in self.passed for loop in self.cfg.loops_around(self.block))

    @cached_property
    def _held(self) -> frozenset[Atom]:
        if self._begins_round:
            return frozenset()
        return frozenset(_found_in(self.contents))


def told_apart(
    groups: Sequence[tuple[ThreadSet, Valuation]], parting: Parting
) -> list[tuple[ThreadSet, Valuation]]:
    """Return what groups of threads hold, with a name for each group for what several of them have found apart."""
    counts = Counter(name for _, valuation in groups for name in set(_found_in(valuation)))
    apart = [name for name, count in counts.items() if count > 1 and not parting.is_common(name)]
    if not apart:
        return list(groups)
    return [
        (threads, _renamed(valuation, {name: _of_side(name, parting.join, side) for name in apart}))
        for side, (threads, valuation) in enumerate(groups)
    ]


def _of_side(name: Atom, join: int, side: int) -> Atom:
    """Return the name of what the threads of a side have found."""
    if name.inner_kind in COUNTED:
        return Atom((Kind.WIDENED, place_of(name), name, join, side), name.differs)
    return Atom((Kind.PARTED, name, join, side), name.differs)


def _found_in(valuation: Valuation) -> Iterator[Atom]:
    """Yield the atoms in a valuation that name what threads have found themselves."""
    for pieces in valuation.values():
        for _, value in pieces:
            if isinstance(value, Form):
                yield from _found_of(value)


@lru_cache(maxsize=1 << 14)
def _found_of(value: Form) -> tuple[Atom, ...]:
    names = walk(value.terms, lambda name: name.inner_kind not in _FOUND)
    return tuple(name for name in names if name.inner_kind in _FOUND and not is_received(name))


def _renamed(valuation: Valuation, names: dict[Atom, Atom]) -> Valuation:
    return {
        register: [
            (held, renamed(value, names) if isinstance(value, Form) else value) for held, value in pieces
        ]
        for register, pieces in valuation.items()
    }
