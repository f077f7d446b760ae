"""Rules on tensor maps that kernels make, and on maps that host and kernel have to agree about."""

from __future__ import annotations

from ..rule import Rule
from . import (
    box_exceeds_its_place,
    box_off_swizzle_pattern,
    driver_element_type,
    expected_bytes_differ_from_box,
    foreign_map_not_acquired,
    illegal_map_field,
    map_changed_under_load,
    map_copied_without_meeting,
    map_field_not_set,
    map_fields_illegal_together,
    map_in_shared_memory,
    map_mode_differs,
    map_never_copied_out,
    map_rank_differs,
    map_rank_not_zero_based,
    map_stride_in_other_unit,
    operand_swizzle_differs_from_map,
    other_map_acquired,
)

RULES: tuple[Rule, ...] = (
    illegal_map_field.RULE,
    map_rank_not_zero_based.RULE,
    map_fields_illegal_together.RULE,
    map_stride_in_other_unit.RULE,
    driver_element_type.RULE,
    map_field_not_set.RULE,
    map_in_shared_memory.RULE,
    map_changed_under_load.RULE,
    foreign_map_not_acquired.RULE,
    map_never_copied_out.RULE,
    map_rank_differs.RULE,
    map_mode_differs.RULE,
    box_off_swizzle_pattern.RULE,
    expected_bytes_differ_from_box.RULE,
    box_exceeds_its_place.RULE,
    operand_swizzle_differs_from_map.RULE,
    other_map_acquired.RULE,
    map_copied_without_meeting.RULE,
)

__all__ = ["RULES"]
