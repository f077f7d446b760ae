"""Operands that one warp stores and another multiplies: taken to be seen inside a warpgroup, and nowhere else."""

from __future__ import annotations

import pytest

from ptxcheck.rules import RULES
from ptxcheck.verdict import Property, VerdictKind

from .verifying import kind, verified

_GOOD = next(rule.good for rule in RULES if rule.id == "WG024")
_FENCE = "    fence.proxy.async.shared::cta;\n"
_MEET = "    bar.sync 0;\nWAIT_FULL"
_TWO = ((".reqntid 128", ".reqntid 256"), ("other[4096]", "other[8192]"))
_BEHIND = ((_FENCE, ""), (_MEET, f"    bar.sync 0;\n{_FENCE}WAIT_FULL"))
"""The proxy fence lies behind the barrier: that of a writer then comes in front of its own wgmma alone."""
_UNFENCED = ((_FENCE, ""), (_MEET, f"    bar.sync 0;\n    @!skip bra BARE;\n{_FENCE}BARE:\nWAIT_FULL"))
"""One thread alone fences."""
_IN_TIME = "a proxy fence behind the barrier is in time for what other warps multiply, too"
_TAKEN = "wgmma sees what all warps of its warpgroup stored before they came to it"


def _changed(*changes: tuple[str, str]) -> str:
    text = _GOOD
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ((), VerdictKind.PROVED),
        (((_MEET, "WAIT_FULL"),), VerdictKind.ASSUMES),
        (((_MEET, "WAIT_FULL"), (_FENCE, "")), VerdictKind.VIOLATED),
        (((_MEET, "WAIT_FULL"), *_TWO), VerdictKind.VIOLATED),
        (_TWO, VerdictKind.PROVED),
        (_BEHIND, VerdictKind.ASSUMES),
        ((*_BEHIND, *_TWO), VerdictKind.ASSUMES),
        (_UNFENCED, VerdictKind.VIOLATED),
    ],
)
def test_what_warps_of_one_warpgroup_store_is_taken_to_be_seen(
    changes: tuple[tuple[str, str], ...], expected: VerdictKind
) -> None:
    """With 256 threads, both warpgroups multiply what the first one stores."""
    result = verified(_changed(*changes))
    assert kind(result, Property.SLOT_SAFETY) is expected
    taken = {each.text for each in result.tolerated.get(Property.SLOT_SAFETY, {}).values()}
    if expected is not VerdictKind.VIOLATED:
        named = _IN_TIME if changes[:2] == _BEHIND else _TAKEN
        assert taken == ({named} if expected is VerdictKind.ASSUMES else set())
