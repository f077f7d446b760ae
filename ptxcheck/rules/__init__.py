"""The rules. A rule is on when it is in `RULES`; `tests/rules/test_registry.py` finds files left out.

A rule file defines `RULE`, or `RULES` when it derives several from a table of data.
"""

from . import (
    aligned_barrier_at_several_sites,
    arrivals_fill_barrier,
    arrivals_without_sync,
    barrier_count_above_block_size,
    barrier_count_mismatch,
    barrier_count_not_multiple_of_warp,
    barrier_id_out_of_range,
    conflicting_launch_directives,
    divergent_aligned_barrier,
    divergent_aligned_instruction,
    duplicate_name,
    empty_member_mask,
    full_mask_in_divergent_code,
    illegal_modifiers,
    illegal_operands,
    newer_ptx_version_needed,
    other_target_needed,
    repeated_barrier_arrive,
    undeclared_name,
    unknown_instruction,
)
from .info import info_of
from .rule import Hit, Rule
from .selection import UnknownSelectorError, check_selectors, matches, select_rules

RULES: tuple[Rule, ...] = (
    barrier_id_out_of_range.RULE,
    barrier_count_not_multiple_of_warp.RULE,
    barrier_count_above_block_size.RULE,
    divergent_aligned_barrier.RULE,
    barrier_count_mismatch.RULE,
    aligned_barrier_at_several_sites.RULE,
    arrivals_without_sync.RULE,
    full_mask_in_divergent_code.RULE,
    empty_member_mask.RULE,
    divergent_aligned_instruction.RULE,
    repeated_barrier_arrive.RULE,
    arrivals_fill_barrier.RULE,
    unknown_instruction.RULE,
    illegal_modifiers.RULE,
    illegal_operands.RULE,
    newer_ptx_version_needed.RULE,
    other_target_needed.RULE,
    undeclared_name.RULE,
    duplicate_name.RULE,
    conflicting_launch_directives.RULE,
)
"""Every rule, by id."""

__all__ = [
    "RULES",
    "Hit",
    "Rule",
    "UnknownSelectorError",
    "check_selectors",
    "info_of",
    "matches",
    "select_rules",
]
