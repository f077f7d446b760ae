"""By what each round of a loop changes registers, as a value that has one name in all rounds.

Property: a register for which `RoundSteps.of` gives a value has grown by it in every round that has come back to the
header since; `learn` raises RestartError where a round has not.

Argument: `recurrences` says that a round adds what another register holds. One that the loop does not write holds that
at the header. One that each round writes holds it where the round ends: what is found there is compared for every
round, and a value is taken only if it names nothing that another round may find another number for.

Not covered: steps that differ between threads, or that nothing holds any more where the round ends.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ...cfg.loops import Loop
from ...ir import Register
from ..symex.slice.sliced_program import Program
from ..symex.values import lane_arithmetic as lanes
from ..symex.values.recurrent_arithmetic import COUNTED
from ..symex.values.register_file import Piece
from ..symex.values.symbol import VARYING, Form, Value
from ..symex.values.trace import ThreadSet
from ..symex.values.traversal import walk
from .kept_loops import Kept
from .recurrences import Step, recurrences
from .round_names import OF_ROUND, place_of
from .valuations import Valuation, restricted

_MASK = (1 << 64) - 1


class RoundSteps:
    """The steps of the registers of one kernel."""

    def __init__(self, program: Program, threads: int, kept: Kept) -> None:
        self._program = program
        self._threads = threads
        self._kept = kept
        self._found: dict[int, Mapping[Register, Step]] = {}

    def of(self, loop: Loop, register: Register, contents: Valuation) -> int | Form | None:
        """Return by what each round changes a register: a number, or a symbol that all threads have in common."""
        step = self._recurrences(loop).get(register)
        if step is None or step.register is None:
            return None if step is None else step.number
        if step.is_computed:
            return self._kept.steps.get((loop.header, register))
        pieces = contents.get(step.register, ())
        found = _sum(pieces[0][1], step.number) if len(pieces) == 1 else None
        return None if isinstance(found, Form) and found.differs else found

    def learn(
        self, loop: Loop, contents: Valuation, registers: Collection[Register], threads: ThreadSet
    ) -> None:
        """Learn by what the round that has just ended has changed registers of which it computes the step.

        Raises RestartError where that was not known, or where another round has changed one by something else.
        """
        kept, header = self._kept, loop.header
        symbols = kept.widened.get(header, set()) | kept.variables.get(header, set())
        for register, step in self._recurrences(loop).items():
            if step.register is None or not step.is_computed or register not in registers:
                continue
            if register not in symbols:
                held = restricted(contents, (step.register,), threads, self._threads)
                found = _of_all(loop, step.number, held.get(step.register, ()), threads)
                kept.learn_step(header, register, found)

    def _recurrences(self, loop: Loop) -> Mapping[Register, Step]:
        if loop.header not in self._found:
            self._found[loop.header] = recurrences(self._program, loop)
        return self._found[loop.header]


def _of_all(loop: Loop, number: int, held: Sequence[Piece], threads: ThreadSet) -> int | Form | None:
    """Return what a round has added, None where that is nothing that all threads and rounds have in common."""
    if len(held) != 1 or held[0][0] != threads:
        return None
    found = _sum(held[0][1], number)
    if not isinstance(found, Form):
        return found
    is_of_round = any(
        name.inner_kind in OF_ROUND or (name.inner_kind in COUNTED and place_of(name) in loop.blocks)
        for name in walk(found.terms)
    )
    return None if found.differs or found.origin & VARYING or is_of_round else found


def _sum(value: Value, number: int) -> int | Form | None:
    found = None if isinstance(value, np.ndarray) else lanes.add(value, number & _MASK, 64)
    return None if isinstance(found, np.ndarray) else found
