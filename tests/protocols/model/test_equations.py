"""Equations of bytes that only an empty box could meet, in one run or in several: no host passes that."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.model.equations import never_zero
from ptxcheck.protocols.symex.values.kinds import Kind
from ptxcheck.protocols.symex.values.symbol import Atom, Form
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.verifying import kind, verified

BYTES_ON_TWO_PATHS = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .align 64 .b8 one[128], .param .align 64 .b8 other[128], .param .u32 size)
.reqntid 64
{{
    .shared .align 8 .b64 full;
    .shared .align 128 .b8 tiles[32768];
    .reg .pred first, others, alone, ready;
    .reg .b32 thread, asked, bytes;
    .reg .b64 map, more;
    mov.u32 thread, %tid.x;
    setp.eq.u32 first, thread, 0;
    @first mbarrier.init.shared.b64 [full], 1;
    bar.sync 0;
    ld.param.u32 asked, [size];
    setp.eq.u32 alone, asked, 5;
    mov.b64 map, one;
    mov.b64 more, other;
    cvta.param.u64 map, map;
    cvta.param.u64 more, more;
    setp.gt.u32 others, thread, 31;
    @others bra CONSUMER;
    @!first bra END;
    @alone bra FEWER;
    mbarrier.arrive.expect_tx.shared.b64 _, [full], 16384;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [tiles+16384], [more, {{thread, thread}}], [full];
    bra ONE;
FEWER:
    mbarrier.arrive.expect_tx.shared.b64 _, [full], {fewer};
ONE:
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [tiles], [map, {{thread, thread}}], [full];
    bra END;
CONSUMER:
WAIT:
    mbarrier.try_wait.parity.shared.b64 ready, [full], 0;
    @!ready bra WAIT;
END:
    ret;
}}
"""


@pytest.mark.parametrize(
    ("fewer", "expected"),
    [(8192, VerdictKind.ASSUMES), (16384, VerdictKind.UNKNOWN), (32768, VerdictKind.UNKNOWN)],
)
def test_runs_of_one_kernel_have_one_host(fewer: int, expected: VerdictKind) -> None:
    assert kind(verified(BYTES_ON_TWO_PATHS.format(fewer=fewer)), Property.TX_BALANCE) is expected


def _forms() -> tuple[Form, Form]:
    rows = Atom(("param", "rows", 0, 4))
    return Form(((rows, 1),), 0), Form(((Atom((Kind.AND, 31, rows)), 128),), -4096)


def test_a_masked_number_is_never_more_than_its_mask() -> None:
    rows, rest = _forms()
    assert never_zero(rest), "128 * (rows & 31) is 3968 at most"
    assert not never_zero(Form(rest.terms, -3968)), "31 rows"
    assert not never_zero(rows), "nothing bounds it"
