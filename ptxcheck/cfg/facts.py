"""`Facts`: what the analyses know at each point of one function, computed when asked for.

Property: every answer holds in all runs of the launches that `Launch` allows, under the assumptions that
`approximations` lists. "Not known" is None, the widest range, or DIVERGENT; never a guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from ..ir import (
    Address,
    Component,
    Module,
    Negated,
    Operand,
    Register,
    Symbol,
    SymbolOffset,
)
from ..launch import Launch
from .addresses import Addresses, Pointer
from .approximations import Approximation, find
from .arithmetic import add
from .bits import bit_not
from .call import fitted
from .calls import CallSummary, summarise
from .cfg import Cfg
from .claims import Claims
from .concrete import Words
from .definitions import Definitions, Name
from .evaluate import WIDEST, Values
from .execution import Execution, Executions
from .graph import Edge
from .guards import Fact
from .linear import Linear
from .literals import literal_value
from .reachability import Reachability
from .slice import SyncSlice, sync_slice
from .special import special_name, special_uniformity
from .threads import Lanes, ThreadSet
from .uniform import Uniformity
from .uniformity import Levels
from .uses import Uses
from .values import Value, exactly, top


class Facts:
    """Facts of one function under one launch. Points are those of `cfg`."""

    def __init__(self, cfg: Cfg, module: Module, launch: Launch) -> None:
        self.cfg = cfg
        self.module = module
        self.launch = launch
        self._addresses = Addresses(cfg.function, module, launch)
        self._definitions = Definitions(cfg)
        self._values = Values(cfg, self._definitions, self._addresses)

    # ---- numbers

    def value(self, point: int, operand: Operand | None) -> Value:
        """Return what is known of an operand that the point reads, as an unsigned number.

        Registers have the width of their last definition; literals and symbols are 64 bits wide. For an
        address it is the number in the brackets, offset included. Code that never runs gives anything.
        """
        match operand:
            case Register():
                value = self._values.at(point, operand)
                return top(WIDEST) if value is None else value
            case Negated(operand=inner):
                return bit_not(fitted(self.value(point, inner), 1))
            case Component():
                return self._values.component(operand)
            case Symbol():
                return self._addresses.of_symbol(operand)
            case SymbolOffset(symbol=symbol, offset=offset):
                return self._addresses.of_symbol(symbol, offset)
            case Address():
                return self._in_brackets(point, operand)
            case _:
                return literal_value(operand)

    def of_linear(self, form: Linear, width: int) -> Value:
        """Return what is known of a linear expression, from what is known of its atoms."""
        return self._values.of_linear(form, width)

    def constant(self, point: int, operand: Operand | None) -> int | None:
        """Return the only number that an operand can be. Literals as written, registers unsigned."""
        number = getattr(operand, "value", None)
        return number if isinstance(number, int) else self.value(point, operand).constant

    def range(self, point: int, operand: Operand | None) -> tuple[int, int]:
        """Return the least and greatest number that an operand can be, unsigned."""
        value = self.value(point, operand)
        return value.low, value.high

    def alignment(self, point: int, operand: Operand | None) -> tuple[int, int]:
        """Return (modulus, residue): the number is `residue` modulo `modulus`; modulus 0 for a constant."""
        value = self.value(point, operand)
        return value.modulus, value.residue

    def is_multiple(self, point: int, operand: Operand | None, divisor: int) -> bool | None:
        """Tell whether an operand or address is a multiple of a number: yes, never, or not known (None)."""
        return self.value(point, operand).divisible(divisor)

    def _in_brackets(self, point: int, address: Address) -> Value:
        if address.base is None:
            return exactly(address.offset, WIDEST)
        base = self.value(point, address.base)
        return add(base, exactly(address.offset, base.width)) if address.offset else base

    # ---- addresses

    def address(self, point: int, operand: Operand | None, space: str = "") -> Pointer | None:
        """Return where an address operand, or a register that holds an address, points to.

        `space` is the state space of the access; without it that of the instruction, where it has just one.
        None when `operand` is no address and holds no number that is one.
        """
        if not isinstance(operand, (Address, Register, Symbol, SymbolOffset)):
            return None
        space = space or self._space_of(point, operand)
        return self._addresses.pointer(self.value(point, operand), space, self._values.of_linear)

    def _space_of(self, point: int, operand: Operand) -> str:
        instruction = self.cfg.instructions[point]
        for index, spec in enumerate(instruction.operation.operand_specs):
            if index < len(instruction.operands) and instruction.operands[index] is operand and spec.space:
                return spec.space if spec.space[0] == "." else instruction.operation.slots.get(spec.space, "")
        return ""

    # ---- threads

    def uniform(self, point: int, operand: Operand | None) -> Uniformity:
        """Return the largest groups of threads that read one number at the point."""
        match operand:
            case Register():
                return self._levels.at(point, operand)
            case Negated(operand=inner):
                return self._levels.at(point, inner)
            case Component():
                name = special_name(operand)
                return Uniformity.DIVERGENT if name is None else special_uniformity(name)
            case Address(base=base) if base is not None:
                return self.uniform(point, base)
            case _:
                return Uniformity.GRID

    def is_warp_wide(self, point: int, operand: Operand) -> bool:
        """Tell whether lanes of a warp read one number at the point in one round, though they come there apart."""
        if not isinstance(operand, Register):
            return self.uniform(point, operand) <= Uniformity.WARP
        return self._levels_apart.at(point, operand) <= Uniformity.WARP

    def execution(self, point: int) -> Execution:
        """Return which threads execute a point together."""
        return self._executions.at(point)

    def threads_where(self, point: int, predicate: Register, holds: bool = True) -> ThreadSet | None:
        """Return the threads in which a predicate read at the point holds, None when not known."""
        return self._lanes.holds(self._definitions.before(point, predicate), holds)

    def by_thread(self, name: Name) -> Words | None:
        """Return what a definition leaves in each thread of the block, None when not known (see `Lanes`)."""
        return self._lanes.of(name)

    @cached_property
    def _lanes(self) -> Lanes:
        return Lanes(self.cfg, self._definitions, self.launch)

    @cached_property
    def _levels(self) -> Levels:
        return Levels(self.cfg, self._definitions, self._addresses, self._lanes, self._values)

    @cached_property
    def _levels_apart(self) -> Levels:
        return Levels(
            self.cfg, self._definitions, self._addresses, self._lanes, self._values, loads_agree=False
        )

    @cached_property
    def _executions(self) -> Executions:
        claims = Claims(self.cfg, self._definitions, self._values.guards, self._lanes)
        return Executions(self.cfg, self._definitions, self._levels, self._lanes, claims)

    # ---- control and data flow

    def reachable(self, point: int) -> bool:
        """Tell whether some run may get to a point, branches on constants considered."""
        return self._reachability.of(self.cfg.graph.block_of[point])

    def may_be_taken(self, edge: Edge) -> bool:
        """Tell whether some thread that is at the end of its source may take an edge."""
        return self._reachability.may_be_taken(edge)

    def never_runs(self, point: int) -> bool:
        """Tell whether no thread executes the instruction: not reachable, or a guard that never holds."""
        guard = self.cfg.instructions[point].guard
        if not self.reachable(point):
            return True
        return guard is not None and self.value(point, guard.register).constant == int(guard.negated)

    def definitions(self, point: int, register: Register) -> tuple[int, ...]:
        """Return the points whose result a read of the register at the point may see."""
        return self._definitions.instructions_behind(self._definitions.before(point, register))

    def same_definition(self, p: int, a: Register, q: int, b: Register) -> bool:
        """Tell whether two reads see the result of one and the same definition."""
        return self._definitions.before(p, a) == self._definitions.before(q, b)

    def name(self, point: int, register: Register) -> Name:
        """Return the definition, merges included, that a read at the point sees."""
        return self._definitions.before(point, register)

    def read_at(self, point: int) -> tuple[Name, ...]:
        """Return the definitions that the instruction at a point reads, its guard's first."""
        return self._definitions.read_at(point)

    def block_of(self, name: Name) -> int:
        """Return the block at whose point or start a definition is."""
        return self._definitions.block_of(name)

    def uniformity_of(self, name: Name) -> Uniformity:
        """Return the largest groups of threads that get one number when they execute a definition together."""
        return self._levels.of(name)

    def branch_uniformity(self, block: int) -> Uniformity:
        """Return the largest groups of threads that go the same way at the end of a block."""
        return self._levels.of_branch(block)

    def leaving(self, block: int, register: Register) -> Name:
        """Return the definition that a register has at the end of a block."""
        return self._definitions.leaving(block, register)

    def merged(self, name: Name) -> tuple[tuple[Edge, Name], ...]:
        """Return the definitions that a merge brings together, with the edges they come in by."""
        return self._definitions.merged(name)

    def value_of(self, name: Name) -> Value | None:
        """Return the value of a definition; None when it never runs."""
        return self._values.of(name)

    def value_given(self, name: Name, known: Mapping[Name, Value]) -> Value | None:
        """Return what is known of a name where others have known values, as far as one block computes it from them."""
        return self._values.given(name, known)

    def said_by(self, predicate: Name, truth: bool) -> tuple[Fact, ...]:
        """Return the comparisons of definitions with numbers that hold when a predicate is `truth`."""
        return self._values.guards.of(predicate, truth)

    def holding(self, predicate: Name, truth: bool) -> ThreadSet | None:
        """Return the threads in which a predicate is `truth`, None when not known."""
        return self._lanes.holds(predicate, truth)

    def uses(self, point: int) -> tuple[int, ...]:
        """Return the points that may read what the instruction at a point writes into registers."""
        return self._uses.of(point)

    @cached_property
    def _reachability(self) -> Reachability:
        return Reachability(self.cfg, self._values)

    @cached_property
    def _uses(self) -> Uses:
        return Uses(self.cfg, self._definitions)

    # ---- whole function

    @cached_property
    def sync_slice(self) -> SyncSlice:
        """Everything that the operands and the control of synchronising instructions depend on."""
        return sync_slice(self.cfg, self._definitions, self._addresses)

    @cached_property
    def calls(self) -> Mapping[int, CallSummary]:
        """What is known of the callee of each call."""
        return summarise(self.cfg, self.module)

    @cached_property
    def approximations(self) -> tuple[Approximation, ...]:
        """Everything that these facts take for granted or could not follow."""
        return find(self.cfg, self.calls, self._lanes)


def analyse(cfg: Cfg, module: Module, launch: Launch) -> Facts:
    """Return the facts of a function; nothing is computed before it is asked for."""
    return Facts(cfg, module, launch)
