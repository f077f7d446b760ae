"""Facts against runs: whatever the interpreter meets, the facts must allow."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ptxcheck.cfg import Facts, Uniformity
from ptxcheck.cfg.definitions import Name
from ptxcheck.cfg.linear import AtomKind
from ptxcheck.ir import Register

from .kernels import exact_block, facts_of
from .machine import Machine
from .programs import program

PARAMETER = st.sampled_from((0, 1, 2, 3, 5, 16, 31, 128, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF))


class Watcher:
    """Checks values at each step of a run, with the history that atoms refer to."""

    def __init__(self, facts: Facts, machine: Machine) -> None:
        self.facts = facts
        self.machine = machine
        self.results: dict[Name, int] = {}
        self.entered: dict[tuple[int, str], int] = {}
        self.last: int | None = None

    def arrive(self, point: int) -> None:
        self._note_last()
        block = self.facts.cfg.block_at(point)
        if point == block.start:
            for name, value in self.machine.registers.items():
                self.entered[(block.index, name)] = value
        assert self.facts.reachable(point)
        instruction = self.facts.cfg.instructions[point]
        for register in instruction.reads():
            if register.name in self.machine.registers:
                self._check(point, register)
        self.last = point

    def _note_last(self) -> None:
        if self.last is None:
            return
        for register in self.facts.cfg.instructions[self.last].writes():
            if register.name in self.machine.registers:
                self.results[Name(register, self.last)] = self.machine.registers[register.name]

    def _check(self, point: int, register: Register) -> None:
        number = self.machine.registers[register.name]
        value = self.facts.value(point, register)
        assert value.may_be(number & (1 << value.width) - 1), (point, register.name, number, str(value))
        form = value.linear
        if form is None:
            return
        total = form.constant
        for atom, factor in form.terms:
            found = self._atom(atom.kind, atom.name, atom.at)
            if found is None:
                return
            total += factor * found
        assert (total - number) % (1 << value.width) == 0, (point, register.name, number, str(value))
        if value.exact and all(factor > 0 for _, factor in form.terms):
            assert total == number, (point, register.name, number, str(value))

    def _atom(self, kind: AtomKind, name: str, at: int) -> int | None:
        match kind:
            case AtomKind.SPECIAL:
                return self.machine.specials[name]
            case AtomKind.PARAMETER:
                return self.machine.parameters[name]
            case AtomKind.DEFINITION:
                return self.results.get(Name(Register(name), at))
            case AtomKind.PHI:
                return self.entered.get((at, name))
        return None


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(program(), PARAMETER, st.integers(0, 127))
def test_values_hold_in_every_run(body: str, n: int, tid: int) -> None:
    facts = facts_of(body, exact_block(128))
    machine = Machine(facts.cfg, {"%tid.x": tid}, {"n": n, "data": 0x7F00_0000_0010})
    watcher = Watcher(facts, machine)
    for point in machine.run():
        watcher.arrive(point)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(program(loops=False), PARAMETER)
def test_threads_and_uniformity_hold(body: str, n: int) -> None:
    size = 160
    facts = facts_of(body, exact_block(size))
    executed: dict[int, set[int]] = {}
    numbers: dict[tuple[int, Register], dict[int, int]] = {}
    for tid in range(size):
        machine = Machine(facts.cfg, {"%tid.x": tid}, {"n": n, "data": 0x7F00_0000_0010})
        for point in machine.run():
            executed.setdefault(point, set()).add(tid)
            for register in facts.cfg.instructions[point].reads():
                if register.name in machine.registers:
                    numbers.setdefault((point, register), {})[tid] = machine.registers[register.name]
    for point, threads in executed.items():
        _check_execution(facts, point, threads, size)
    for (point, register), found in numbers.items():
        _check_agreement(facts.uniform(point, register), found, size)


def _groups(level: Uniformity, size: int) -> list[range]:
    width = {Uniformity.WARP: 32, Uniformity.WARPGROUP: 128}.get(level, size)
    return (
        []
        if level is Uniformity.DIVERGENT
        else [range(n, min(n + width, size)) for n in range(0, size, width)]
    )


def _check_execution(facts: Facts, point: int, threads: set[int], size: int) -> None:
    block = facts.cfg.blocks[facts.cfg.graph.block_of[point]]
    if facts.cfg.instructions[point].guard is not None:
        point = next((p for p in block.points if facts.cfg.instructions[p].guard is None), -1)
        if point < 0:
            return
    execution = facts.execution(point)
    assert execution.threads is not None
    assert all(thread in execution.threads for thread in threads)
    if execution.exact:
        assert threads == set(execution.threads)
    for group in _groups(execution.uniformity, size):
        assert threads.issuperset(group) or threads.isdisjoint(group)


def _check_agreement(level: Uniformity, numbers: dict[int, int], size: int) -> None:
    for group in _groups(level, size):
        assert len({numbers[thread] for thread in group if thread in numbers}) <= 1
