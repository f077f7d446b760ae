"""The facts of the placement table: leaf types and the arithmetic on them."""

from __future__ import annotations

from dataclasses import dataclass

from .occupancy import Occupancy


@dataclass(frozen=True, slots=True)
class SharedUse:
    """Some bytes of shared memory and what they hold."""

    variable: str
    offset: int | None
    """First byte in the variable; None where the offset is computed."""
    bytes: int | None
    """Bytes of one stage; None where not known."""
    stage_step: int | None
    """Bytes from stage to stage; None where there is one stage or nothing is known."""
    what: str
    count: int = 1
    """Objects of that size, one behind the other or at equal distances."""


@dataclass(frozen=True, slots=True)
class TensorAllocation:
    """One `tcgen05.alloc`."""

    point: int
    least: int
    most: int
    """Columns."""
    pair: bool


@dataclass(frozen=True, slots=True)
class Registers:
    """Registers of some threads of the block."""

    count: int
    warps: tuple[int, ...]
    """Warps that have so many; empty where it is not known which."""
    point: int | None
    """The `setmaxnreg`; None for the count at the start."""


@dataclass(frozen=True, slots=True)
class BankConflict:
    """An access of shared memory whose lanes meet in banks."""

    point: int
    wavefronts: int
    needed: int
    """Wavefronts without conflicts."""


@dataclass(frozen=True, slots=True)
class Balance:
    """A machine: dense multiplication of 16-bit floats and the bandwidth of its memory, from its data sheet."""

    name: str
    flops: float
    """Per second, for 16-bit floats; other types by `MainLoop.rate`."""
    bytes: float
    """Per second."""

    def of(self, rate: float) -> float:
        """Return the operations per byte at which multiplication and memory take the same time."""
        return self.flops * rate / self.bytes


@dataclass(frozen=True, slots=True)
class MainLoop:
    """The loop with most matrix operations, per round and CTA."""

    point: int
    """First multiplication."""
    flops: int
    """Multiplications and additions of one round."""
    rate: float
    """How many times as fast as 16-bit floats the type is multiplied."""
    operand_bytes: int | None
    """Distinct bytes of A and B in shared memory that one round reads; None when not known of all."""
    expected_bytes: int | None
    """Bytes that mbarriers expect of copies in one round of the loop that starts them; None without constants."""
    loaded_bytes: int = 0
    """Bytes that threads load from global memory themselves in one round."""

    @property
    def bytes(self) -> int | None:
        """Return the bytes that one round needs from outside the CTA: what is copied and loaded, else what it reads."""
        return (self.expected_bytes or 0) + self.loaded_bytes or self.operand_bytes

    @property
    def intensity(self) -> float | None:
        """Return operations per byte."""
        return self.flops / self.bytes if self.bytes else None


@dataclass(frozen=True, slots=True)
class Resources:
    """Everything that the table shows of one kernel."""

    kernel: str
    shared: tuple[SharedUse, ...]
    shared_bytes: int
    """Declared bytes; dynamic shared memory comes on top."""
    barriers: int
    """Named barriers, from the first to the last that is named; all of them where one is named by a register."""
    is_dynamic: bool
    tensor: tuple[TensorAllocation, ...]
    registers: tuple[Registers, ...]
    loop: MainLoop | None
    machines: tuple[Balance, ...]
    """Machines of the kernel's target."""
    occupancy: Occupancy | None = None
    """Without registers, which `ptxas` gives, and dynamic shared memory; None where block or SM are not known."""
    conflicts: tuple[BankConflict, ...] = ()
