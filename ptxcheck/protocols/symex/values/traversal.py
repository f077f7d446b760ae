"""The walk over atoms and what they are computed from: one for all who look for something in symbols.

Property: `walk` yields every atom that a part has in it, each once, in the order of the text; nothing inside an atom
that is not to be entered.

Argument: depth-first search over the arguments, also of atoms that are cut down (`Atom.inner`), with the set of those
seen.

Not covered: walks that go on by what they find, such as the arm of a choice that was decided; these match on atoms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .symbol import Atom


def walk(part: object, enters: Callable[[Atom], bool] = lambda _: True) -> Iterator[Atom]:
    """Yield the atoms in a part, and in those of them that are to be entered."""
    waiting: list[object] = [part]
    seen: set[Atom] = set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, Atom):
            if part in seen:
                continue
            seen.add(part)
            yield part
            if enters(part):
                waiting.extend(reversed(part.inner))
        elif isinstance(part, tuple):
            waiting.extend(reversed(part))
