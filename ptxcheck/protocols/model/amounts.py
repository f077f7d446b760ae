"""Byte counts of the actions of a protocol: which there are, and the same protocol with others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from .actions import Action, Amount, Arrive, Expect, Protocol, Transfer

Change: TypeAlias = Callable[[Action, Amount], Amount]
"""Returns what stands for an amount of an action."""


def amounts_of(protocol: Protocol) -> Iterator[Amount]:
    """Yield the bytes that actions expect or complete."""
    for strand in protocol.strands:
        for action in strand.actions:
            match action:
                case Arrive():
                    yield action.expect
                case Expect():
                    yield action.amount
                case Transfer():
                    yield from (amount for _, amount in action.completes)
                case _:
                    pass


def with_amounts(protocol: Protocol, change: Change) -> Protocol:
    """Return a protocol with other byte counts."""
    return replace(
        protocol,
        strands=tuple(
            replace(strand, actions=tuple(_changed(action, change) for action in strand.actions))
            for strand in protocol.strands
        ),
    )


def _changed(action: Action, change: Change) -> Action:
    match action:
        case Arrive():
            return replace(action, expect=change(action, action.expect))
        case Expect():
            return replace(action, amount=change(action, action.amount))
        case Transfer() if action.completes:
            completes = tuple((barrier, change(action, amount)) for barrier, amount in action.completes)
            return replace(action, completes=completes)
        case _:
            return action
