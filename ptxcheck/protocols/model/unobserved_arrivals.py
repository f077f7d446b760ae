"""Arrivals at named barriers that nobody waits for: nothing depends on the phase in which they count.

CUTLASS's attention with latent keys and values tells a barrier of five warps, from all eight, that tensor memory may be
freed, and nobody waits for it. Whole warps that all name one number of whole warps fill each phase of such a barrier in
any order, and no thread notices.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from ...cfg.cfg import Cfg
from ...opcodes.spec import Trait
from .actions import Action, Rendezvous, Strand
from .sync_objects import CountedBarrier, NamedBarrier

_WARP = 32


def without_unheard_arrivals(cfg: Cfg, strands: Sequence[Strand]) -> tuple[Strand, ...]:
    """Return strands without arrivals that change nothing for anybody."""
    arrivals: dict[NamedBarrier, dict[Rendezvous, None]] = {}
    for strand in strands:
        for action in strand.actions:
            if isinstance(action, Rendezvous) and isinstance(action.name, NamedBarrier):
                arrivals.setdefault(action.name, {})[action] = None
    unheard = {name for name, each in arrivals.items() if _is_unheard(cfg, each)}
    return tuple(_without(strand, unheard) if unheard else strand for strand in strands)


def _is_unheard(cfg: Cfg, arrivals: Iterable[Rendezvous]) -> bool:
    needed = {each.needed for each in arrivals}
    return (
        len(needed) == 1
        and not max(needed) % _WARP
        and not any(each.waits or each.parted or each.without_exited for each in arrivals)
        and all(Trait.ALIGNED in cfg.instructions[each.point].operation.traits for each in arrivals)
    )


def _without(strand: Strand, names: Collection[CountedBarrier]) -> Strand:
    """Return a strand without its actions at some barriers."""
    kept: list[tuple[Action, int]] = [
        (action, event)
        for action, event in zip(strand.actions, strand.events, strict=True)
        if not (isinstance(action, Rendezvous) and action.name in names)
    ]
    if len(kept) == len(strand.actions):
        return strand
    return replace(
        strand, actions=tuple(action for action, _ in kept), events=tuple(event for _, event in kept)
    )
