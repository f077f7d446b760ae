"""The automata of all CTAs of a kernel, for one way to follow it.

Property: the automata of a launch keep the same loops, so that rounds in one CTA are rounds in the others.

Argument: what is found out about loops while one is built is kept for those behind it; where that changes anything, all
are built again.

Not covered: loops that CTAs of a cluster have to keep in different ways.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from ...terms.effort import Effort
from ..automata.automaton import Automaton
from ..automata.builder import build
from ..automata.handed_words import HandedWords
from ..automata.kept_loops import Kept
from ..automata.known_residues import KnownResidues, Residue
from ..automata.received_values import ReceivedReads
from ..model.actions import Protocol
from ..symex.slice.layout import Layout
from ..symex.slice.sliced_program import Program
from ..symex.values.symbol import Atom
from ..symex.values.trace import NotFollowedError, Shape
from .roles import Role, strand_of

_MOST_REBUILDS = 8


@dataclass(frozen=True, slots=True)
class RoleAutomata:
    """The automata of all CTAs, and the strands that go through them."""

    automata: tuple[Automaton, ...]
    roles: tuple[Role, ...]
    residues: Mapping[Atom, Residue]
    """What numbers of the host leave, where the automata are not those for all of them."""

    @property
    def protocol(self) -> Protocol:
        """Return strands that do all that the roles do in any node, in the order of nodes."""
        steps = ((role.info, role.steps.values()) for role in self.roles)
        return Protocol(tuple(strand_of(info, (step.actions for step in own)) for info, own in steps), 0)


def kept_for(
    points: Collection[int] = (),
    residues: Mapping[Atom, Residue] | None = None,
    told: Mapping[Atom, int] | None = None,
    *,
    takes_sizes: bool,
    follows: bool = False,
) -> Kept:
    """Return what is known of a kernel before it is followed in one way: nothing yet of its loops.

    `points` are those where words in shared memory are read that decide what threads do; `residues` are what numbers of
    the host leave, and `told` the moduli of those that rounds tell. With `takes_sizes` no size is negative; with
    `follows` values that threads receive from each other are followed.
    """
    return Kept(
        sizes=dict[Atom, int]() if takes_sizes else None,
        residues=KnownResidues(residues, told),
        words=HandedWords(set(points)),
        received=ReceivedReads(follows),
    )


def automata_of(
    program: Program, layout: Layout, shape: Shape, kept: Kept, effort: Effort
) -> tuple[Automaton, ...]:
    """Return the automata of all CTAs, which keep loops alike. Raises NotFollowedError."""
    for _ in range(_MOST_REBUILDS):
        before = kept.size
        automata = tuple(build(program, layout, shape, rank, kept, effort) for rank in range(shape.ctas))
        if shape.ctas == 1 or kept.size == before:
            return automata
    raise NotFollowedError("the CTAs of a cluster keep loops in different ways", -1)


def residues_of(asked: Mapping[Atom, int]) -> Iterator[Mapping[Atom, Residue]]:
    """Yield all residues of some numbers together, by their moduli."""
    names = sorted(asked, key=lambda name: name.digest)
    for rests in product(*(range(asked[name]) for name in names)):
        yield {name: Residue(asked[name], rest) for name, rest in zip(names, rests, strict=True)}


__all__ = ["RoleAutomata", "automata_of", "kept_for", "residues_of"]
