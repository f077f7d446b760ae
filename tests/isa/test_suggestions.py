"""Misspelt opcodes are told the legal one that is near, and nothing where none is."""

from __future__ import annotations

import pytest

from ptxcheck.isa.suggestions import nearest_opcode
from ptxcheck.protocols.typestate.legality import modifiers_fit


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("mbarier.init.shared.b64", "mbarrier.init.shared.b64"),
        ("mbarrier.try_wait.party.shared::cta.b64", "mbarrier.try_wait.parity.shared::cta.b64"),
        ("mbarrier.init.shared", "mbarrier.init.shared.b64"),
        ("cp.async.blk.commit_group", "cp.async.bulk.commit_group"),
        ("wgmma.fence.sync", "wgmma.fence.sync.aligned"),
        ("ld.gloabl.u32", "ld.global.u32"),
        ("bar.snc", "bar.sync"),
        ("xyz", None),
        ("q", None),
        ("add", None),
        ("", None),
    ],
)
def test_nearest(wrong: str, right: str | None) -> None:
    assert nearest_opcode(wrong) == right
    assert right is None or modifiers_fit(right)


def test_what_is_legal_is_not_suggested_for_itself() -> None:
    assert nearest_opcode("add.s32") != "add.s32"
