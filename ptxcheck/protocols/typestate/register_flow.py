"""Marks on registers, followed along all paths: which asynchronous or unfenced work a register is part of.

Property: at each point, `marks[register]` is the set of marks that the register carries there on some path;
`CLEAN` among them says that on some path it carries none. A register that is not in the map is clean on all
paths. A plain move hands the marks of its source on: compilers move accumulators about between the
instructions that matter, and the assembler puts source and copy into one register.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ...cfg import Cfg, States, forward
from ...ir import Instruction, Register
from ...opcodes.op import Op

if TYPE_CHECKING:
    from ...view import KernelView


class Mark(NamedTuple):
    """What a point did to a register, and how many steps ago; `age` is for the analysis to count."""

    site: int
    age: int


CLEAN = Mark(-1, 0)
Marks: TypeAlias = frozenset[Mark]
State: TypeAlias = Mapping[Register, Marks]
Action: TypeAlias = Callable[[State], State]


class Behind(NamedTuple):
    """The marks on all paths that come from a site; none as long as it has not run."""

    has_run: bool
    state: State


_ONLY_CLEAN: Marks = frozenset({CLEAN})


def flow(cfg: Cfg, actions: Mapping[int, Action]) -> States[State]:
    """Return the marks at each point; `actions` says what the points that matter do to them."""
    start: State = {}
    return forward(cfg, start, _transfer(cfg, actions), join)


def flow_from(cfg: Cfg, actions: Mapping[int, Action], site: int) -> States[Behind]:
    """Return the marks at each point on paths that come from a site, behind which it has run."""
    transfer = _transfer(cfg, actions)

    def onward(point: int, behind: Behind) -> Behind:
        if point == site:
            return Behind(True, actions[site](behind.state))
        return Behind(True, transfer(point, behind.state)) if behind.has_run else behind

    def either(one: Behind, other: Behind) -> Behind:
        if one.has_run and other.has_run:
            return Behind(True, join(one.state, other.state))
        return one if one.has_run else other

    return forward(cfg, Behind(False, {}), onward, either)


def _transfer(cfg: Cfg, actions: Mapping[int, Action]) -> Callable[[int, State], State]:
    def transfer(point: int, state: State) -> State:
        action = actions.get(point)
        if action is None:
            return state
        after = action(state)
        return after if cfg.instructions[point].guard is None else join(state, after)

    return transfer


def join(one: State, other: State) -> State:
    """Return the marks on either path."""
    if one is other or one == other:
        return one
    merged = {register: marks | other.get(register, _ONLY_CLEAN) for register, marks in one.items()}
    for register, marks in other.items():
        if register not in merged:
            merged[register] = marks | _ONLY_CLEAN
    return merged


def marked(registers: Set[Register], mark: Mark) -> Action:
    """Put one mark on registers."""
    marks = frozenset({mark})
    return lambda state: {**state, **dict.fromkeys(registers, marks)}


def cleared(registers: Set[Register]) -> Action:
    """Take all marks off registers."""

    def action(state: State) -> State:
        if not any(register in state for register in registers):
            return state
        return {register: marks for register, marks in state.items() if register not in registers}

    return action


def moved(instruction: Instruction) -> Action:
    """Hand on the marks of what a move reads to what it writes."""
    sources, targets = tuple(instruction.reads()), frozenset(instruction.writes())

    def action(state: State) -> State:
        found = [state.get(source, _ONLY_CLEAN) for source in sources]
        marks = frozenset().union(*found) if found else _ONLY_CLEAN
        if marks == _ONLY_CLEAN:
            return cleared(targets)(state)
        return {**state, **dict.fromkeys(targets, marks)}

    return action


def renewed(change: Callable[[Mark], Mark]) -> Action:
    """Replace each mark by what `change` makes of it; registers that become clean are dropped."""

    def action(state: State) -> State:
        memo: dict[Marks, Marks] = {}
        found: dict[Register, Marks] = {}
        for register, marks in state.items():
            if marks not in memo:
                memo[marks] = frozenset(mark if mark is CLEAN else change(mark) for mark in marks)
            if memo[marks] != _ONLY_CLEAN:
                found[register] = memo[marks]
        return found

    return action


def is_move(instruction: Instruction) -> bool:
    """Tell whether an instruction copies registers and does nothing else."""
    return instruction.operation.op is Op.MOV and any(True for _ in instruction.reads())


def moves(view: KernelView) -> Iterator[tuple[int, frozenset[Register], frozenset[Register]]]:
    """Yield each copy of registers: point, sources, targets."""
    for point, instruction in enumerate(view.body.instructions):
        if instruction.operation.op is Op.MOV:
            sources = frozenset(instruction.reads())
            if sources:
                yield point, sources, frozenset(instruction.writes())


def in_order(registers: Set[Register]) -> list[Register]:
    """Return registers in the order of their names, `%r2` before `%r10`."""
    return sorted(registers, key=lambda register: (len(register.name), register.name, register.scope))


def unknown_calls(view: KernelView) -> frozenset[int]:
    """Return the calls whose callees may do anything to asynchronous work."""
    return frozenset(point for point, said in view.facts.calls.items() if said.synchronises is not False)


__all__ = [
    "CLEAN", "Action", "Behind", "Mark", "Marks", "State", "cleared", "flow", "flow_from", "in_order", "is_move",
    "join", "marked", "moved", "moves", "renewed", "unknown_calls",
]  # fmt: skip
