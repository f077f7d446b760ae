"""A warp that waits for its `wgmma`: that it waits for its warpgroup is taken for granted, and the verdict says so."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind

from .corpus_runs import ROOT
from .verifying import kind, verified

_WAIT = "    wgmma.wait_group.sync.aligned 0;\n"
_MEET = "    bar.sync 0;\n"
_TAKEN = "a warp that waits for its wgmma waits for those of its whole warpgroup"


def _text(behind: str, threads: int) -> str:
    text = (ROOT / "wgmma" / "refilled_behind_a_barrier.ptx").read_text()
    assert _WAIT + _MEET in text
    return text.replace(_WAIT + _MEET, behind).replace(" tiles)\n", f" tiles) .reqntid {threads}\n")


@pytest.mark.parametrize(
    ("behind", "threads", "expected"),
    [
        (_WAIT + _MEET, 128, VerdictKind.PROVED),
        (_WAIT + _MEET, 256, VerdictKind.PROVED),
        (_MEET + _WAIT, 128, VerdictKind.ASSUMES),
        (_WAIT, 128, VerdictKind.ASSUMES),
        (_MEET + _WAIT, 256, VerdictKind.VIOLATED),
        (_MEET, 128, VerdictKind.VIOLATED),
    ],
)
def test_the_wait_of_one_warp_is_taken_for_its_warpgroup_and_for_no_other(
    behind: str, threads: int, expected: VerdictKind
) -> None:
    result = verified(_text(behind, threads))
    assert kind(result, Property.SLOT_SAFETY) is expected
    taken = {each.text for each in result.tolerated.get(Property.SLOT_SAFETY, {}).values()}
    if expected is not VerdictKind.VIOLATED:
        assert taken == ({_TAKEN} if expected is VerdictKind.ASSUMES else set())
