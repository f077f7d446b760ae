"""Edits of released kernels: a delay or a mend lies where it should, and a text that they are not for is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.hardware.released.edits import (
    KERNELS,
    MENDED,
    MENDED_CHEAPLY,
    Edit,
    cheaply_mended_source,
    edited,
    mended_source,
)
from ptxcheck.repair.assemble import assemble, find_ptxas

COUNTS = Path(__file__).parents[1] / "benchmarks/hardware/released/counts-h100.jsonl"
_KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k() .reqntid 64
{
    bar.sync 0;
    bar.arrive 1, 64;
    bar.sync 1, 64;
    bar.sync 0;
    ret;
}
"""


def test_an_instruction_is_dropped() -> None:
    assert edited(_KERNEL, (Edit("bar.arrive", (-1,), "drop"),)) == _KERNEL.replace(
        "    bar.arrive 1, 64;\n", ""
    )


def test_text_is_put_in_front_of_the_instructions_that_are_meant() -> None:
    lines = edited(_KERNEL, (Edit("bar.sync", (0, 2), "fence.acq_rel.cta;"),)).splitlines()
    places = [i for i, line in enumerate(lines) if line == "fence.acq_rel.cta;"]
    assert [lines[i + 1].strip() for i in places] == ["bar.sync 0;", "bar.sync 0;"]
    assert places == [5, 9]


def test_an_instruction_that_is_not_there_is_an_error() -> None:
    with pytest.raises(IndexError):
        edited(_KERNEL, (Edit("bar.sync", (3,), "drop"),))


@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
@pytest.mark.parametrize("text", ["delay", "delay of the second CTA"])
def test_delays_assemble(text: str) -> None:
    changed = edited(_KERNEL, (Edit("bar.sync", (0, 1), text),))
    assert ("%cluster_ctarank" in changed) == (text != "delay")
    assert assemble(changed, "sm_90a", find_ptxas() or "").error == ""


def test_what_is_as_it_was_has_no_delay() -> None:
    assert [edited(_KERNEL, variants["original"]) for variants in KERNELS.values()] == [_KERNEL] * len(
        KERNELS
    )


def test_a_source_is_mended() -> None:
    source = "{\n" + "\n".join(old for old, _ in MENDED) + "\n}\n"
    mended = mended_source(source)
    assert all(new in mended for _, new in MENDED)
    assert mended.endswith("tl::cluster_sync();\n}\n")
    with pytest.raises(ValueError, match="not the source"):
        mended_source(source.replace("init(128)", "init(64)"))


def test_a_source_is_mended_for_less() -> None:
    source = "{\n" + "\n".join(old for old, _ in MENDED_CHEAPLY) + "\n}\n"
    mended = cheaply_mended_source(source)
    assert all(new in mended for _, new in MENDED_CHEAPLY)
    assert "cluster_sync" not in mended


def test_counts_show_what_the_pages_say() -> None:
    """Something was wrong or hung in each kernel as it is, and nothing where it is mended."""
    rows = [json.loads(line) for line in COUNTS.read_text(encoding="utf-8").splitlines()]
    bad = [
        row for row in rows if row.get("wrong launches") or row.get("launches that differ") or row.get("hang")
    ]
    apart = "multicast, lanes of a warp wait for the cluster apart"
    assert {row["of kernel"] for row in bad} == {"prefill", "mla_fp8", "topk", "multicast", apart}
    assert [row for row in bad if "mended" in row["kernel"]] == []
    assert {row["of kernel"].split(",")[0] for row in rows if "mended" in row["kernel"]} == {
        "prefill",
        "mla_fp8",
        "topk",
        "multicast",
    }
