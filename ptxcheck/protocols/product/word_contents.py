"""What words in shared memory hold that warps hand to each other, and whether warps read what was expected.

Property: where `WordUses.perform` returns contents for every action, every warp reads what its automaton expects, in
every schedule.

Argument: a store to the bytes of a word is followed, and a read compared with what is there. The order of the product
has every read behind the stores before it and in front of those that follow, or fails: so what is read is the same in
every schedule.

Not covered: words that anything but a store of a number to a constant place writes; accesses to places that are not
known are taken not to be of a word, which is an assumption with a name.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..automata.handed_words import HandedWords, Reader
from ..automata.nodes import Node
from ..model.actions import Access, Action, Span, Transfer
from ..symex.values.trace import OFFSET_MASK, RANK_SHIFT, NotFollowedError
from .roles import Role, Step

Byte = tuple[int, int]
"""CTA and offset."""
Found = tuple[Reader, int]
"""Who has read a word, and what it was."""


@dataclass(frozen=True, slots=True)
class _Put:
    """Bytes that an action stores."""

    values: tuple[tuple[Byte, int], ...]


@dataclass(frozen=True, slots=True)
class _Take:
    """Bytes that an action reads, and the number that is expected there; None where it is to be found out."""

    place: tuple[Byte, ...]
    number: int | None
    reader: Reader


class WordUses:
    """What the actions of all roles do to words."""

    def __init__(self, roles: Sequence[Role], words: HandedWords) -> None:
        self._uses: dict[tuple[int, int, int], _Put | _Take] = {}
        self.may_be_overwritten = False
        """Whether there are writes to places that are not known."""
        if not words.points:
            return
        read: set[Byte] = set()
        for number, role in enumerate(roles):
            for step in role.steps.values():
                for index, action in enumerate(step.actions):
                    take = _take(role, step.node, action)
                    if take is not None:
                        self._uses[number, step.number, index] = take
                        read.update(take.place)
        for number, role in enumerate(roles):
            for step in role.steps.values():
                self._add_writes(number, role, step, read)

    def _add_writes(self, number: int, role: Role, step: Step, read: set[Byte]) -> None:
        for index, action in enumerate(step.actions):
            writes = action.writes if isinstance(action, Access | Transfer) else ()
            self.may_be_overwritten |= any(may_touch(span, read) for span in writes)
            touched = {byte for span in writes for byte in _bytes(span)} & read
            if not touched:
                continue
            put = dict(_stored(role, step.node, action.point))
            if not isinstance(action, Access) or action.reads or not action.certain or touched - put.keys():
                raise NotFollowedError("a word is written in another way than by a number", action.point)
            self._uses[number, step.number, index] = _Put(
                tuple((byte, put[byte]) for byte in sorted(touched))
            )

    def perform(
        self, role: int, step: Step, index: int, contents: Mapping[Byte, int]
    ) -> Mapping[Byte, int] | None:
        """Return what words hold behind an action, None where a warp reads another one than was expected."""
        use = self._uses.get((role, step.number, index))
        if isinstance(use, _Put):
            return {**contents, **dict(use.values)}
        if isinstance(use, _Take) and use.number is not None and _number(use, contents) != use.number:
            return None
        return contents

    def found(self, role: int, step: Step, contents: Mapping[Byte, int]) -> Found | None:
        """Return the word that a role has read where it is followed no further, None where it is not known."""
        for index in reversed(range(len(step.actions))):
            use = self._uses.get((role, step.number, index))
            if isinstance(use, _Take):
                number = _number(use, contents)
                return None if number is None else (use.reader, number)
        return None


def text_of(contents: Mapping[Byte, int]) -> Hashable:
    """Return what is equal for equal contents."""
    return tuple(sorted(contents.items()))


def _take(role: Role, node: Node, action: Action) -> _Take | None:
    if not isinstance(action, Access) or not action.reads:
        return None
    for each in node.read:
        if each.reader == (role.info.cta, role.info.warp, action.point):
            place = tuple(byte for span in action.reads for byte in _bytes(span))
            return _Take(place, each.number, each.reader)
    return None


def _number(use: _Take, contents: Mapping[Byte, int]) -> int | None:
    held = [contents.get(byte) for byte in use.place]
    if any(each is None for each in held):
        return None
    return sum((each or 0) << 8 * place for place, each in enumerate(held))


def _stored(role: Role, node: Node, point: int) -> Iterator[tuple[Byte, int]]:
    for each in node.stored:
        if each.point == point and not role.threads & ~each.threads and each.number is not None:
            cta, offset = each.place >> RANK_SHIFT & 0xFF, each.place & OFFSET_MASK
            for byte in range(each.size):
                yield (cta, offset + byte), each.number >> 8 * byte & 0xFF


def may_touch(span: Span, read: set[Byte]) -> bool:
    """Tell whether bytes that may be written, and are not known to be, may be of a word."""
    if span.exact:
        return False
    if span.start < 0 or not span.reach:
        return True
    return any(cta == span.cta and span.start <= offset < span.start + span.reach for cta, offset in read)


def _bytes(span: Span) -> Iterator[Byte]:
    if span.start >= 0:
        for offset in range(span.start, span.start + span.size):
            yield span.cta, offset


__all__ = ["Byte", "Found", "WordUses", "may_touch", "text_of"]
