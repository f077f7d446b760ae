"""Keys of states, and joins of states with equal keys.

Property: states with one key do the same next, and a state that was weakened stands for both that were joined.

Argument: see `state`.

Not covered: states that differ by a turn of a ring alone: see `ring_turns`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from .pipelines import merge_old
from .registers import forget
from .rows import Bits
from .state import State


def control(state: State) -> Hashable:
    """Return what decides what may happen next."""
    for pipeline in state.groups:
        merge_old(state, pipeline)
    for cta in state.changes:
        forget(state, cta)
    words = tuple((barrier, word.control()) for barrier, word in sorted(state.words.items()))
    meets = tuple((meeting, meet.control()) for meeting, meet in sorted(state.meets.items()))
    registers = tuple((cta, changes.control()) for cta, changes in sorted(state.changes.items()))
    tensor = tuple(sorted(state.allocated.items())), tuple(sorted(state.freed)), tuple(sorted(state.heard))
    polled = tuple(sorted((key, tuple(sorted(polls))) for key, polls in state.polled.items()))
    return (
        words,
        meets,
        _groups(state),
        state.inside,
        state.ended,
        state.fences_inits,
        registers,
        tensor,
        polled,
    )


def _groups(state: State) -> Hashable:
    """Return how many groups are open, those of a warpgroup counted from the warp that has closed least."""
    found = []
    for pipeline, groups in sorted(state.groups.items()):
        ahead = 0
        team = state.setup.pipelines[pipeline].team
        if team:
            ahead = groups.closed - min(state.groups[m].closed if m in state.groups else 0 for m in team)
        found.append((pipeline, groups.kept, ahead))
    return tuple(found)


def tables(state: State) -> tuple[dict[Any, Bits], ...]:
    """Return sets of landmarks of which more is asked where there are more of them."""
    return state.far, state.copies, state.asked, state.late_fences, state.multiplied_unfenced


def needed(state: State) -> Bits:
    """Return the landmarks that may still be asked for."""
    setup = state.setup
    found = setup.finished | setup.register_changes | setup.issued_in_all
    for strand, end in enumerate(setup.end_of):
        found |= end if state.ended >> strand & 1 else 0
    for written, read in state.cells.values():
        found |= written | read
    for barrier, word in state.words.items():
        found |= word.needed()
        found |= setup.completion[barrier][0] | setup.completion[barrier][1]
    for meeting, meet in state.meets.items():
        found |= meet.now | meet.last | setup.generation[meeting]
    for uses in setup.last_use.values():
        found |= uses
    for table in (state.far, state.copies, state.asked, state.late_fences):
        for reached in table.values():
            found |= reached
    return found


def normalise(state: State) -> None:
    """Drop landmarks that nobody asks for any more."""
    _drop_finished_copies(state)
    active = state.active & needed(state)
    state.active = active
    for key, stores in list(state.multiplied_unfenced.items()):
        if stores & active:
            state.multiplied_unfenced[key] = stores & active
        else:
            del state.multiplied_unfenced[key]
    mask = state.setup.rows.in_all(active)
    clocks = state.clocks
    for slot, known in clocks.items():
        known &= mask
        if known or isinstance(slot, int):
            clocks[slot] = known
        else:
            del clocks[slot]


def _drop_finished_copies(state: State) -> None:
    """Forget copies of a CTA that some strand of it knows to be over: until they are made again, somebody will."""
    for cta, copies in state.copies.items():
        state.copies[cta] = copies & ~state.known_in(cta) if copies else 0


def knowledge(state: State) -> Mapping[Hashable, Hashable]:
    """Return who knows what, and of what is asked."""
    normalise(state)
    found: dict[Hashable, Hashable] = {
        ("active",): state.active,
        ("cells",): tuple(sorted(state.cells.items())),
    }
    for barrier, word in state.words.items():
        found["word", barrier] = word.lattice()
    for meeting, meet in state.meets.items():
        found["meet", meeting] = (meet.now, meet.last)
    for number, table in enumerate(tables(state)):
        found["table", number] = tuple(sorted(table.items()))
    for slot, known in state.clocks.items():
        found["clock", slot] = known
    return found


def covered_by(state: State, old: State) -> bool:
    """Tell whether `old` asks for all that `state` asks for, and knows no more."""
    normalise(state)
    normalise(old)
    if state.active & ~old.active:
        return False
    for cell, (written, read) in state.cells.items():
        was_written, was_read = old.cells.get(cell, (0, 0))
        if written & ~was_written or read & ~was_read:
            return False
    for table, its in zip(tables(state), tables(old), strict=True):
        if any(reached & ~its.get(key, 0) for key, reached in table.items()):
            return False
    if not all(word.covered_by(old.words[barrier]) for barrier, word in state.words.items()):
        return False
    for meeting, meet in state.meets.items():
        was = old.meets[meeting]
        if meet.now & ~was.now or meet.last & ~was.last:
            return False
    mask = state.setup.rows.in_all(state.active)
    clocks = state.clocks
    return not any(known & mask & ~clocks.get(slot, 0) for slot, known in old.clocks.items())


def weaken(state: State, old: State) -> None:
    """Let a state stand for another one with the same control as well."""
    normalise(state)
    normalise(old)
    rows = state.setup.rows
    mine, its = rows.in_all(old.active & ~state.active), rows.in_all(state.active & ~old.active)
    clocks = state.clocks
    for slot in dict.fromkeys((*clocks, *old.clocks)):
        clocks[slot] = (clocks.get(slot, 0) | mine) & (old.clocks.get(slot, 0) | its)
    state.active |= old.active
    for cell, (written, read) in old.cells.items():
        is_written, is_read = state.cells.get(cell, (0, 0))
        state.cells[cell] = written | is_written, read | is_read
    for table, other in zip(tables(state), tables(old), strict=True):
        for key, reached in other.items():
            table[key] = table.get(key, 0) | reached
    for barrier, word in state.words.items():
        word.weaken(old.words[barrier])
    for meeting, meet in state.meets.items():
        was = old.meets[meeting]
        meet.now |= was.now
        meet.last |= was.last
