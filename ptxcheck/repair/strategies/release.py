"""Release what a ring hands back and nobody does: arrive behind the last use, by as many threads as the count asks for.

Property: who waits for one mbarrier in a loop (the data has come) and never arrives at another one, for which a thread
waits for ever (the slot is free), arrives there once a round.
Argument: mbarriers of one variable are as far from those of the other in each stage, so one distance leads from each
mbarrier that a wait names to the one of the same stage; an arrival in front of the way back of the loop comes behind
every use of the round. The gate decides, here as elsewhere.
Not covered: mbarriers whose distance differs from stage to stage; one arrival for several warps, which needs a barrier
between them; arrivals at other CTAs (`cluster_release`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...cfg.loops import Loop
from ...ir import Address, Register, Symbol
from ...parser.show import show_operand
from ...protocols.model.actions import Arrive, AsyncArrive, Barrier, Init, Strand, Transfer, Wait
from ...protocols.symex.slice.layout import layout_of
from ..patch import Patch, Release, Writer, combined
from ..sites import step_at, steps_of
from ..subject import Subject

_RULES = frozenset({"MB020", "MB021", "MB022", "MB024", "TX001", "TX003"})
_DISTANCES = 3
_PLACES = 4
_WARP = 32


def insert_release(subject: Subject) -> Iterator[Patch]:
    """Yield arrivals at the stuck mbarrier by threads that wait for another one, the likeliest place first."""
    barrier, held = subject.barrier, subject.held
    if subject.finding.rule not in _RULES or subject.violation is None or barrier is None or held is None:
        return
    users = [each for each in subject.violation.run.protocol.strands if _uses(each, barrier)]
    lead = _lead(users, held.pending)
    if lead is None:
        return
    for rank, (distance, points) in enumerate(_distances(subject, users, barrier)[:_DISTANCES]):
        summary = f"arrive at the barrier {distance:+} bytes from the one waited for, once a round" + (
            ", by one lane of each warp" if lead else ""
        )
        for far, places in enumerate(_places(subject, points)):
            edits = [
                Writer(subject.view).before(
                    place, *_arrival(subject, point, address, barrier, distance, lead=lead)
                )
                for point, place in places.items()
                if (address := _address(subject, point, place)) is not None
            ]
            if len(edits) == len(places):
                patch = combined("release", summary, 2 + rank + far, edits)
                freed = Release(tuple(points), _waits_for(subject, barrier), by_one_lane=lead)
                yield replace(patch, release=freed)


def _uses(strand: Strand, barrier: Barrier) -> bool:
    """Tell whether threads wait for another mbarrier of the CTA, and never for this one nor arrive at it."""
    waits = {a.barrier for a in strand.actions if isinstance(a, Wait)}
    arrives = {a.barrier for a in strand.actions if isinstance(a, Arrive | AsyncArrive)}
    arrives |= {to for a in strand.actions if isinstance(a, Transfer) for to, _ in a.completes}
    return bool(waits) and barrier not in waits | arrives and strand.cta == barrier.cta


def _lead(users: Sequence[Strand], missing: int) -> bool | None:
    """Return False where all the users are as many as the arrivals that are missing, True where their warps are."""
    if missing == sum(each.threads for each in users):
        return False
    warps = {each.warp: 0 for each in users}
    for each in users:
        warps[each.warp] |= each.lanes
    whole = all(lanes.bit_count() == _WARP for lanes in warps.values())
    return True if whole and missing == len(warps) else None


def _distances(
    subject: Subject, users: Sequence[Strand], barrier: Barrier
) -> list[tuple[int, tuple[int, ...]]]:
    """Return distances from mbarriers that users wait for, with the waits; first what most waits have a partner at."""
    violation = subject.violation
    strands = () if violation is None else violation.run.protocol.strands
    known = {a.barrier for s in strands for a in s.actions if isinstance(a, Init)}
    awaited: dict[int, set[Barrier]] = {}
    for strand in users:
        for action in strand.actions:
            if isinstance(action, Wait) and action.barrier.cta == barrier.cta and action.barrier in known:
                awaited.setdefault(action.point, set()).add(action.barrier)
    found: dict[int, tuple[int, ...]] = {}
    for own in sorted(awaited):
        for each in sorted(awaited[own]):
            distance = barrier.offset - each.offset
            found[distance] = tuple(
                point
                for point, names in sorted(awaited.items())
                if all(Barrier(n.cta, n.offset + distance) in known for n in names)
                and not any(Barrier(n.cta, n.offset + distance) in awaited[point] for n in names)
            )
    chosen = [(distance, points) for distance, points in found.items() if points]
    return sorted(chosen, key=lambda each: (-len(each[1]), abs(each[0])))


def _waits_for(subject: Subject, barrier: Barrier) -> tuple[int, ...]:
    violation = subject.violation
    strands = () if violation is None else violation.run.protocol.strands
    return tuple(
        sorted({a.point for s in strands for a in s.actions if isinstance(a, Wait) and a.barrier == barrier})
    )


def _places(subject: Subject, points: Sequence[int]) -> Iterator[Mapping[int, int]]:
    """Yield a place for the arrival that belongs to each wait: the end of the round, then ends of earlier steps."""
    choices = {point: _choices(subject, point, set(points)) for point in points}
    for number in range(min(_PLACES, max(map(len, choices.values()), default=0))):
        if all(choices.values()):
            yield {point: own[min(number, len(own) - 1)] for point, own in choices.items()}


def _choices(subject: Subject, point: int, waits: set[int]) -> list[int]:
    """Return places behind a wait that it dominates: in front of the next such wait or the way back, then before."""
    view = subject.view
    loop, own = _round(subject, point), step_at(view, point)
    later = [
        step
        for step in steps_of(view)
        if step.first > own.last
        and view.cfg.dominates(point, step.first)
        and (loop is None or view.cfg.graph.block_of[step.first] in loop.blocks)
    ]
    found: list[int] = []
    following = next((step for step in later if _holds(step.first, step.last, waits)), None)
    if following is not None:
        found.append(following.first)
        later = [step for step in later if step.first < following.first]
    elif loop is not None:
        found += [view.cfg.blocks[each].last for each in loop.latches[:1] if len(loop.latches) == 1]
    else:
        blocks = [
            block for block in view.cfg.blocks if block.points and view.cfg.dominates(point, block.points[0])
        ]
        found += [block.last for block in blocks if block.start > own.last][-1:]
    found = [place for place in found if view.cfg.dominates(point, place)]
    return list(dict.fromkeys((*found, *(step.first for step in reversed(later)))))


def _holds(first: int, last: int, points: set[int]) -> bool:
    """Tell whether a step has one of some points in it."""
    return any(first <= point <= last for point in points)


def _round(subject: Subject, point: int) -> Loop | None:
    """Return the innermost loop around a wait that is not the one that polls."""
    cfg, step = subject.view.cfg, step_at(subject.view, point)
    around = cfg.loops_around(cfg.graph.block_of[point])
    for loop in sorted(around, key=lambda each: -each.depth):
        points = [p for block in loop.blocks for p in cfg.blocks[block].points]
        if min(points) < step.first or max(points) > step.last:
            return loop
    return None


def _address(subject: Subject, point: int, place: int) -> Address | None:
    """Return the address that a wait names, where it is the same at another place."""
    address = subject.view.body.instructions[point].get("addr")
    if not isinstance(address, Address):
        return None
    base = address.base
    if isinstance(base, Register) and not subject.view.facts.same_definition(point, base, place, base):
        return None
    return address


def _arrival(
    subject: Subject, point: int, address: Address, barrier: Barrier, distance: int, *, lead: bool
) -> list[str]:
    """Return an arrival at what is as far from an address as one mbarrier from another.

    Where they are of two variables it is as far behind the start of the second one as the address is behind that of
    the first: how far variables are from each other is known to nobody before the kernel is linked.
    """
    computed: list[str] = []
    start, own = (_variable(subject, offset) for offset in (barrier.offset - distance, barrier.offset))
    if own[0] == start[0]:
        address = replace(address, offset=address.offset + distance)
    elif isinstance(address.base, Symbol):
        address = Address(Symbol(own[0], own[2]), address.offset + distance + start[1] - own[1])
    else:
        at, other = f"%ptxcheck_at{point}", f"%ptxcheck_start{point}"
        computed = [
            f".reg .b32 {at}, {other};",
            f"mov.u32 {other}, {start[0]};",
            f"sub.u32 {at}, {show_operand(replace(address, offset=0))[1:-1]}, {other};",
            f"mov.u32 {other}, {own[0]};",
            f"add.u32 {at}, {at}, {other};",
        ]
        address = Address(Register(at), address.offset + distance + start[1] - own[1])
    text = f"mbarrier.arrive.shared::cta.b64 _, {show_operand(address)};"
    if lead:
        lane, is_first = f"%ptxcheck_lane{point}", f"%ptxcheck_first{point}"
        computed += [
            f".reg .pred {is_first};",
            f".reg .b32 {lane};",
            "bar.warp.sync -1;",
            f"mov.u32 {lane}, %laneid;",
            f"setp.eq.u32 {is_first}, {lane}, 0;",
        ]
        text = f"@{is_first} {text}"
    return ["{", *computed, text, "}"] if computed else [text]


def _variable(subject: Subject, offset: int) -> tuple[str, int, int]:
    """Return the variable of shared memory at an offset: name, start, scope; none for dynamic memory without one."""
    starts = layout_of(subject.view.function, subject.view.module).shared
    return max(
        ((name, start, scope) for (name, scope), start in starts.items() if start <= offset),
        key=lambda each: each[1],
        default=("", 0, 0),
    )
