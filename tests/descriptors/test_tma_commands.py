"""`ptxcheck tma`: exit codes, formats and messages of check, solve and explain."""

from __future__ import annotations

import json
import random
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ptxcheck.cli import main
from ptxcheck.descriptors import Platform, TiledMap, is_encoded
from ptxcheck.descriptors.nearest import nearest

LEGAL = "type=bf16 shape=4096,4096 box=64,128 swizzle=128B"
ILLEGAL = "type=bf16 shape=4097,4096 box=128,300 swizzle=128B"


def run(command: str) -> Result:
    return CliRunner().invoke(main, ["tma", *command.split()])


def test_legal_map() -> None:
    result = run(f"check {LEGAL}")
    assert result.exit_code == 0
    assert "bytes for expect_tx  16384\n" in result.stdout


def test_illegal_map_names_fields_and_offers_an_encode() -> None:
    result = run(f"check {ILLEGAL}")
    assert result.exit_code == 1
    for part in (
        "globalStrides[0]",
        "8194",
        "boxDim[1]",
        "300",
        "[box-inner-span]",
        "8208 (was 8194)",
        "64, 150",
    ):
        assert part in result.stdout
    assert result.stdout.count("refused by the driver") == 3


def test_what_only_the_documents_forbid_is_said_so() -> None:
    result = run("check type=fp16 shape=64,64 strides=64 box=64,8")
    assert result.exit_code == 1
    assert "accepted by the driver, forbidden by the documents [stride-covers-extent]" in result.stdout


def test_json() -> None:
    found = json.loads(run(f"check {ILLEGAL} --format json").stdout)
    assert [row["id"] for row in found["violations"]] == ["stride-aligned", "box-range", "box-inner-span"]
    assert found["nearest"]["boxDim"] == [64, 150]
    assert json.loads(run(f"check {LEGAL} --format json").stdout)["violations"] == []
    solved = run("solve type=bf16 shape=4096,8192 tile=128,256 use=wgmma --format json")
    assert (solved.exit_code, json.loads(solved.stdout)["copies"]) == (0, 2)


def test_solve() -> None:
    solved = run("solve type=bf16 shape=4096,8192 tile=128,256 use=wgmma")
    assert solved.exit_code == 0
    assert "boxDim            64, 256\n" in solved.stdout
    clash = run("solve type=fp16 shape=4097,64 tile=64,64")
    assert clash.exit_code == 1
    assert "stride-aligned" in clash.stdout
    assert "request-no-padding" in clash.stdout


@pytest.mark.parametrize(
    ("form", "word"), [("cpp", "cuTensorMapEncodeTiled("), ("triton", "block_shape=[256, 64]")]
)
def test_ready_code(form: str, word: str) -> None:
    result = run(f"solve type=bf16 shape=4096,8192 tile=128,256 use=wgmma --format {form}")
    assert result.exit_code == 0
    assert word in result.stdout


def test_explain_writes_a_picture(tmp_path: Path) -> None:
    target = tmp_path / "box.svg"
    assert run(f"explain {LEGAL} -o {target}").exit_code == 0
    root = ElementTree.fromstring(target.read_text(encoding="utf-8"))
    assert root.tag.endswith("svg")
    assert "8 of 8 groups of four banks: no bank conflict" in "".join(root.itertext())
    plain = run("explain type=bf16 shape=64,64 box=64,64")
    assert "1 of 8 groups of four banks: a 8-way bank conflict" in plain.stdout


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("check missing.toml", "missing.toml cannot be read"),
        ("check kind=cubic type=fp16 shape=8 box=8", "is not one of tiled, im2col, im2col_wide"),
        ("check type=fp16 shape=8", "box is missing"),
        ("solve type=fp16 shape=8 tile=99999999999", "at most 16777216 elements"),
        ("solve type=fp16 shape=8,8,8,8,8,8,8,8,8 tile=8,8,8,8,8,8,8,8,8", "at most 8 dimensions"),
        ("explain type=fp16 shape=64,64 box=64,64 swizzle=6", "not modelled"),
        ("explain type=fp16 shape=64,64 box=64,0", "empty"),
        (
            "check kind=im2col type=fp16 shape=8,8,8 lower=0 upper=0 channels=8 pixels=8 --format cpp",
            "tiled maps",
        ),
    ],
)
def test_bad_input(command: str, message: str) -> None:
    result = run(command)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert result.stderr.startswith("ptxcheck: ")


def test_a_nearest_encode_is_legal_and_covers_the_box() -> None:
    rng = random.Random(3)
    found = 0
    for _ in range(200):
        row = TiledMap(
            data_type=rng.choice((0, 6, 7, 9)),
            global_dim=(rng.randrange(1, 5000), rng.randrange(1, 5000)),
            global_strides=(rng.randrange(1, 9000),),
            box_dim=(rng.choice((8, 64, 96, 128, 300)), rng.choice((1, 8, 64, 300))),
            swizzle=rng.randrange(4),
        )
        better = nearest(row, Platform())
        if better is not None:
            found += 1
            assert not is_encoded(row)
            assert is_encoded(better.tensor_map)
            assert better.request.tile == row.box_dim
    assert found > 100
