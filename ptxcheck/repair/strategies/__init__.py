"""Strategies: from a finding to patches that may repair it. They propose; the gate decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..patch import Patch
from ..subject import Subject
from .address import move_address
from .agreement import agree_on_numbers
from .alignment import raise_alignment
from .arrival import insert_arrival
from .arrival_count import solve_arrival_count
from .bound import test_bound
from .byte_count import agree_on_bytes, solve_byte_count
from .capacity import enlarge_variable
from .clone import clone_statement
from .cluster_release import tell_cluster
from .cluster_ring import complete_cluster_ring
from .computation import borrow_computation, copy_source
from .counted_arrival import leave_out_counted_arrival
from .descriptor import set_descriptor_field
from .directive import change_directive
from .duplicate import remove_duplicate
from .fences_everywhere import fence_everywhere
from .group_number import lower_group_number
from .guard import guard_statement
from .initialisation import insert_init
from .insertion import insert_statement
from .legal_value import use_legal_value
from .map_field import change_map_field
from .map_update import change_map_later
from .matrix_group import close_matrix_group
from .modifier import change_modifier, count_arrival_once
from .movement import move_statement
from .named_barrier import (
    agree_on_all,
    agree_on_barrier,
    insert_named_barrier,
    meet_at_new_barrier,
    take_free_number,
    wait_at_barrier,
)
from .needless_wait import leave_out_wait
from .number import change_number
from .offset import round_offset
from .parity import flip_parity
from .peer import reach_all, reach_peer
from .poll import poll_again
from .predicate import change_predicate
from .register import take_other_register
from .register_pool import balance_registers
from .release import insert_release
from .removal import leave_out_arrival, remove_statement
from .ring_state import keep_ring_state
from .start import change_start
from .start_address import encode_start_address
from .tensor_memory import repair_tensor_memory
from .uniform import make_uniform
from .update import leave_out_update
from .wait import insert_wait

Strategy = Callable[[Subject], Iterator[Patch]]

STRATEGIES: tuple[Strategy, ...] = (
    solve_byte_count,
    agree_on_bytes,
    solve_arrival_count,
    flip_parity,
    lower_group_number,
    change_modifier,
    count_arrival_once,
    close_matrix_group,
    fence_everywhere,
    complete_cluster_ring,
    insert_statement,
    remove_statement,
    raise_alignment,
    insert_arrival,
    insert_release,
    move_statement,
    remove_duplicate,
    leave_out_counted_arrival,
    agree_on_barrier,
    insert_named_barrier,
    wait_at_barrier,
    agree_on_all,
    take_free_number,
    meet_at_new_barrier,
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
    leave_out_wait,
    change_number,
    change_predicate,
    take_other_register,
    leave_out_update,
    borrow_computation,
    copy_source,
    enlarge_variable,
    round_offset,
    balance_registers,
    encode_start_address,
    reach_peer,
    reach_all,
    change_start,
    agree_on_numbers,
    test_bound,
    tell_cluster,
    keep_ring_state,
    leave_out_arrival,
    change_map_later,
)


BROAD = frozenset(
    {
        clone_statement, change_number, change_predicate, take_other_register, leave_out_update, borrow_computation,
        copy_source, change_start, agree_on_numbers, test_bound,
    }
)  # fmt: skip
"""Strategies that try what other places of the kernel have: so many patches, in a large kernel, that they come last."""
_LARGE = 4000
"""Instructions."""
WHOLE: tuple[Strategy, ...] = (fence_everywhere, complete_cluster_ring)
"""Strategies that put in at once all that is missing. What they propose in front of everything else is tried before
the other strategies are asked, which takes minutes in a large kernel."""


def propose(*subjects: Subject) -> Iterator[Patch]:
    """Yield every patch for a finding, or for several of one kernel, the smallest first; each text change once."""
    is_large = any(len(subject.view.body.instructions) > _LARGE for subject in subjects)
    stages: tuple[tuple[Strategy, ...], ...] = (STRATEGIES,)
    if is_large:
        stages = tuple(tuple(s for s in STRATEGIES if (s in BROAD) is broad) for broad in (False, True))
    seen: set[object] = set()
    for strategies in (WHOLE, *stages):
        found = [patch for subject in subjects for strategy in strategies for patch in strategy(subject)]
        if strategies is WHOLE:
            found = [patch for patch in found if patch.cost < 0]
        for patch in sorted(found, key=lambda p: (p.cost, p.strategy, p.edits)):
            if patch.edits not in seen:
                seen.add(patch.edits)
                yield patch
