"""What the instruction table says of an instruction: leaf types, no logic beyond trivial access."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from .op import Op
from .target import Requirement


class Trait(Enum):
    """Facts about an instruction that analyses ask for instead of its name."""

    __hash__ = object.__hash__

    ALIGNED = auto()
    """All threads of the warp must execute this same instruction (`.aligned`)."""
    COLLECTIVE = auto()
    """Warp-collective with a member mask or `.sync`: named lanes must all arrive."""
    WARPGROUP = auto()
    """All four warps of a warpgroup must execute it."""
    BRANCH = auto()
    """May transfer control to a label."""
    TERMINATOR = auto()
    """Ends the thread or the function (`exit`, `ret`, `trap`)."""
    CALL = auto()
    LOAD = auto()
    """Reads memory as the executing thread, in program order."""
    STORE = auto()
    """Writes memory as the executing thread, in program order."""
    ATOMIC = auto()
    ASYNC = auto()
    """Starts work that completes later (bulk copies, cp.async, wgmma, tcgen05, st.async)."""
    ASYNC_PROXY_READ = auto()
    """The started work reads memory through the async proxy."""
    ASYNC_PROXY_WRITE = auto()
    """The started work writes memory through the async proxy."""
    TENSORMAP_PROXY_READ = auto()
    FENCE = auto()
    BARRIER = auto()
    """Synchronises threads: named, cluster or warp barrier."""
    MBARRIER = auto()
    """Operates on an mbarrier object as the executing thread."""
    COMMIT = auto()
    """Closes a group of asynchronous operations."""
    WAIT = auto()
    """Blocks, or tests, until asynchronous work or a phase has completed."""
    MATRIX = auto()
    """Matrix instruction (mma, wgmma, tcgen05.mma)."""
    TENSOR_MEMORY = auto()
    """Reads or writes tensor memory or its allocation."""
    PURE = auto()
    """Result depends on register operands alone: no memory, no lane, no clock."""
    CROSS_LANE = auto()
    """Result depends on values of other lanes (shfl, vote, match, redux, elect)."""
    VOLATILE = auto()
    """Result differs from call to call (clock, atomics, activemask)."""
    ANYTHING = auto()
    """Unknown instruction: any effect is possible."""


class Direction(Enum):
    """What an instruction does with the registers of an operand."""

    READ = "r"
    WRITE = "w"
    READ_WRITE = "rw"


class OperandKind(Enum):
    """Syntactic and semantic class of an operand."""

    VALUE = "value"
    """Register, immediate, vector of them, or symbol address."""
    PREDICATE = "pred"
    ADDRESS = "addr"
    """Bracketed address; registers in it are read."""
    IMMEDIATE = "imm"
    """Integer constant only."""
    LABEL = "label"
    SYMBOL = "symbol"
    SINK = "sink"
    """`_` and nothing else."""
    VECTOR = "vec"
    """`{a, b}`, in braces; where a form needs to be told from one with a scalar there."""
    ANY = "any"


@dataclass(frozen=True, slots=True)
class OperandSpec:
    """One operand of a form."""

    name: str
    kind: OperandKind
    direction: Direction
    type: str = ""
    """A type such as `.b32`, the name of the slot that holds it, or "" when not fixed."""
    wider: bool = False
    """A register may be wider than the type (`ld`, `st`, `cvt`)."""
    sink: bool = False
    """The destination may be `_`."""
    count: str = ""
    """Vector length: a number, the name of the slot that holds it (`.v4`), or "" for a scalar."""
    space: str = ""
    """For addresses: a state space such as `.global`, the slot that holds it, or "" = generic."""
    optional: bool = False
    present_with: str = ""
    """Slot that must be filled exactly when this operand is there."""
    second: OperandSpec | None = None
    """Second half of a pair `d|p`; optional when `second.optional`."""
    limits: tuple[range, ...] = ()
    """Integer literals that ptxas takes here; empty when any. Registers are not limited."""


@dataclass(frozen=True, slots=True)
class SlotValue:
    """One legal value of a modifier slot, with what it requires."""

    text: str
    requirement: Requirement


@dataclass(frozen=True, slots=True)
class Slot:
    """One modifier position of a form: literal modifiers have exactly one value."""

    name: str
    values: Mapping[str, SlotValue]
    optional: bool
    group: int = -1
    """Optional slots written in one brace group must be given together; -1 when alone."""
    leading: bool = False
    """Comes right after the mnemonic, before all that is not leading."""


@dataclass(frozen=True, slots=True)
class Form:
    """One syntax line of the manual."""

    op: Op
    mnemonic: str
    slots: tuple[Slot, ...]
    operands: tuple[OperandSpec, ...]
    traits: frozenset[Trait]
    requirement: Requirement
    section: str
    syntax: str


@dataclass(frozen=True, eq=False)
class Operation:
    """An opcode with its modifiers, resolved against the table: interned, shared by instructions.

    `form` is None when the table does not know the instruction or no form fits: `op` is then
    `Op.OPAQUE` and the one trait `Trait.ANYTHING`, so that no analysis relies on operands that are missing.
    """

    text: str
    op: Op
    form: Form | None
    modifiers: tuple[str, ...]
    slots: Mapping[str, str]
    traits: frozenset[Trait]
    operand_index: Mapping[str, int] = field(repr=False)
    operand_specs: tuple[OperandSpec, ...] = field(repr=False)
    """Specs of the operands that are there, in order (optional ones that are absent left out)."""
    problem: str | None = None
    """Why no form fits, for people."""
    is_mnemonic_known: bool = True

    def has(self, modifier: str) -> bool:
        """Tell whether a modifier such as `Mod.READ` was written."""
        return modifier in self.modifiers
