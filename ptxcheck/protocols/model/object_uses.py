"""Which barriers an action touches, now or when the work that it starts completes."""

from __future__ import annotations

from .actions import (
    Action,
    Arrive,
    AsyncArrive,
    Barrier,
    Expect,
    Init,
    Inval,
    Registers,
    Rendezvous,
    SyncObject,
    Transfer,
    Wait,
)
from .sync_objects import RegisterBudget


def sync_objects_of(action: Action) -> tuple[SyncObject, ...]:
    """Return the barriers that an action touches, now or when its work completes."""
    match action:
        case AsyncArrive() | Transfer():
            return mbarriers_of_work(action)
        case Init() | Inval() | Arrive() | Expect() | Wait():
            return (action.barrier,)
        case Rendezvous():
            return (action.name,)
        case Registers():
            return (RegisterBudget(action.cta),)
        case _:
            return ()


def mbarriers_of_work(action: AsyncArrive | Transfer) -> tuple[Barrier, ...]:
    """Return the mbarriers at which asynchronous work counts."""
    if isinstance(action, AsyncArrive):
        return (action.barrier,)
    return tuple(barrier for barrier, _ in action.completes)
