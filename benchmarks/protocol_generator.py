"""Small random protocols: patterns of real kernels with a few things changed, and plain noise."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from ptxcheck.protocols.model.actions import (
    Access,
    Action,
    Arrive,
    AsyncArrive,
    Barrier,
    Commit,
    Expect,
    Fence,
    Init,
    Inval,
    Protocol,
    Proxy,
    Registers,
    Rendezvous,
    Span,
    Strand,
    Transfer,
    Wait,
    WaitGroup,
)
from ptxcheck.protocols.model.sync_objects import ClusterBarrier, NamedBarrier

Program = list[Action]
BYTES = 16
_END = 15
"""Number of the barrier at which all programs of a cluster end."""


def slot(index: int, cta: int = 0) -> Span:
    return Span(cta, 1024 * (index + 1), BYTES)


def full(index: int, cta: int = 0) -> Barrier:
    return Barrier(cta, 8 * index)


def empty(index: int, cta: int = 0) -> Barrier:
    return Barrier(cta, 64 + 8 * index)


def load(barrier: Barrier, into: Span) -> Transfer:
    return Transfer(0, ((barrier, BYTES),), writes=(into,))


class Draft:
    """A protocol in the making: programs, their CTAs, and the mbarriers that strand 0 initialises."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.programs: list[Program] = []
        self.ctas: list[int] = []
        self.counts: dict[Barrier, int] = {}
        self.cluster = False
        self.registers: int | None = None

    def add(self, program: Program, cta: int = 0) -> None:
        self.programs.append(program)
        self.ctas.append(cta)

    def protocol(self) -> Protocol:
        """Return the protocol: initialisation, a barrier, the programs."""
        rng = self.rng
        strands = []
        kind = rng.choice(["sync", "sync", "sync", "sync", "relaxed", "fenced"])
        for index, program in enumerate(self.programs):
            head: Program = []
            if index == min(i for i, cta in enumerate(self.ctas) if cta == self.ctas[index]):
                head += [Init(1, b, count) for b, count in self.counts.items() if b.cta == self.ctas[index]]
                if kind == "fenced":
                    head.append(Fence(2, inits=True))
            count = len(self.programs)
            if kind == "sync":
                head.append(Rendezvous(3, ClusterBarrier(), 1, count, True, without_exited=True))
            else:
                head.append(
                    Rendezvous(3, ClusterBarrier(), 1, count, False, orders=False, without_exited=True)
                )
                head.append(
                    Rendezvous(4, ClusterBarrier(), 1, count, True, arrives=False, without_exited=True)
                )
            tail: Program = (
                [Rendezvous(5, NamedBarrier(0, _END), 1, count, True)]
                if self.cluster and rng.random() < 0.8
                else []
            )
            actions = [*head, *program, *tail]
            strands.append(
                Strand(self.ctas[index], index, 1, f"warp {index}", tuple(numbered(actions, 100 * index)))
            )
        return Protocol(tuple(strands), len(strands), self.registers)


def numbered(actions: Program, first: int) -> Program:
    """Give each action a point of its own, and waits for states the arrival before them."""
    found: Program = []
    tokens: dict[Barrier, int] = {}
    for index, action in enumerate(actions):
        action = replace(action, point=first + index)
        if isinstance(action, Arrive):
            tokens[action.barrier] = index
            action = replace(action, token=index)
        elif isinstance(action, Wait) and action.parity is None:
            token = tokens.get(action.barrier)
            action = replace(action, parity=0) if token is None else replace(action, token=token)
        found.append(action)
    return found


# -- patterns


def ring(draft: Draft) -> None:
    """A producer loads tiles, a consumer reads them with ordinary loads, the matrix unit, or both."""
    rng = draft.rng
    stages, rounds = rng.choice([1, 1, 2]), rng.randint(1, 3)
    consumers = rng.choice([1, 1, 2])
    style = rng.choice(["generic", "wgmma", "tcgen05"])
    producer: Program = []
    readers: list[Program] = [[] for _ in range(consumers)]
    for step in range(rounds):
        stage, lap = step % stages, step // stages
        producer += [Wait(0, empty(stage), lap & 1 ^ 1), Arrive(0, full(stage), 1, BYTES)]
        producer.append(load(full(stage), slot(stage)))
        for program in readers:
            program.append(Wait(0, full(stage), lap & 1))
            if style == "generic":
                program += [Access(0, reads=(slot(stage),)), Arrive(0, empty(stage), 1)]
            elif style == "tcgen05":
                program.append(Transfer(0, (), "tcgen05", reads=(slot(stage),)))
                program.append(AsyncArrive(0, empty(stage), 1))
            else:
                program += [Transfer(0, (), "wgmma", reads=(slot(stage),)), Commit(0, "wgmma")]
                program += [WaitGroup(0, "wgmma", 0), Arrive(0, empty(stage), 1)]
    for stage in range(stages):
        draft.counts[full(stage)] = 1
        draft.counts[empty(stage)] = consumers
    draft.add(producer)
    for program in readers:
        draft.add(program)


def store(draft: Draft) -> None:
    """Threads write a tile, fence it, meet, and one of them stores it; then the buffer is used again."""
    rng = draft.rng
    writers = rng.choice([1, 2])
    count = writers + 1
    for index in range(count):
        program: Program = []
        for step in range(rng.randint(1, 2)):
            if step:
                if index == 0:
                    program.append(WaitGroup(0, "bulk", 0, read=True))
                program.append(Rendezvous(0, NamedBarrier(0, 2), 1, count, True))
            if index:
                program += [Access(0, writes=(slot(index),)), Fence(0, proxy=True)]
            program.append(Rendezvous(0, NamedBarrier(0, 1), 1, count, True))
            if index == 0:
                reads = tuple(slot(each) for each in range(1, count))
                program += [Transfer(0, (), "bulk", reads=reads), Commit(0, "bulk")]
        draft.add(program)


def copies(draft: Draft) -> None:
    """`cp.async` with groups or with arrivals, for ordinary loads or for the matrix unit."""
    rng = draft.rng
    increments, groups = rng.random() < 0.5, rng.random() < 0.4
    producer: Program = []
    consumer: Program = []
    rounds = rng.randint(1, 2)
    for step in range(rounds):
        if step:
            producer.append(Wait(0, empty(0), step - 1 & 1))
        producer.append(Transfer(0, (), "cp.async", writes=(slot(0),), proxy=Proxy.GENERIC))
        if groups:
            producer += [Commit(0, "cp.async"), WaitGroup(0, "cp.async", 0), Arrive(0, full(0), 1)]
        else:
            producer.append(AsyncArrive(0, full(0), 1, increments, "cp.async"))
            if increments:
                producer.append(Arrive(0, full(0), 1))
        consumer += [Wait(0, full(0), step & 1), Access(0, reads=(slot(0),)), Arrive(0, empty(0), 1)]
    draft.counts = {full(0): 1, empty(0): 1}
    draft.add(producer)
    draft.add(consumer)


def handover(draft: Draft) -> None:
    """One strand writes bytes and another reads them, through an mbarrier, with relaxed forms and fences."""
    rng = draft.rng
    relaxed = rng.random() < 0.5
    writer: Program = [Access(0, writes=(slot(0),))]
    reader: Program = []
    is_async = rng.random() < 0.5
    if is_async:
        writer.append(Fence(0, proxy=True))
    if relaxed:
        writer.append(Fence(0, releases=True))
    writer.append(Arrive(0, full(0), 1, releases=not relaxed))
    reader.append(Wait(0, full(0), 0, acquires=not relaxed))
    if relaxed:
        reader.append(Fence(0, acquires=True))
    if is_async:
        reader += [Transfer(0, (), "bulk", reads=(slot(0),)), Commit(0, "bulk"), WaitGroup(0, "bulk", 0)]
    else:
        reader.append(Access(0, reads=(slot(0),)))
    reader.append(Arrive(0, empty(0), 1))
    writer += [Wait(0, empty(0), 0), Access(0, writes=(slot(0),))]
    draft.counts = {full(0): 1, empty(0): 1}
    draft.add(writer)
    draft.add(reader)


def remote(draft: Draft) -> None:
    """Two CTAs: one writes into the other, by a copy or a store, and the other one says when it has read."""
    rng = draft.rng
    draft.cluster = True
    kind = rng.choice(["copy", "store", "access"])
    sender: Program = []
    receiver: Program = []
    for step in range(rng.randint(1, 2)):
        if step:
            sender.append(Wait(0, empty(0), step - 1 & 1))
        if kind == "access":
            sender += [Access(0, writes=(slot(0, 1),)), Arrive(0, full(0, 1), 1)]
        else:
            proxy = Proxy.ASYNC if kind == "copy" else Proxy.GENERIC
            receiver.append(Arrive(0, full(0, 1), 1, BYTES))
            sender.append(Transfer(0, ((full(0, 1), BYTES),), writes=(slot(0, 1),), proxy=proxy))
        receiver += [Wait(0, full(0, 1), step & 1), Access(0, reads=(slot(0, 1),)), Arrive(0, empty(0), 1)]
    draft.counts = {full(0, 1): 1, empty(0): 1}
    draft.add(sender)
    draft.add(receiver, 1)


def registers(draft: Draft) -> None:
    """One strand releases registers that another one takes."""
    rng = draft.rng
    draft.registers = 100
    draft.add([Registers(0, rng.choice([40, 60]), False)])
    draft.add([Registers(0, rng.choice([140, 160]), True)])
    if rng.random() < 0.5:
        draft.add([Registers(0, rng.choice([40, 160]), rng.random() < 0.5)])


def two_waits(draft: Draft) -> None:
    """Strands that meet at one mbarrier twice a round, with parities or states."""
    rng = draft.rng
    strands = rng.choice([2, 3])
    by_state = rng.random() < 0.3
    for _ in range(strands):
        program: Program = []
        for step in range(rng.randint(1, 3) if rng.random() < 0.2 else 2):
            program.append(Arrive(0, full(0), 1, drop=rng.random() < 0.05))
            program.append(Wait(0, full(0), None if by_state else step & 1))
        draft.add(program)
    draft.counts = {full(0): strands}


def noise(draft: Draft) -> None:
    """Anything at all."""
    rng = draft.rng
    barriers = [full(0), full(1)][: rng.randint(1, 2)]
    draft.counts = {barrier: rng.randint(1, 2) for barrier in barriers}
    for _ in range(rng.randint(1, 3)):
        draft.add([any_action(rng, barriers) for _ in range(rng.randint(0, 4))])


def any_action(rng: random.Random, barriers: list[Barrier]) -> Action:
    barrier, place = rng.choice(barriers), slot(rng.randint(0, 1))
    choices: list[Callable[[], Action]] = [
        lambda: Arrive(0, barrier, 1, rng.choice([0, 0, BYTES]), releases=rng.random() < 0.8),
        lambda: Arrive(0, barrier, rng.randint(1, 2)),
        lambda: Wait(0, barrier, rng.randint(0, 1), acquires=rng.random() < 0.8),
        lambda: Wait(0, barrier, rng.choice([0, 1, None])),
        lambda: Wait(0, barrier, rng.randint(0, 1)),
        lambda: Expect(0, barrier, rng.choice([BYTES, BYTES, -BYTES])),
        lambda: load(barrier, place),
        lambda: Access(0, reads=(place,)),
        lambda: Access(0, writes=(place,)),
        lambda: Fence(0, proxy=True),
        lambda: Fence(0, releases=True, acquires=True),
        lambda: AsyncArrive(0, barrier, 1, rng.random() < 0.5, "cp.async"),
        lambda: AsyncArrive(0, barrier, 1),
        lambda: Rendezvous(0, NamedBarrier(0, 1), 1, rng.choice([2, 2, 3]), rng.random() < 0.7),
        lambda: Transfer(0, (), "bulk", reads=(place,)),
        lambda: Transfer(0, (), "cp.async", writes=(place,), proxy=Proxy.GENERIC),
        lambda: Transfer(0, (), "tcgen05", reads=(place,)),
        lambda: Commit(0, rng.choice(["bulk", "cp.async"])),
        lambda: WaitGroup(0, rng.choice(["bulk", "cp.async"]), rng.randint(0, 1)),
    ]
    return rng.choice(choices)()


def leavers(draft: Draft) -> None:
    """Strands of which some end early meet at barriers of all that are left."""
    rng = draft.rng
    count = rng.choice([2, 3])
    for _ in range(count):
        program: Program = []
        for _ in range(rng.randint(0, 2)):
            program.append(
                Rendezvous(0, NamedBarrier(0, 0), 1, count, rng.random() < 0.9, without_exited=True)
            )
            place = (slot(0),)
            program.append(Access(0, reads=place) if rng.random() < 0.8 else Access(0, writes=place))
        draft.add(program)


def twice(draft: Draft) -> None:
    """One strand initialises, uses, invalidates and initialises again; the others meet it in between."""
    rng = draft.rng
    count = rng.choice([1, 2])
    meet, part = (Rendezvous(0, NamedBarrier(0, number), 1, count + 1, True) for number in (1, 2))
    first: Program = []
    other: Program = []
    for life in range(2):
        if life:
            first += [Inval(0, full(0)), Init(0, full(0), 1)]
        first.append(meet)
        other.append(meet)
        for step in range(rng.choice([1, 1, 2])):
            first += [Arrive(0, full(0), 1, BYTES), load(full(0), slot(step)), Wait(0, full(0), step & 1)]
            other += [Wait(0, full(0), step & 1), Access(0, reads=(slot(step),))]
            if step == 0:
                first.append(part)
                other.append(part)
        first.append(part)
        other.append(part)
    draft.counts = {full(0): 1}
    draft.add(first)
    for _ in range(count):
        draft.add(list(other))


PATTERNS = (
    twice,
    leavers,
    ring,
    ring,
    store,
    copies,
    handover,
    handover,
    remote,
    registers,
    two_waits,
    noise,
    noise,
)


# -- changes


def change(draft: Draft) -> None:
    """Change one thing: leave an action out, exchange two, repeat one, or change a field or a count."""
    rng = draft.rng
    program = rng.choice(draft.programs)
    if rng.random() < 0.1 and draft.counts:
        barrier = rng.choice(sorted(draft.counts))
        draft.counts[barrier] = max(1, draft.counts[barrier] + rng.choice([-1, 1]))
        return
    if not program:
        return
    place = rng.randrange(len(program))
    kind = rng.choice(["drop", "drop", "swap", "repeat", "field", "field", "field"])
    if kind == "drop":
        del program[place]
    elif kind == "swap" and place + 1 < len(program):
        program[place], program[place + 1] = program[place + 1], program[place]
    elif kind == "repeat" and len(program) < 12:
        program.insert(rng.randrange(len(program) + 1), program[place])
    else:
        program[place] = changed(rng, program[place])


def changed(rng: random.Random, action: Action) -> Action:
    """Return an action with one field changed."""
    match action:
        case Wait(parity=int(parity)):
            return rng.choice(
                [replace(action, parity=parity ^ 1), replace(action, acquires=not action.acquires)]
            )
        case Arrive():
            assert isinstance(action.expect, int)
            return rng.choice([
                replace(action, count=action.count + 1), replace(action, releases=not action.releases),
                replace(action, expect=action.expect ^ BYTES), replace(action, expect=action.expect * 2),
            ])  # fmt: skip
        case Transfer(completes=((barrier, _),)):
            return replace(action, completes=((barrier, rng.choice([BYTES // 2, BYTES * 2])),))
        case Transfer():
            return replace(action, reads=action.writes, writes=action.reads)
        case AsyncArrive():
            return replace(action, increments=not action.increments)
        case WaitGroup():
            return replace(action, pending=action.pending + 1)
        case Rendezvous():
            return rng.choice([
                replace(action, needed=action.needed + rng.choice([-1, 1])), replace(action, orders=False),
                replace(action, waits=not action.waits),
            ])  # fmt: skip
        case Access():
            return replace(action, reads=action.writes, writes=action.reads)
        case Fence():
            return Fence(0, releases=True, acquires=True)
        case _:
            return action


def generate(seed: int) -> Protocol:
    """Return the protocol of a seed."""
    rng = random.Random(seed)
    draft = Draft(rng)
    rng.choice(PATTERNS)(draft)
    for _ in range(rng.choice([0, 1, 1, 1, 2, 2])):
        change(draft)
    return draft.protocol()
