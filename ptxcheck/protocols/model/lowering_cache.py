"""What events were lowered to before: the same instruction with the same operands means the same in every run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from ..symex.values.symbol import Value
from ..symex.values.trace import Event, ThreadSet
from .actions import (
    Action,
    Arrive,
    Rendezvous,
    Wait,
)
from .tensor_address import Allocation

_Key: TypeAlias = tuple[object, ...]


class Lowered:
    """Actions by event and threads. Those that name the event itself, such as states of arrivals, are not kept."""

    def __init__(self) -> None:
        self._numbers: dict[_Key, int] = {}
        self._actions: dict[tuple[int, ThreadSet], tuple[Action, ...]] = {}

    def number(self, event: Event, rank: int, origins: Mapping[int, Allocation]) -> int:
        """Return a number that events have in common which mean the same to the same threads."""
        access = event.access
        if access is not None:
            own: _Key = (access.certain, None if access.address is None else _key(access.address))
        else:
            own = (event.certain, *((name, _key(value)) for name, value in event.operands.items()))
        key = (rank, event.point, event.threads, own, tuple(origins.items()))
        return self._numbers.setdefault(key, len(self._numbers))

    def find(self, number: int, threads: ThreadSet) -> tuple[Action, ...] | None:
        """Return the actions of threads in an event of a number, None when they are not known."""
        return self._actions.get((number, threads))

    def keep(self, number: int, threads: ThreadSet, actions: Iterable[Action]) -> None:
        """Note the actions of threads in an event of a number."""
        found = tuple(actions)
        if not any(_names_its_event(action) for action in found):
            self._actions[number, threads] = found


def _names_its_event(action: Action) -> bool:
    return isinstance(action, Arrive | Rendezvous) or (isinstance(action, Wait) and action.parity is None)


def _key(value: Value) -> object:
    """Return something that is hashed quickly and equal for equal values."""
    return value.tobytes() if not isinstance(value, int) and hasattr(value, "tobytes") else value
