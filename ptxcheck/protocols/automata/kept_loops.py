"""How the loops of a kernel are kept in its automata: what was learnt while they were built.

Property: it only grows, so that automata are built anew finitely often.

Argument: each restart adds a header, a register, a word or a factor to one of finitely many sets; registers that have
to be numbers are no variables again.

Not covered: what is learnt: see `loop_heads`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from ...cfg.cfg import Cfg
from ...ir import Register
from ..symex.values import lane_arithmetic as lanes
from ..symex.values.kinds import Kind
from ..symex.values.register_file import Piece
from ..symex.values.symbol import FROM_SHARED, LANE, WARP, Atom, Form
from ..symex.values.traversal import walk
from .handed_words import HandedWords, counter
from .known_residues import KnownResidues
from .received_values import ReceivedReads
from .variables import Place, register_of

_MOST_MODULUS = 512
_WARP = 0xFFFFFFFF
"""The threads of the first warp."""


class RestartError(Exception):
    """More is known of how loops are to be kept: what was built of the blocks that it is about has to be built anew."""

    def __init__(self, blocks: Iterable[int] | None = None) -> None:
        super().__init__("loops are to be kept in another way")
        self.blocks = None if blocks is None else frozenset(blocks)
        """What is built differs from these blocks on; None: anywhere."""


@dataclass(slots=True)
class Kept:
    """How loops are kept; it only grows."""

    modulus: int = 1
    opened: set[int] = field(default_factory=set)
    """Headers of loops whose number of rounds is open."""
    widened: dict[int, set[Register]] = field(default_factory=dict)
    """Registers that are symbols from a header on."""
    steps: dict[tuple[int, Register], int | Form] = field(default_factory=dict)
    """By what rounds have changed registers that they compute the step of."""
    unsteady: set[tuple[int, Register]] = field(default_factory=set)
    """Such registers that not every round has changed by the same."""
    differing: dict[tuple[int, Register], int] = field(default_factory=dict)
    """Between which threads they have been found to hold different numbers at that header."""
    sources: dict[Atom, set[Atom]] = field(default_factory=dict)
    """What the registers that are symbols have held at their headers: such symbols, and values of shared memory."""
    sizes: dict[Atom, int] | None = None
    """Parameters that were taken not to be negative, and where they are compared; None to take none so."""
    signs: set[Atom] = field(default_factory=set)
    """Parameters that would be taken so, if some were."""
    residues: KnownResidues = field(default_factory=KnownResidues)
    counting: dict[int, Atom] = field(default_factory=dict)
    """Numbers of the host to which the rounds of loops count: of these residues are told (`told_rests`)."""
    words: HandedWords = field(default_factory=HandedWords)
    received: ReceivedReads = field(default_factory=ReceivedReads)
    variables: dict[int, set[Register]] = field(default_factory=dict)
    """Registers that are variables from a block on."""
    numbers: set[Place] = field(default_factory=set)
    """Such registers that have to be numbers."""

    @property
    def size(self) -> tuple[int, ...]:
        """Return how much is known: it grows with every restart."""
        widened = sum(map(len, self.widened.values()))
        variables = sum(map(len, self.variables.values())) + 2 * len(self.numbers)
        differing = sum(each.bit_count() for each in self.differing.values())
        words, received = self.words.size, len(self.received.points)
        steps, counting = len(self.steps) + 2 * len(self.unsteady), len(self.counting)
        return self.modulus, len(self.opened), widened, differing, words, received, variables, steps, counting

    def take_sizes(self, compared: Iterable[tuple[Atom, int]]) -> None:
        """Take parameters not to be negative, which are compared at a point, or note that some would be taken so."""
        for name, point in compared:
            if self.sizes is None:
                self.signs.add(name)
            else:
                self.sizes.setdefault(name, point)

    def keep_numbers(self, names: Iterable[Atom]) -> NoReturn:
        """Keep some variables as numbers from now on. Raises RestartError."""
        places = [register_of(name) for name in names]
        self.note_numbers(places)
        raise RestartError(block for block, _, _ in places)

    def keep_numbers_everywhere(self, names: Iterable[Atom]) -> NoReturn:
        """Keep the registers of some variables as numbers from now on, wherever they are variables.

        Raises RestartError.
        """
        own = [register_of(name) for name in names]
        registers = {place[1:] for place in own}
        places = [
            (block, register.name, str(register.scope))
            for block, varying in self.variables.items()
            for register in varying
            if (register.name, str(register.scope)) in registers
        ]
        self.note_numbers((*own, *places))
        raise RestartError(block for block, _, _ in (*own, *places))

    def note_numbers(self, places: Iterable[Place]) -> None:
        """Keep some variables as numbers when automata are built anew."""
        self.numbers.update(places)
        for header, registers in self.variables.items():
            registers -= {each for each in registers if not self.may_vary(header, each)}

    def may_vary(self, header: int, register: Register) -> bool:
        """Tell whether a register may be a variable from a block on: how many words were read has to be a number."""
        is_counter = register in map(counter, self.words.points)
        return not is_counter and (header, register.name, str(register.scope)) not in self.numbers

    def vary(self, header: int, registers: Iterable[Register]) -> NoReturn:
        """Let registers be variables from a header on. Raises RestartError."""
        self.variables.setdefault(header, set()).update(registers)
        raise RestartError((header,))

    def learn_step(self, header: int, register: Register, found: int | Form | None) -> None:
        """Learn by what a round has changed a register, None: by nothing that has a name for all rounds.

        Raises RestartError where what was built rests on something else.
        """
        place = header, register
        known = self.steps.get(place)
        if place in self.unsteady or (found is not None and found == known):
            return
        if found is not None and known is None:
            self.steps[place] = found
        else:
            self.steps.pop(place, None)
            self.unsteady.add(place)
        if found is not None or known is not None:
            raise RestartError((header,))

    def differs(self, header: int, register: Register, pieces: Sequence[Piece]) -> int:
        """Return between which threads a register may differ that is a symbol at a header, in any of its rounds.

        Raises RestartError where it was taken to differ between fewer of them: what was built with that is wrong.
        """
        found = _differs(pieces)
        known = self.differing.get((header, register))
        self.differing[header, register] = found | (known or 0)
        if known is not None and found & ~known:
            raise RestartError((header,))
        return self.differing[header, register]

    def note_sources(self, symbol: Form, pieces: Iterable[Piece]) -> None:
        """Note what a register has held that is a symbol from now on."""
        found = self.sources.setdefault(symbol.terms[0][0], set())
        for _, value in pieces:
            names = walk(value.terms) if isinstance(value, Form) else ()
            found.update(each for each in names if each.kind is Kind.WIDENED or each.origin & FROM_SHARED)

    @property
    def of_shared(self) -> frozenset[Atom]:
        """Symbols of registers that may have been computed from what threads have read from shared memory."""
        found = {name for name, each in self.sources.items() if any(n.origin & FROM_SHARED for n in each)}
        while more := {name for name, each in self.sources.items() if each & found} - found:
            found |= more
        return frozenset(found)

    def refine(self, wanted: int) -> None:
        """Keep more residues of what loops count. Raises RestartError where that is new."""
        modulus = self.modulus * wanted
        if wanted > 1 and modulus <= _MOST_MODULUS:
            self.modulus = modulus
            raise RestartError(self.opened | self.widened.keys())


def entered_again(cfg: Cfg, opened: Collection[int]) -> frozenset[int]:
    """Return the headers of loops that are kept, inside others that are not."""
    return frozenset(
        header for header in opened if any(each.header not in opened for each in cfg.loops_around(header))
    )


def _differs(pieces: Sequence[Piece]) -> int:
    """Return between which threads the values of some pieces may differ."""
    found, seen = 0, 0
    for held, value in pieces:
        found |= lanes.differs_of(value) | (WARP if seen else 0)
        if any(held >> first & _WARP and seen >> first & _WARP for first in range(0, seen.bit_length(), 32)):
            found |= LANE
        seen |= held
    return found
