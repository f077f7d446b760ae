"""Which landmarks and cells of memory correspond, where mbarriers and accesses do.

Property: of two landmarks that correspond, the order state asks the same; two cells correspond where all accesses of
one correspond to all of the other, of those that strands still perform.

Argument: the name of a landmark says whose it is (`steps`). Sets of landmarks that checks ask of are kept.

Not covered: accesses that no strand performs again and whose cells a turn moves: such a landmark has no counterpart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from .operations import (
    ArriveStep,
    ExpectStep,
    InitStep,
    InvalStep,
    Kind,
    LaterStep,
    MeetStep,
    RegistersStep,
    Step,
    TensorKind,
    TransferStep,
    WaitStep,
)  # fmt: skip
from .rows import Bits
from .setup import Setup
from .step_images import Named, Touch, image_of
from .turns import Landmarks

Performed: TypeAlias = dict[int, tuple[Named, Named]]
"""By identity of a step of some strand: the step, and the one that corresponds."""
_OF_BARRIER = frozenset({"phase", "use"})
_OF_STRAND_AND_BARRIER = frozenset({"count", "bytes", "wait", "look", "expect", "raise", "finished"})
_OF_NOTHING_MOVED = frozenset({"generation", "end", "meet"})


def cells_between(setup: Setup, performed: Performed) -> dict[int, int] | None:
    """Return which cell of memory is which; None where accesses that correspond touch cells that do not."""
    touches: dict[Bits, Bits] = {}
    for one, other in performed.values():
        touches.update((mine.bit, its.bit) for mine, its in zip(one.touches, other.touches, strict=True))
    accesses: dict[Bits, Touch] = {**setup.kind_of, **setup.tensor_kind_of}
    covers: dict[int, set[Bits]] = {}
    for bit in touches:
        for cell in accesses[bit].cells:
            covers.setdefault(cell, set()).add(bit)
    by_cover: dict[frozenset[Bits], list[int]] = {}
    for cell, bits in sorted(covers.items()):
        by_cover.setdefault(frozenset(bits), []).append(cell)
    found: dict[int, int] = {}
    for cover, cells in by_cover.items():
        there = by_cover.get(frozenset(touches[bit] for bit in cover))
        if there is None or len(there) != len(cells) or (there != cells and len(cells) > 1):
            return None
        found.update(zip(cells, there, strict=True))
    if sorted(found) != sorted(found.values()):
        return None
    for access in accesses.values():
        for cell in access.cells:
            found.setdefault(cell, cell)  # nobody touches it any more
    return found


def landmarks_between(
    setup: Setup,
    barriers: Sequence[int],
    flips: Sequence[int],
    performed: Performed,
    cells: Mapping[int, int],
    named: Callable[[Step], Named],
) -> Landmarks | None:
    """Return which landmark is which; None where checks would ask something else of one than of the other."""
    if setup.on_two_sides is not None:
        return None  # what that tells of pairs of actions is not compared
    pairs = list(_by_name(setup, barriers, flips))
    for one, other in performed.values():
        pairs += [(_number(a), _number(b)) for a, b in _of_actions(one, other)]
    for strand, actions in enumerate(setup.unique):
        for operation in (setup.step(strand, action) for action in actions):
            mine = named(operation)
            if id(operation) not in performed and _is_kept(mine, barriers, flips, cells):
                pairs += [(_number(a), _number(b)) for a, b in _of_actions(mine, mine)]
    targets: dict[int, int] = {}
    if any(targets.setdefault(number, target) != target for number, target in pairs):
        return None
    if sorted(targets) != sorted(targets.values()):
        return None
    found = Landmarks(targets, setup.rows)
    return found if _keeps_sets(setup, found, cells) and _keeps_steps(performed, found, barriers) else None


def _number(bit: Bits) -> int:
    return bit.bit_length() - 1


def _by_name(setup: Setup, barriers: Sequence[int], flips: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield landmarks that are of no action, and those that correspond."""
    numbers = {name: number for number, name in enumerate(setup.names)}
    for number, name in enumerate(setup.names):
        what, first, *rest = name
        if what in _OF_BARRIER:
            assert isinstance(first, int)
            last = rest[0] ^ flips[first] if what == "phase" else rest[0]  # type: ignore[operator]
            other: tuple[object, ...] = what, barriers[first], last
        elif what in _OF_STRAND_AND_BARRIER:
            barrier = rest[0]
            assert isinstance(barrier, int)
            parity = [each ^ flips[barrier] for each in rest[1:]]  # type: ignore[operator]
            other = what, first, barriers[barrier], *parity
        elif what in _OF_NOTHING_MOVED:
            other = name
        else:
            continue
        if other in numbers:
            yield number, numbers[other]


def _of_actions(one: Named, other: Named) -> Iterator[tuple[Bits, Bits]]:
    """Yield the landmarks of a step that are of its action alone, with those of another one."""
    for mine, its in zip(one.touches, other.touches, strict=True):
        yield mine.bit, its.bit
        if isinstance(mine, TensorKind) and isinstance(its, TensorKind) and mine.issued:
            yield mine.issued, its.issued
    step, there = one.step, other.step
    if isinstance(step, TransferStep) and isinstance(there, TransferStep) and step.asks:
        yield step.asks, there.asks
    if isinstance(step, RegistersStep) and step is there:
        yield step.event, step.event


def _is_kept(one: Named, barriers: Sequence[int], flips: Sequence[int], cells: Mapping[int, int]) -> bool:
    """Tell whether a turn moves nothing that a step names, which strands have performed before."""
    if one.text is None:
        return isinstance(one.step, RegistersStep)
    touched = [cell for touch in one.touches for cell in touch.cells]
    return all(barriers[each] == each and not flips[each] for each in (*one.barriers, *one.objects)) and all(
        cells.get(each, each) == each for each in touched
    )


def _keeps_steps(performed: Performed, landmarks: Landmarks, barriers: Sequence[int]) -> bool:
    """Tell whether steps that correspond name mbarriers, and ask of landmarks, that do."""
    for one, other in performed.values():
        # Mbarriers are made, and end, at points of their own.
        image = image_of(one, other, at_one_place=not isinstance(one.step, InitStep | InvalStep))
        if image is None or not all(barriers[mine] == its for mine, its in image.barriers):
            return False
        mine, its = image.objects
        if sorted(barriers[each] for each in mine) != sorted(its):
            return False
        step, there = one.step, other.step
        if any(event & ~landmarks.domain for event in _events(step)):
            return False
        if isinstance(step, TransferStep) and isinstance(there, TransferStep):
            sets = (
                (step.by_barrier, there.by_barrier),
                (step.written_by_pipeline, there.written_by_pipeline),
                (step.read_by_pipeline, there.read_by_pipeline),
            )
            if any(landmarks.of(own) != those for own, those in sets):
                return False
    return True


def _events(step: Step) -> tuple[Bits, ...]:
    """Return the landmarks of a step that are of a barrier."""
    match step:
        case ArriveStep():
            return step.what.events
        case ExpectStep():
            return (*step.what.events, step.announced)
        case LaterStep():
            return (*step.what.events, step.announced, step.finished)
        case TransferStep():
            return tuple(event for each in step.completes for event in each.events)
        case WaitStep() | MeetStep():
            return (step.event,)
        case _:
            return ()


def _keeps_sets(setup: Setup, landmarks: Landmarks, cells: Mapping[int, int]) -> bool:
    """Tell whether the sets of landmarks that checks ask of stay what they are."""
    sets = [
        setup.generic, setup.combining, setup.team_reads, setup.were_objects, setup.to_be_visible_at_exit,
        setup.asynchronous, setup.tensor_work, setup.issued_in_all, setup.finished, setup.register_changes,
        *setup.copied_by.values(), *setup.stored_by.values(), *setup.synchronous_of, *setup.issued_in.values(),
        *setup.synchronous_in.values(), *setup.reads_of,
    ]  # fmt: skip
    if not all(map(landmarks.keeps, sets)):
        return False
    accesses: dict[Bits, Touch] = {**setup.kind_of, **setup.tensor_kind_of}
    for bit, access in accesses.items():
        target = landmarks.targets.get(_number(bit))
        if target is None:
            continue
        there = accesses[1 << target]
        if {cells[cell] for cell in access.cells} != set(there.cells):
            return False
        if isinstance(access, Kind) and isinstance(there, Kind):
            for cell in access.cells:
                several = (cell, access.point) in setup.stored_by_several
                if several != ((cells[cell], there.point) in setup.stored_by_several):
                    return False
    return all(
        setup.looks.get(1 << number) == setup.looks.get(1 << target)
        for number, target in landmarks.targets.items()
    )


__all__ = ["Performed", "cells_between", "landmarks_between"]
