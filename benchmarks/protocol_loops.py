"""Loops of strands: performed round after round until a state stands for all rounds, and unrolled into protocols.

What holds by the first has to hold by the second, for every number of rounds.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ptxcheck.protocols.model.actions import (
    Access,
    Action,
    Arrive,
    AsyncArrive,
    Barrier,
    Commit,
    Fence,
    Init,
    Inval,
    Protocol,
    Proxy,
    Rendezvous,
    Span,
    Strand,
    Transfer,
    Wait,
    WaitGroup,
)
from ptxcheck.protocols.model.sync_objects import ClusterBarrier, NamedBarrier
from ptxcheck.protocols.product.operations import Failure
from ptxcheck.protocols.product.order_state import BLOCKED, OrderState
from ptxcheck.protocols.product.setup import Setup, StrandInfo

from .protocol_generator import BYTES, changed, empty, full, slot

_MOST_ROUNDS = 12


class StuckError(Exception):
    """No strand can go on."""


class FailedError(Exception):
    """An action is not shown to be in order."""


@dataclass(frozen=True)
class Loop:
    """What a strand does first, and what it does again and again."""

    first: Sequence[Action]
    body: Sequence[Action]
    cta: int = 0
    lanes: int = 1
    warp: int = -1


def setup_of(loops: Sequence[Loop], **more: object) -> Setup:
    infos = [
        StrandInfo(each.cta, number if each.warp < 0 else each.warp, each.lanes, f"strand {number}")
        for number, each in enumerate(loops)
    ]
    return Setup(infos, [(*each.first, *each.body) for each in loops], **more)  # type: ignore[arg-type]


def perform(state: OrderState, programs: Sequence[Sequence[Action]], *, ends: bool = False) -> None:
    """Perform the programs of all strands to their ends. Raises StuckError, FailedError."""
    at = [0] * len(programs)
    moved = True
    while moved:
        moved = False
        for strand, program in enumerate(programs):
            while at[strand] < len(program):
                result = state.perform(strand, program[at[strand]])
                if isinstance(result, Failure):
                    raise FailedError(result.reason, result.strand, result.point)
                if result == BLOCKED:
                    break
                at[strand] += 1
                moved = True
    for strand, program in enumerate(programs):
        if at[strand] < len(program):
            raise StuckError(strand, program[at[strand]])
    for strand in range(len(programs)) if ends else ():
        failure = state.end(strand)
        if failure is not None:
            raise FailedError(failure.reason, failure.strand, failure.point)


def rounds_to_fixpoint(loops: Sequence[Loop], **more: object) -> int:
    """Return after how many rounds a state stands for all that follow; in each of them strands may also end."""
    state = OrderState(setup_of(loops, **more))
    perform(state, [each.first for each in loops])
    known = state.copy()
    for count in range(1, _MOST_ROUNDS):
        perform(state, [each.body for each in loops])
        _finish(state.copy())
        if state.control() == known.control():
            if state.covered_by(known):
                return count
            state.weaken(known)
        known = state.copy()
    raise StuckError("no fixpoint")


def _finish(state: OrderState) -> None:
    perform(state, [()] * len(state.setup.strands), ends=True)
    failure = state.finish()
    if failure is not None:
        raise FailedError(failure.reason, failure.strand, failure.point)


def unrolled(loops: Sequence[Loop], rounds: int) -> Protocol:
    """Return the protocol in which each loop goes round so often."""
    strands = tuple(
        Strand(
            each.cta, number if each.warp < 0 else each.warp, each.lanes, f"strand {number}",
            (*each.first, *(tuple(each.body) * rounds)),
        )
        for number, each in enumerate(loops)
    )  # fmt: skip
    return Protocol(strands, len(strands))


# -- random loops


def _start(counts: dict[Barrier, int], strands: int) -> list[list[Action]]:
    meet = Rendezvous(2, NamedBarrier(0, 0), 1, strands, True)
    made: list[Action] = [Init(1, barrier, count) for barrier, count in counts.items()]
    others: list[list[Action]] = [[meet] for _ in range(strands - 1)]
    return [[*made, meet], *others]


def _ring(rng: random.Random) -> list[Loop]:
    stages, consumers = rng.choice([1, 2, 3]), rng.choice([1, 2])
    style = rng.choice(["generic", "wgmma", "tcgen05", "stores"])
    counts = {full(stage): 1 for stage in range(stages)} | {
        empty(stage): consumers for stage in range(stages)
    }
    load: list[Action] = []
    bodies: list[list[Action]] = [[] for _ in range(consumers)]
    for lap in range(2):
        for stage in range(stages):
            load.append(Wait(10, empty(stage), lap ^ 1))
            if style == "stores":
                load += [Access(11, writes=(slot(stage),)), Fence(12, proxy=True), Arrive(13, full(stage), 1)]
            else:
                load += [
                    Arrive(11, full(stage), 1, BYTES),
                    Transfer(12, ((full(stage), BYTES),), writes=(slot(stage),)),
                ]
            for body in bodies:
                body.append(Wait(20, full(stage), lap))
                if style == "generic":
                    body += [Access(21, reads=(slot(stage),)), Arrive(22, empty(stage), 1)]
                elif style == "wgmma":
                    body += [Transfer(21, (), "wgmma", reads=(slot(stage),)), Commit(22, "wgmma")]
                    body += [WaitGroup(23, "wgmma", 0), Arrive(24, empty(stage), 1)]
                else:
                    body += [
                        Transfer(21, (), "tcgen05", reads=(slot(stage),)),
                        AsyncArrive(22, empty(stage), 1),
                    ]
    first = _start(counts, 1 + consumers)
    return [Loop(head, body) for head, body in zip(first, [load, *bodies], strict=True)]


def _groups(rng: random.Random) -> list[Loop]:
    stages, strands = rng.choice([2, 3, 4]), 2
    loops = []
    for number in range(strands):
        parts = [Span(0, slot(stage).start + 8 * number, 8) for stage in range(stages)]
        copies: list[list[Action]] = [
            [Transfer(30, (), "cp.async", writes=(part,), proxy=Proxy.GENERIC), Commit(31, "cp.async")]
            for part in parts
        ]
        body: list[Action] = []
        for stage in range(stages):
            body += [
                WaitGroup(32, "cp.async", stages - 2),
                Rendezvous(33, NamedBarrier(0, 1), 1, strands, True),
            ]
            body += [Access(34, reads=(slot(stage),)), *copies[stage - 1]]
        loops.append(Loop([each for copy in copies[:-1] for each in copy], body))
    return loops


def _buffer(rng: random.Random) -> list[Loop]:
    """Strands write a buffer, meet, and one of them stores it in bulk; then they meet again."""
    writers = rng.choice([1, 2])
    count = writers + 1
    loops = []
    for index in range(count):
        body: list[Action] = []
        if index == 0:
            body.append(WaitGroup(40, "bulk", 0, read=rng.random() < 0.7))
        body.append(Rendezvous(41, NamedBarrier(0, 2), 1, count, True))
        if index:
            body += [Access(42, writes=(slot(index),)), Fence(43, proxy=True)]
        body.append(Rendezvous(44, NamedBarrier(0, 1), 1, count, True))
        if index == 0:
            reads = tuple(slot(each) for each in range(1, count))
            body += [Transfer(45, (), "bulk", reads=reads), Commit(46, "bulk")]
        loops.append(Loop([], body))
    return loops


def _turns(rng: random.Random) -> list[Loop]:
    """Two strands take turns with one place, by two named barriers or two mbarriers."""
    by_mbarrier = rng.random() < 0.5
    bodies: list[list[Action]] = []
    for number in range(2):
        body: list[Action] = []
        for lap in range(2):
            write = (
                Access(52 + number, writes=(slot(0),)) if rng.random() < 0.6 else Access(52, reads=(slot(0),))
            )
            if by_mbarrier:
                body += [Wait(50, full(number), lap ^ (number == 0)), write, Arrive(54, full(1 - number), 1)]
            else:
                body += [Rendezvous(50, NamedBarrier(0, 3 + number), 1, 2, True), write]
                body.append(Rendezvous(54, NamedBarrier(0, 4 - number), 1, 2, False))
        bodies.append(body)
    if by_mbarrier:
        first = _start({full(0): 1, full(1): 1}, 2)
    else:
        first = [[], [Rendezvous(49, NamedBarrier(0, 3), 1, 2, False)]]
    return [Loop(head, body) for head, body in zip(first, bodies, strict=True)]


def _remote(rng: random.Random) -> list[Loop]:
    """Two CTAs: one writes into the other, which says when it has read; both end together."""
    kind = rng.choice(["copy", "store", "access"])
    sender: list[Action] = []
    receiver: list[Action] = []
    for lap in range(2):
        sender.append(Wait(60, empty(0), lap ^ 1))
        if kind == "access":
            sender += [Access(61, writes=(slot(0, 1),)), Arrive(62, full(0, 1), 1)]
        else:
            proxy = Proxy.ASYNC if kind == "copy" else Proxy.GENERIC
            receiver.append(Arrive(70, full(0, 1), 1, BYTES))
            sender.append(Transfer(61, ((full(0, 1), BYTES),), writes=(slot(0, 1),), proxy=proxy))
        receiver += [Wait(71, full(0, 1), lap), Access(72, reads=(slot(0, 1),)), Arrive(73, empty(0), 1)]
    meet = Rendezvous(2, ClusterBarrier(), 1, 2, True)
    part = Rendezvous(74, ClusterBarrier(), 1, 2, True)
    if rng.random() < 0.7:
        sender.append(part)
        receiver.append(part)
    return [
        Loop([Init(1, empty(0), 1), meet], sender),
        Loop([Init(1, full(0, 1), 1), meet], receiver, 1),
    ]


def _arriving_copies(rng: random.Random) -> list[Loop]:
    """Copies by `cp.async` that arrive when they are over."""
    increments = rng.random() < 0.5
    producer: list[Action] = []
    consumer: list[Action] = []
    for lap in range(2):
        producer += [
            Wait(80, empty(0), lap ^ 1),
            Transfer(81, (), "cp.async", writes=(slot(0),), proxy=Proxy.GENERIC),
            AsyncArrive(82, full(0), 1, increments, "cp.async"),
        ]
        producer += [Arrive(83, full(0), 1)] if increments else []
        consumer += [Wait(84, full(0), lap), Access(85, reads=(slot(0),)), Arrive(86, empty(0), 1)]
    first = _start({full(0): 1, empty(0): 1}, 2)
    return [Loop(first[0], producer), Loop(first[1], consumer)]


def _lives(rng: random.Random) -> list[Loop]:
    """One strand initialises, uses and invalidates an mbarrier each round; another one meets it in between."""
    meet, part = (Rendezvous(90 + number, NamedBarrier(0, number), 1, 2, True) for number in (1, 2))
    first: list[Action] = [Init(92, full(0), 1), meet, Arrive(93, full(0), 1, BYTES)]
    first += [
        Transfer(94, ((full(0), BYTES),), writes=(slot(0),)),
        Wait(95, full(0), 0),
        part,
        Inval(96, full(0)),
    ]
    other: list[Action] = [meet, Wait(97, full(0), 0), Access(98, reads=(slot(0),)), part]
    return [Loop([], first), Loop([], other)]


def _by_state(rng: random.Random) -> list[Loop]:
    """Strands that arrive at one mbarrier and wait for the state that this returns, with a place between them."""
    count = rng.choice([2, 3])
    first = _start({full(0): count}, count)
    loops = []
    for index in range(count):
        body: list[Action] = []
        for token in range(rng.choice([1, 2])):
            body += [Access(100, writes=(slot(index),)), Arrive(101, full(0), 1, token=token)]
            body += [Wait(102, full(0), None, token), Access(103, reads=(slot((index + 1) % count),))]
            body += [Arrive(104, full(0), 1, token=9), Wait(105, full(0), None, 9)]
        loops.append(Loop(first[index], body))
    return loops


_PATTERNS = (_ring, _ring, _groups, _buffer, _turns, _remote, _remote, _arriving_copies, _lives, _by_state)


def random_loops(seed: int) -> list[Loop]:
    """Return the loops of a seed: a pattern of real kernels, with a few things changed."""
    rng = random.Random(seed)
    loops = rng.choice(_PATTERNS)(rng)
    for _ in range(rng.choice([0, 1, 1, 2])):
        index = rng.randrange(len(loops))
        loops[index] = replace(loops[index], body=_changed(rng, list(loops[index].body)))
    if rng.random() < 0.5:  # the same action again and again is one action
        return loops
    return [
        replace(
            each, first=_numbered(each.first, 1000 * index), body=_numbered(each.body, 1000 * index + 500)
        )
        for index, each in enumerate(loops)
    ]


def _changed(rng: random.Random, body: list[Action]) -> list[Action]:
    if not body:
        return body
    place = rng.randrange(len(body))
    kind = rng.choice(["drop", "swap", "repeat", "field", "field"])
    if kind == "drop":
        del body[place]
    elif kind == "swap" and place + 1 < len(body):
        body[place], body[place + 1] = body[place + 1], body[place]
    elif kind == "repeat":
        body.insert(rng.randrange(len(body) + 1), body[place])
    else:
        body[place] = changed(rng, body[place])
    return body


def _numbered(actions: Sequence[Action], first: int) -> list[Action]:
    return [replace(action, point=first + number) for number, action in enumerate(actions)]
