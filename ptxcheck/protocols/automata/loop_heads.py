"""What registers hold at the header of a loop that is kept: numbers, recurrences of its ordinal, or symbols.

Property: the valuations that `LoopHeads.arrive` returns for a header stand for all rounds: what a register holds in
round t is its value with `t // modulus` in place of the atom `ORDINAL` of the loop, and with some number in place of
each atom `WIDENED`.

Argument: a register that each round changes by a step (`recurrences`) is the value at the entry plus `step * t`, also
where each round computes the step: every round that comes back is seen to have added the same. `t` is split as
`modulus * q + r`: the next round has r + 1, or r = 0 and the next q, which is the same atom again. Any other register
keeps its value, and a further node is made for each; one whose value names the round before is widened to a symbol of
its own, of which the residue is kept where it is known (widening: Cousot, Cousot 1977); so is one that rounds nest
deeper than values are looked into.

Not covered: registers that are widened hold any number: what is decided by them is free, and a barrier or phase that
depends on one beyond its residue is not followed. Loops that are entered in several places are refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from math import lcm

import numpy as np

from ...cfg.loops import Loop
from ...ir import Register
from ..symex.interpreter.event_recording import STATE_TOKEN
from ..symex.slice.live_registers import read_from
from ..symex.slice.sliced_program import Program
from ..symex.values import lane_arithmetic as lanes
from ..symex.values.kinds import Kind
from ..symex.values.recurrent_arithmetic import COUNTED, period
from ..symex.values.register_file import Piece, lanes_of
from ..symex.values.substitution import is_deep
from ..symex.values.symbol import LANE, VARYING, Atom, Form, Lanes, Value, atom, children
from ..symex.values.thread_sets import warps_of
from ..symex.values.trace import NotFollowedError, ThreadSet
from ..symex.values.traversal import walk
from .handed_words import counter
from .journaled_sets import JournaledSets
from .kept_loops import Kept, RestartError
from .nodes import Arrival, Assigned
from .received_values import is_received
from .round_names import OF_ROUND, ordinal, place_of, times
from .round_steps import RoundSteps
from .told_rests import ToldRests
from .valuations import Valuation, key_of, restricted
from .variables import is_of_variables, register_of, variable, variables_in
from .ways import Ways, is_number

_TOKEN_BITS = 32
_MASK = (1 << 64) - 1


def _variables(block: int, register: Register, pieces: Sequence[Piece]) -> list[Piece]:
    """Return a variable for each group of threads that hold a number in a register."""
    return [(held, Form(((variable(block, register, held), 1),))) for held, _ in pieces]


class LoopHeads:
    """The headers of the loops of one kernel."""

    def __init__(self, program: Program, threads: int, kept: Kept, told: ToldRests) -> None:
        self._program = program
        self.told = told
        self._threads = threads
        self.kept = kept
        self._steps = RoundSteps(program, threads, kept)
        self._entered: JournaledSets[tuple[int, Register], Form] = JournaledSets()
        """Symbols that registers hold where a loop is entered: they are of no round of it."""
        self._loops = {loop.header: loop for loop in program.cfg.loops}
        self._entered_anywhere = frozenset[int]().union(*program.cfg.irreducible)
        self._ways = Ways(program, kept)
        self._computed: list[Register] = []
        """Registers that the round that has just ended has computed from variables."""

    @property
    def counts(self) -> tuple[int, int]:
        """How much is known of loops: for `forget_since`."""
        return self._entered.count, self._ways.count

    def forget_since(self, counts: tuple[int, int]) -> None:
        """Forget how threads came to blocks since `counts` were these."""
        entered, ways = counts
        self._entered.forget_since(entered)
        self._ways.forget_since(ways)

    @cached_property
    def live(self) -> Sequence[AbstractSet[Register]]:
        """Registers that matter at the start of each block."""
        program = self._program
        found = read_from(program, program.points, program.regions.steps)
        counters = frozenset(map(counter, self.kept.words.points))
        if not counters and not self.kept.counting:
            return found
        return [each | counters | {*self.told.live(block)} for block, each in enumerate(found)]

    def around(self, block: int) -> tuple[int, ...]:
        """Return the headers of the kept loops around a block, outermost first."""
        if block == self._program.cfg.exit:
            return ()
        loops = reversed(self._program.cfg.loops_around(block))
        return tuple(loop.header for loop in loops if loop.header in self.kept.opened)

    def stop_of(self, join: int) -> int:
        """Return where the sides of a branch stop: at their join, -1 where that is the end of the kernel."""
        return -1 if join == self._program.cfg.exit else join

    def exits(self, block: int) -> list[int]:
        """Return the headers of the loops that a branch at the end of a block may leave."""
        cfg = self._program.cfg
        return [
            loop.header
            for loop in cfg.loops_around(block)
            if any(target not in loop.blocks for target in cfg.successors[block])
        ]

    def widen_around(self, block: int) -> None:
        """Widen what changes from round to round in the loops around a block. Raises RestartError if something does."""
        for loop in self._program.cfg.loops_around(block):
            self._ways.widen(loop.header)

    def is_head(self, block: int) -> bool:
        """Tell whether a loop begins at a block."""
        return block in self._loops

    def arrival(self, source: int, block: int) -> Arrival:
        """Return what an edge does to the ordinals of loops that are kept."""
        if block in self.kept.opened:
            return Arrival.REPEAT if self.is_repeated(source, block) else Arrival.ENTER
        return Arrival.MOVE

    def is_repeated(self, source: int, header: int) -> bool:
        """Tell whether an edge begins a further round of a loop."""
        loop = self._loops.get(header)
        return loop is not None and source in loop.blocks

    def parts(
        self, source: int, block: int, contents: Valuation, threads: ThreadSet
    ) -> tuple[ThreadSet, ...]:
        """Return the warps that enter a kept loop with numbers of their own in a register that it counts with."""
        loop = self._loops.get(block)
        if loop is None or block not in self.kept.opened or source in loop.blocks:
            return (threads,)
        found: tuple[ThreadSet, ...] = (threads,)
        for register in sorted(self.live[block]):
            for held, value in contents.get(register, ()):
                if isinstance(value, np.ndarray) and self._steps.of(loop, register, contents) is not None:
                    differing = self._by_number(value, held & threads)
                    found = tuple(part & own for part in found for own in differing if part & own)
        return found

    def _by_number(self, value: Lanes, held: ThreadSet) -> list[ThreadSet]:
        """Return the warps that hold one number each, those with one number together; one set where lanes differ."""
        if lanes.differs_of(np.where(lanes_of(held, self._threads), value, np.uint64(0))) & LANE:
            return [held]
        by_number: dict[int, ThreadSet] = {}
        for first in warps_of(held, self._threads):
            own = held & 0xFFFFFFFF << first
            number = int(value[(own & -own).bit_length() - 1])
            by_number[number] = by_number.get(number, 0) | own
        return list(by_number.values())

    def arrive(
        self, source: int, block: int, contents: Valuation, threads: ThreadSet, residues: Mapping[int, int]
    ) -> tuple[Valuation, dict[int, int], tuple[Assigned, ...]]:
        """Return what threads hold where they come to a block, the residues of the loops around it, and new numbers.

        Raises RestartError, NotFollowedError.
        """
        if block == self._program.cfg.exit:
            return {}, {}, ()
        if block in self._entered_anywhere:
            start = self._program.cfg.blocks[block].start
            raise NotFollowedError("a loop that is entered in several places has no head", start)
        if source >= 0:
            again = self.is_repeated(source, block)
            contents = self.told.at_head(block, contents, threads, repeats=again)
        valuation = restricted(contents, self.live[block], threads, self._threads)
        around = self.around(block)
        now = {header: residues.get(header, 0) for header in around}
        loop = self._loops.get(block)
        if loop is None or source < 0:
            return self._at_join(block, valuation, threads), now, self._assigned(block, valuation, threads)
        self._computed = []
        repeats = source in loop.blocks
        if block in self.kept.opened:
            now[block] = (residues.get(block, 0) + 1) % self.kept.modulus if repeats else 0
            if repeats:
                self._steps.learn(loop, contents, valuation.keys(), threads)
        found = {
            register: self._at_head(loop, register, valuation, threads, now.get(block, 0), repeats=repeats)
            for register in valuation
        }
        if self._computed:
            self.kept.vary(block, self._computed)
        self._ways.note(block, threads, now.get(block, 0), key_of(found))
        self._ways.check(block)
        return found, now, self._assigned(block, valuation, threads)

    def _at_join(self, block: int, valuation: Valuation, threads: ThreadSet) -> Valuation:
        """Return what threads hold at a block that is no header, with symbols for variables. Raises RestartError."""
        varying = self.kept.variables.get(block, set()) & valuation.keys()
        found = dict(valuation)
        for register in varying:
            found[register] = _variables(block, register, valuation[register])
        if len(self._program.cfg.predecessors[block]) > 1:
            self._ways.note(block, threads, 0, key_of(found))
        return found

    def _assigned(self, block: int, valuation: Valuation, threads: ThreadSet) -> tuple[Assigned, ...]:
        """Return what registers that are variables become at a block. Raises RestartError."""
        found: list[Assigned] = []
        no_numbers: list[Atom] = []
        for register in sorted(self.kept.variables.get(block, set()) & valuation.keys()):
            pieces = valuation[register]
            if sum(held for held, _ in pieces) != threads:
                no_numbers.append(variable(block, register, threads))
            for held, value in pieces:
                name = variable(block, register, held)
                if isinstance(value, np.ndarray) or not is_of_variables(value):
                    no_numbers.append(name)
                else:
                    found.append((name, value))
        if no_numbers:
            self.kept.keep_numbers_everywhere(no_numbers)
        return tuple(found)

    def _at_head(
        self,
        loop: Loop,
        register: Register,
        valuation: Valuation,
        threads: ThreadSet,
        residue: int,
        *,
        repeats: bool,
    ) -> list[tuple[ThreadSet, Value]]:
        header, pieces = loop.header, valuation[register]
        if register in self.kept.widened.get(header, ()):
            return [(threads, self._symbol(header, register, pieces))]
        if register in self.kept.variables.get(header, ()):
            return _variables(header, register, pieces)
        step = self._steps.of(loop, register, valuation) if header in self.kept.opened else None
        if step is not None:
            return [
                (held, self._advanced(loop, register, value, step, residue, repeats=repeats))
                for held, value in pieces
            ]
        if not repeats:
            for _, value in pieces:
                if isinstance(value, Form):
                    self._entered.add((header, register), value)
        else:
            entered = self._entered.of((header, register))
            stale = [
                value
                for _, value in pieces
                if isinstance(value, Form) and value not in entered and self._is_of_round(loop, value)
            ]
            if any(isinstance(v, Form) and is_deep(v) and v not in entered for _, v in pieces):
                self._widen(header, register, pieces)
            self._check_states(pieces)
            self._check_variables(loop, register, pieces)
            if stale and register not in self._computed:
                self.kept.refine(lcm(*map(period, stale)))
                self._widen(header, register, pieces)
        return pieces

    def _check_variables(self, loop: Loop, register: Register, pieces: list[tuple[ThreadSet, Value]]) -> None:
        """Note a register that a round computes from variables. Raises RestartError."""
        values = [value for _, value in pieces if isinstance(value, Form) and value.origin & VARYING]
        entered = self._entered.of((loop.header, register))
        stale = [n for value in values for n in variables_in(value) if register_of(n)[0] in loop.blocks]
        if not stale and all(value in entered for value in values):
            return
        if is_number(tuple(pieces)):
            if self.kept.may_vary(loop.header, register):
                self._computed.append(register)
                return
            self.kept.keep_numbers(stale or variables_in(values[0]))
        if stale:
            self._widen(loop.header, register, pieces)

    def _check_states(self, pieces: list[tuple[ThreadSet, Value]]) -> None:
        if any(
            isinstance(value, int) and value >> _TOKEN_BITS == STATE_TOKEN >> _TOKEN_BITS
            for _, value in pieces
        ):
            raise NotFollowedError("a state that an arrival returned is kept from round to round", -1)

    def _advanced(
        self, loop: Loop, register: Register, value: Value, step: int | Form, residue: int, *, repeats: bool
    ) -> Value:
        """Return a recurrent register at the header: in the first round, or in the round behind another."""
        jump = lanes.multiply(step if isinstance(step, Form) else step & _MASK, self.kept.modulus, 64)
        if jump == 0:  # so many steps wrap around: the register holds the same again
            return value
        if not repeats:
            return lanes.add(value, lanes.multiply(ordinal(loop.header), jump, 64), 64)
        if not self._is_affine(loop, value):
            self._widen(loop.header, register)
        return value if residue else lanes.subtract(value, jump, 64)

    def _is_affine(self, loop: Loop, value: Value) -> bool:
        return isinstance(value, Form) and any(
            each.kind is Kind.ORDINAL and each[1] == loop.header
            for name, _ in value.terms
            for each in ((name,) if name.kind is not Kind.MUL else (name, *children(name.inner)))
        )

    def _is_of_round(self, loop: Loop, value: Form) -> bool:
        """Tell whether a value names what belongs to the round before."""
        return any(self._names_round(loop, name) for name, _ in value.terms)

    def _names_round(self, loop: Loop, first: Atom) -> bool:
        return any(
            place_of(name) in loop.blocks
            if name.inner_kind in COUNTED
            else name.inner_kind in OF_ROUND and not is_received(name)
            for name in walk(first)
        )

    def _symbol(self, header: int, register: Register, pieces: list[tuple[ThreadSet, Value]]) -> Value:
        """Return the symbol of a widened register, with the residue that all threads have in common."""
        differs = self.kept.differs(header, register, pieces)
        residues = {self._residue(value) for _, value in pieces}
        symbol = atom(Kind.WIDENED, header, register.name, str(register.scope), differs=differs)
        self.kept.note_sources(symbol, pieces)
        residue = residues.pop() if len(residues) == 1 else None
        if residue is None or self.kept.modulus == 1:
            return symbol
        return lanes.add(times(symbol, self.kept.modulus), residue, 64)

    def _residue(self, value: Value) -> int | None:
        modulus = self.kept.modulus
        if isinstance(value, np.ndarray):
            return None
        if isinstance(value, int):
            return value % modulus
        is_known = all(factor % modulus == 0 for _, factor in value.terms)
        return value.constant % modulus if is_known else None

    def _widen(self, header: int, register: Register, pieces: Sequence[Piece] = ()) -> None:
        if pieces:
            self.kept.differs(header, register, pieces)
        self.kept.widened.setdefault(header, set()).add(register)
        raise RestartError((header,))
