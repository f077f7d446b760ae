"""Numbers that threads of a CTA hand to each other through shared memory: tables and rings together.

Property: a read gives the number that a kept store has written to the place, or nothing.

Argument: tables are read by epochs of barriers, rings by turns (`shared_words`, `mailbox_rings`); a store that may not
happen, or whose value is not known, leaves open what is there.

Not covered: other writers; that there are none is an assumption, which `SharedNumbers` notes where it gives a number.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....cfg.optypes import typing_of
from ....ir import Instruction
from ....verdict import AssumptionKind
from ...typestate.shared_access import access_bytes
from ..slice.layout import Layout
from ..slice.sliced_program import Program
from ..values.assumptions import Assume
from ..values.register_file import lanes_of
from ..values.symbol import Form, Lanes, Value
from ..values.trace import RANK_SHIFT, NotFollowedError, ThreadSet
from .decider import Decider
from .event_log import EventLog
from .mailbox_rings import Rings
from .operand_values import Operands
from .shared_words import Table

OF_TABLES = "nothing else writes the variables in shared memory that hand numbers to other warps"
_OF_RINGS = "what is read from a ring in shared memory was written in the same turn"


class SharedNumbers:
    """What one CTA has stored and kept."""

    def __init__(
        self,
        program: Program,
        layout: Layout,
        rank: int,
        threads: int,
        operands: Operands,
        decider: Decider,
        log: EventLog,
        assume: Assume,
    ) -> None:
        self._program = program
        self._layout = layout
        self._rank = rank
        self._threads = threads
        self._operands = operands
        self._decider = decider
        self._log = log
        self._assume = assume
        self._table = Table(self._places(), threads)
        self._rings = Rings()

    @property
    def may_park(self) -> bool:
        """Whether a read may wait for what others would have to store before; else it gives no value."""
        return self._table.may_park

    @may_park.setter
    def may_park(self, may: bool) -> None:
        self._table.may_park = may

    def pass_barrier(self, threads: ThreadSet) -> None:
        """Note that threads have passed a barrier of the whole CTA."""
        self._table.pass_barrier(lanes_of(threads, self._threads))

    def end(self, threads: ThreadSet) -> None:
        """Note that threads have ended."""
        self._table.end(lanes_of(threads, self._threads))

    def wait(self, threads: ThreadSet) -> None:
        """Note that threads have waited for something."""
        self._rings.wait(threads)

    def keep(self, point: int, address: int, size: int, value: Value, threads: ThreadSet) -> None:
        """Keep what threads store to one place; a store that may not happen leaves open what is there."""
        stores = self._program.stores
        known = None if self._decider.speculative else value
        if point in stores.ring:
            self._rings.write(address, size, known, threads)
        if point not in stores.ring or point in stores.table:
            self._table.write(address, size, known, lanes_of(threads, self._threads))

    def forget(self, point: int, threads: ThreadSet) -> None:
        """Note that a store writes some of the bytes that it may write, or none of them. Raises NotFollowedError."""
        stores = self._program.stores
        if point in stores.ring and point not in stores.table:
            return
        if point in stores.spread:
            places = self._bytes_of(point)
            self._table.write(places.start, len(places), None, lanes_of(threads, self._threads))
            return
        instruction = self._program.cfg.instructions[point]
        address = self._operands.value(instruction.operands[0], threads)
        if not isinstance(address, int):
            # A register that nothing writes, say: it may hold the place of any number that is kept.
            raise NotFollowedError(
                "where this stores to is not known, and numbers are kept in shared memory", point
            )
        self._table.write(address, access_bytes(instruction), None, lanes_of(threads, self._threads))

    def read(
        self, point: int, instruction: Instruction, address: Value, guard: ThreadSet, offset: int
    ) -> Value | None:
        """Return what threads read at places, None when it is not known. Raises ParkError.

        `offset` are the bytes between the operand of the instruction and the number that is read.
        """
        if isinstance(address, Form):
            return None
        size = typing_of(instruction.operation).width // 8
        held = self._table.read(address, size, guard, lanes_of(guard, self._threads))
        if held is None:
            return self._read_ring(point, address, size, guard)
        if self._program.stores.are_read:
            self._assume(AssumptionKind.SHARED_TABLE, OF_TABLES, point)
        return held

    def _read_ring(self, point: int, address: int | Lanes, size: int, guard: ThreadSet) -> Value | None:
        """Return what is handed on through a ring. Raises ParkError when it has not been written yet.

        With ordinary accesses, only what the one access of these threads reads: else nothing could check its turn.
        """
        if not self._program.stores.ring or not isinstance(address, int):
            return None
        if self._program.accesses and self._log.access_of(point, guard) is None:
            return None
        read = self._rings.read(address, size, guard, may_park=self.may_park)
        if read is None:
            return None
        turn, value = read
        if self._program.accesses:
            self._log.turns[self._log.events[-1].index] = turn
        self._assume(AssumptionKind.SHARED_RING, _OF_RINGS, point)
        return value

    def _places(self) -> Iterator[int]:
        """Yield the bytes that stores of tables name in the kernel's text."""
        for point in self._program.stores.table:
            instruction = self._program.cfg.instructions[point]
            address = self._operands.value(instruction.operands[0], 1)
            if isinstance(address, int):
                yield from range(address, address + access_bytes(instruction))
        for point in self._program.stores.spread:
            yield from self._bytes_of(point)

    def _bytes_of(self, point: int) -> range:
        """Return the bytes, as addresses of this CTA, that a store whose numbers are kept may write."""
        pointer = self._program.place(point)
        size = access_bytes(self._program.cfg.instructions[point])
        within = None if pointer is None else self._layout.within(pointer, size)
        own = self._rank << RANK_SHIFT
        return range(0) if within is None else range(own | within.start, own | within.end)
