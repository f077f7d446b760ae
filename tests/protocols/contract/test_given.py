"""Boxes of tensor maps are named after the parameter that holds the map, by whichever address the kernel takes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxcheck import Config, Source, check
from ptxcheck.launches.hints import parse_assumption
from ptxcheck.protocols.proof.evidence import show_equations
from ptxcheck.rules.protocol_kernels import RING
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.verifying import verified

_TENSOR_COPY = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .align 64 .b8 one[128], .param .align 64 .b8 other[128]) .reqntid 32
{{
    .shared .align 8 .b64 full;
    .shared .align 128 .b8 tile[16384];
    .reg .pred first, ready;
    .reg .b32 thread, low;
    .reg .b64 map;
    mov.u32 thread, %tid.x;
    setp.eq.u32 first, thread, 0;
    @first mbarrier.init.shared.b64 [full], 1;
    {address}
    cvta.param.u64 map, map;
    @first mbarrier.arrive.expect_tx.shared.b64 _, [full], 16384;
    @first cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [tile], [map, {{thread, thread}}], [full];
    bar.warp.sync -1;
WAIT:
    mbarrier.try_wait.parity.shared.b64 ready, [full], 0;
    @!ready bra WAIT;
    ret;
}}
"""
_ADDRESSES_OF_THE_MAP = {
    "64 bits": "mov.b64 map, other;",
    "32 bits": "mov.b32 low, other; cvt.u64.u32 map, low;",
}


@pytest.mark.parametrize("address", _ADDRESSES_OF_THE_MAP.values(), ids=_ADDRESSES_OF_THE_MAP)
def test_the_parameter_is_named(address: str) -> None:
    said = verified(_TENSOR_COPY.format(address=address))
    assert tuple(show_equations(said)) == ("16384 == box_bytes(param+128)",)


@pytest.mark.parametrize(("size", "expected"), [(16384, VerdictKind.PROVED), (8192, VerdictKind.VIOLATED)])
@pytest.mark.parametrize("address", _ADDRESSES_OF_THE_MAP.values(), ids=_ADDRESSES_OF_THE_MAP)
def test_a_given_box_counts(address: str, size: int, expected: VerdictKind) -> None:
    config = Config(launch=(parse_assumption(f"box_bytes(param+128)={size}"),))
    (kernel,) = check(Source("k.ptx", _TENSOR_COPY.format(address=address)), config=config).kernels
    assert kernel.verification is not None
    found = {verdict.property: verdict.kind for verdict in kernel.verification.verdicts}
    assert found[Property.DEADLOCK_FREEDOM] is expected


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("", True),
        ("ksteps % 2 == 0", False),
        ("ksteps % 3 == 0", True),
        ("ksteps % 3 == 1", True),
        ("ksteps % 4 == 2", False),
    ],
)
def test_a_run_keeps_to_the_rest_that_is_given(said: str, found: bool) -> None:
    """Two groups share the steps of a tile, even and odd: an odd number of them leaves one group behind."""
    path = Path(__file__).parents[3] / "benchmarks/red_team/185_kgroups_exchange_unsynced.good.ptx"
    text = path.read_text(encoding="utf-8").replace("// ptxcheck: assume ksteps % 2 == 0\n", "")
    report = check(Source("k.ptx", f"// ptxcheck: assume {said}\n{text}" if said else text), config=Config())
    assert report.notes == ()
    assert bool(report.active) is found


def test_an_assumption_that_is_none_is_told() -> None:
    report = check(Source("k.ptx", f"// ptxcheck: assume ksteps is even\n{RING}"), config=Config())
    (note,) = report.notes
    assert "gives no value" in note.message
