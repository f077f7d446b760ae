"""Names of what loops leave in registers that are not followed: the same in all runs of a kernel.

Property: two results have one name only if the keys that they were asked with are equal.

Argument: a name is the branch, the register, and how many other keys were asked for these before; keys are kept with
their names, so a name has one key.

Not covered: what makes keys equal only where numbers are; see `interpreter.loop_equivalence`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ....ir import Register

Keys: TypeAlias = Mapping[Register, tuple[object, ...]]
"""What names the numbers that registers hold behind a loop."""


class LoopResults:
    """The names that were given so far, and the keys that were found."""

    def __init__(self) -> None:
        self._names: dict[object, tuple[int, str, int]] = {}
        self._of: dict[tuple[int, Register], list[tuple[int, str, int]]] = {}
        self._keys: dict[object, Keys] = {}

    def name(self, block: int, register: Register, key: object) -> tuple[int, str, int]:
        """Return the name of what the loop behind a branch leaves in a register."""
        name = self._names.get(key)
        if name is None:
            own = self._of.setdefault((block, register), [])
            name = self._names[key] = block, register.name, len(own)
            own.append(name)
        return name

    def keys(self, asked: object, find: Callable[[], Keys]) -> Keys:
        """Return the keys of the results of a loop, by where it is and what it starts with, found once."""
        known = self._keys.get(asked)
        if known is None:
            known = self._keys[asked] = find()
        return known
