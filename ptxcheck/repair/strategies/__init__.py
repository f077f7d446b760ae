"""Strategies: from a finding to patches that may repair it. They propose; the gate decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..patch import Patch
from ..subject import Subject
from .address import move_address
from .alignment import raise_alignment
from .arrival import insert_arrival
from .arrival_count import solve_arrival_count
from .byte_count import agree_on_bytes, solve_byte_count
from .clone import clone_statement
from .descriptor import set_descriptor_field
from .directive import change_directive
from .duplicate import remove_duplicate
from .group_number import lower_group_number
from .guard import guard_statement
from .initialisation import insert_init
from .insertion import insert_statement
from .legal_value import use_legal_value
from .map_field import change_map_field
from .matrix_group import close_matrix_group
from .modifier import change_modifier
from .movement import move_statement
from .named_barrier import agree_on_barrier, insert_named_barrier
from .parity import flip_parity
from .poll import poll_again
from .removal import remove_statement
from .tensor_memory import repair_tensor_memory
from .uniform import make_uniform
from .wait import insert_wait

Strategy = Callable[[Subject], Iterator[Patch]]

STRATEGIES: tuple[Strategy, ...] = (
    solve_byte_count,
    agree_on_bytes,
    solve_arrival_count,
    flip_parity,
    lower_group_number,
    change_modifier,
    close_matrix_group,
    insert_statement,
    remove_statement,
    raise_alignment,
    insert_arrival,
    move_statement,
    remove_duplicate,
    agree_on_barrier,
    insert_named_barrier,
    move_address,
    insert_init,
    insert_wait,
    clone_statement,
    guard_statement,
    make_uniform,
    poll_again,
    change_directive,
    repair_tensor_memory,
    set_descriptor_field,
    change_map_field,
    use_legal_value,
)


def propose(subject: Subject) -> tuple[Patch, ...]:
    """Return every patch for a finding, the smallest first; each text change once."""
    found = [patch for strategy in STRATEGIES for patch in strategy(subject)]
    unique: dict[object, Patch] = {}
    for patch in sorted(found, key=lambda p: (p.cost, p.strategy, p.edits)):
        unique.setdefault(patch.edits, patch)
    return tuple(unique.values())
