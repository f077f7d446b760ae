"""Searches for paths stay small whatever the code looks like."""

from __future__ import annotations

from pathlib import Path

from ptxcheck import Source, check
from ptxcheck.config import Config

_KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 target) .reqntid 32 {{
    .reg .pred %p<3>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    .shared .align 128 .b8 tile[256];
    ld.param.u64 %rd1, [target];
    mov.u32 %r1, tile;
    cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16;
    elect.sync _|%p0, -1;
{guarded}
    st.shared.u32 [%r1], %r1;
    cp.async.bulk.wait_group 0;
    ret;
}}
"""


def test_a_run_of_statements_with_guards_is_no_exponential() -> None:
    """Each statement is unknown, so it may run or not and may change its own guard; there are 2^80 ways through."""
    guarded = "    @!%p0 nonsense.sync _|%p0, -1;\n" * 80
    report = check(Source("k.ptx", _KERNEL.format(guarded=guarded)), config=Config(verify=False))
    assert sum(finding.rule == "PT001" for finding in report.findings) == 80


def test_many_jumps_to_one_place_are_no_exponential() -> None:
    """The place is unknown, so each of 60 jumps may lead anywhere; guards are merged wherever they meet."""
    path = Path(__file__).parents[2] / "corpus/protocols/ring/one_stage.parity_never_flips.ptx"
    jump = "@!ready bra WAIT_EMPTY;"
    text = path.read_text()
    assert jump in text
    report = check(
        Source("k.ptx", text.replace(jump, "@!ready bra nowhere;\n" * 60 + jump)), config=Config(verify=False)
    )
    assert any(finding.rule == "PT006" for finding in report.findings)
