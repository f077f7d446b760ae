"""Bulk stores under way when their CTA ends: a violation where a kernel waits for none, else taken for granted."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind

from .corpus_runs import ROOT
from .verifying import kind, verified

_STORE = (
    "    cp.async.bulk.global.shared::cta.bulk_group [to], [buffer], 128;\n    cp.async.bulk.commit_group;\n"
)
_WAIT = "    cp.async.bulk.wait_group 0;\n"
_TAKEN = "copies and commits under way when a CTA ends find its shared memory as it was"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (_STORE + _WAIT, VerdictKind.PROVED),
        (_STORE + _WAIT + _STORE + _WAIT, VerdictKind.PROVED),
        (_STORE + _WAIT + _STORE, VerdictKind.ASSUMES),
        (_STORE, VerdictKind.VIOLATED),
        (_STORE + _STORE, VerdictKind.VIOLATED),
    ],
)
def test_the_last_stores_may_outlive_a_cta_that_waits_for_others(code: str, expected: VerdictKind) -> None:
    text = (ROOT / "groups" / "store_of_each_warp.ptx").read_text()
    assert _STORE + _WAIT in text
    text = text.replace(_STORE + _WAIT, code).replace(" target)\n", " target) .reqntid 128\n")
    result = verified(text)
    assert kind(result, Property.EXIT_SAFETY) is expected
    taken = {each.text for each in result.tolerated.get(Property.EXIT_SAFETY, {}).values()}
    assert (_TAKEN in taken) == (expected is VerdictKind.ASSUMES)
