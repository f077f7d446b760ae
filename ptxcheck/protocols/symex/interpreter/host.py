"""What the host passes and has put into global memory, all of it numbers: for runs in which little is left open.

Property: a parameter or a word of global memory has one number in a run, whoever asks, but for arrays that the kernel
may write (`is_overwritten`).

Argument: bytes are chosen when they are first asked for, and kept.

Not covered: that a host launches the kernel with these numbers; a fault that needs them is reported with them.

Numbers are such as a host would pass, as far as the text of the kernel tells what they are (`parameter_kinds`): arrays
lie apart from each other, divisors have their multipliers, and all sizes are there. An array in global memory holds the
same number everywhere, unless numbers are to differ. Bytes of copies stay symbols, as only the host's tensor maps would
tell them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ....launch import Dim
from ..slice.parameter_kinds import ParameterKinds
from ..values.divisors import factors_of
from ..values.symbol import Form
from ..values.trace import NotFollowedError, Shape

_REGION = 1 << 36
"""Bytes from one array to the next."""
_BYTE = 0xFF
_ONE = {2: 0x3C00, 4: 0x3F800000, 8: 0x3FF0000000000000}
"""A floating-point number by its bytes."""
_POINTER = 8
_WORD = 4
_PARAMETERS = 4
"""Parameters in a row that have different numbers where numbers are to differ."""
_ARRAYS = 16
"""The same of arrays."""
_APART = 8
"""How much further numbers of different arrays are apart than those in a row."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which numbers a host passes."""

    size: int
    """For parameters of up to 32 bits, and in global memory."""
    wide: int
    """For parameters of 64 bits."""
    divisor: int
    """A power of two."""
    grid: Dim
    """Clusters."""
    step: int = 0
    """How far numbers are apart that follow each other in an array; below 0: the later the array, the smaller."""


@dataclass(slots=True)
class Host:
    """Bytes of parameters and of global memory; those that nobody has named are chosen when they are asked for."""

    kinds: ParameterKinds
    choice: Choice
    shape: Shape
    asked: dict[tuple[int, int], int] = field(default_factory=dict)
    """Numbers of parameters that are no pointers, by offset and bytes."""
    reads_integers: bool = False
    """Whole numbers that are no pointers were read from arrays."""
    tables: dict[tuple[int, int], int] = field(default_factory=dict)
    """What is in arrays that were read, by the parameter that points to each and the bytes of its numbers."""
    _read: dict[int, set[tuple[int, bool]]] = field(default_factory=dict)
    """Arrays that were read: the bytes of the numbers, and whether these are floating-point numbers."""
    _anywhere: set[int] = field(default_factory=set)
    """Arrays that were read at places that are not known."""
    _parameters: dict[int, int] = field(default_factory=dict)
    _memory: dict[int, int] = field(default_factory=dict)
    _written: set[int] = field(default_factory=set)
    _named: dict[int, int] = field(default_factory=dict)
    """Parameters that point to arrays."""
    _arrays: int = 0

    def __post_init__(self) -> None:
        kinds, choice = self.kinds, self.choice
        for at in sorted(kinds.flags):
            self._give(at, 4, 1)
        for at in sorted(kinds.shifts):
            self._give(at, 4, 0)
        for each in kinds.divisors:
            shift = choice.divisor.bit_length() - 1
            multiplier = 0
            if each.size < _POINTER and each.shift == each.multiplier + each.size:
                multiplier, shift = factors_of(choice.divisor)
            if each.shift == each.multiplier + 2 * each.size or each.size == _POINTER:
                self._give(each.multiplier + each.size, 4, 0)
            self._give(each.multiplier - each.size, each.size, choice.divisor)
            self._give(each.multiplier, each.size, multiplier)
            self._give(each.shift, 4, shift)
            if each.size == _POINTER:
                self._give(each.shift + 4, 4, 0)
        for at in sorted(kinds.packed):
            self._give(at, 4, choice.size)
            self._give(at + 4, 4, choice.size)
        for at in sorted(kinds.pointers):
            self._give(at, _POINTER, self._array(is_written=at in kinds.written))
            self._named[self._arrays] = at

    def _give(self, offset: int, size: int, number: int) -> None:
        for index in range(size):
            self._parameters[offset + index] = number >> 8 * index & _BYTE

    def _array(self, *, is_written: bool) -> int:
        self._arrays += 1
        if is_written:
            self._written.add(self._arrays)
        return self._arrays * _REGION

    def parameter(self, offset: int, size: int, *, is_float: bool) -> int | None:
        """Return a parameter word, None for one that stays a symbol."""
        if offset in self.kinds.bytes or size > _POINTER:
            return None
        default = _ONE.get(size, 1) if is_float else self._size_at(offset, size)
        number = _read(self._parameters, offset, size, default)
        if offset not in self.kinds.pointers:
            self.asked[offset, size] = number
        return number

    def _size_at(self, offset: int, size: int) -> int:
        number = self.choice.wide if size == _POINTER else self.choice.size if size > 1 else 1
        if size == 1 or not self.choice.step:
            return number
        step = self.choice.step if size < _POINTER else 1 if self.choice.step > 0 else -1
        return number + _place(offset // _WORD, _PARAMETERS, step)

    def number(self, offset: int, size: int) -> int | None:
        """Return a parameter word as `parameter` does, without asking for it."""
        if offset in self.kinds.bytes or size > _POINTER:
            return None
        return _read(dict(self._parameters), offset, size, self._size_at(offset, size))

    def load(self, point: int, address: int, size: int, *, is_float: bool) -> int:
        """Return what is in global memory, of up to 8 bytes. Raises NotFollowedError where the host has nothing."""
        array = address // _REGION
        if not 0 < array <= self._arrays:
            raise NotFollowedError("the host has put nothing here", point)
        if size == _POINTER and point in self.kinds.pointer_loads and address not in self._memory:
            default = self._array(is_written=point in self.kinds.written_loads)
        else:
            default = self._default(size, is_float, array, address % _REGION)
        self.reads_integers |= not is_float and point not in self.kinds.pointer_loads
        self._note_read(point, array, size, is_float)
        number = _read(self._memory, address, size, default)
        self._note_table(array, size, number)
        return number

    def load_anywhere(self, point: int, address: Form, size: int, *, is_float: bool) -> int | None:
        """Return what is at a place of an array that is not known, None where that is no number."""
        array = address.constant // _REGION
        is_pointer = size == _POINTER and point in self.kinds.pointer_loads
        if not 0 < array <= self._arrays or size > _POINTER or is_pointer or self.choice.step:
            return None
        self._anywhere.add(array)
        self.reads_integers |= not is_float
        self._note_read(point, array, size, is_float)
        number = self._default(size, is_float, array, 0)
        self._note_table(array, size, number)
        return number

    def _note_table(self, array: int, size: int, number: int) -> None:
        if array in self._named and number < _REGION:
            self.tables[self._named[array], size] = number

    def _note_read(self, point: int, array: int, size: int, is_float: bool) -> None:
        kinds = self._read.setdefault(array, set())
        kinds.add((size, is_float))
        if array in self._anywhere and len(kinds) > 1:
            raise NotFollowedError("an array holds numbers of several kinds", point)

    def _default(self, size: int, is_float: bool, array: int, offset: int) -> int:
        if is_float or size == 1:
            return _ONE.get(size, 1) if is_float else 1
        step = self.choice.step
        apart = abs(step) * (offset // size) + _APART * _place(array, _ARRAYS, step) if step else 0
        return self.choice.size + apart

    def special(self, name: str, axis: int) -> int | None:
        """Return what a special register of the grid holds, None for others."""
        clusters = self.choice.grid[axis]
        return {"%clusterid": 0, "%nclusterid": clusters, "%nctaid": clusters * self.shape.cluster[axis]}.get(
            name
        )

    @property
    def is_overwritten(self) -> bool:
        """Tell whether the kernel may write into an array that it has read."""
        return not self._written.isdisjoint(self._read)


def _read(memory: dict[int, int], at: int, size: int, default: int) -> int:
    for index in range(size):
        memory.setdefault(at + index, default >> 8 * index & _BYTE)
    return sum(memory[at + index] << 8 * index for index in range(size))


def _place(index: int, count: int, step: int) -> int:
    """Return how much a number is more than others by its place among some, from the last one down where `step` is."""
    place = index % count
    return step * place if step > 0 else -step * (count - 1 - place)
