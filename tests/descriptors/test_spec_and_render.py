"""Descriptions are read from TOML, JSON and words; answers are rendered as text, JSON, code and a picture."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from ptxcheck.descriptors import (
    DataType,
    Impossible,
    Solution,
    Swizzle,
    TiledMap,
    Use,
    render,
    solve,
    svg,
    violations,
)
from ptxcheck.descriptors.spec import (
    SpecError,
    platform_of,
    read,
    request_of,
    tensor_map_of,
)

WORDS = "type=bf16 shape=4096,4096 box=64,128 swizzle=128B"
TOML = 'type = "bfloat16"\nshape = [4096, 4096]\nbox = [64, 128]\nswizzle = "128B"\n'


def legal() -> TiledMap:
    found = tensor_map_of(read(WORDS))
    assert isinstance(found, TiledMap)
    return found


def solution() -> Solution:
    answer = solve(request_of(read("type=bf16 shape=4096,4096 tile=64,512 use=wgmma")))
    assert isinstance(answer, Solution)
    return answer


def test_three_notations_agree(tmp_path: Path) -> None:
    path = tmp_path / "map.toml"
    path.write_text(TOML)
    document = json.dumps({"type": "bf16", "shape": [4096, 4096], "box": [64, 128], "swizzle": "128B"})
    assert (
        tensor_map_of(read(str(path)))
        == tensor_map_of(read(document))
        == tensor_map_of(read(WORDS))
        == legal()
    )
    assert legal().global_strides == (8192,)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("type=bf17 shape=8 box=8", "not an element type"),
        ("type=bf16 shape=8", "box is missing"),
        ("type=bf16 shape=8 box=8 swizzle=129B", "swizzle"),
        ("type=bf16 shape=8 box=8,8", "boxDim has 2 entries"),
        ("type=bf16 shapes=8", "unknown field"),
        ("type", "not name=value"),
        ("type=bf16 shape=x box=8", "not a list of integers"),
        ("{", "cannot read"),
    ],
)
def test_bad_descriptions(words: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        tensor_map_of(read(words))


def test_requests_and_platforms() -> None:
    table = read("type=fp16 shape=64,64 tile=64,64 use=tcgen05 capability=10.0 driver=12.8 pad=true")
    request = request_of(table)
    assert (request.use, request.may_pad) == (Use.TCGEN05, True)
    assert platform_of(table).driver == 12080
    with pytest.raises(SpecError, match="use"):
        request_of(read("type=fp16 shape=64 tile=64 use=mma"))


def test_im2col_descriptions() -> None:
    words = (
        "kind=im2col type=fp16 shape=64,32,32,8 lower=-1,-1 upper=-1,-1 channels=64 pixels=128 swizzle=128B"
    )
    assert not violations(tensor_map_of(read(words)))
    wide = "kind=im2col_wide type=fp16 shape=64,32,32,8 lower=-1 upper=-1 channels=64 pixels=128 swizzle=128B"
    assert [v.constraint.id for v in violations(tensor_map_of(read(wide)))] == ["wide-capability"]


def test_check_report() -> None:
    bad = TiledMap(data_type=6, global_dim=(64, 64), global_strides=(130,), box_dim=(64, 64))
    report = render.text_of_check(bad, violations(bad))
    assert "globalStrides[0]" in report
    assert "[stride-aligned]" in report
    assert "bytes for expect_tx  16384" in render.text_of_check(legal(), ())
    assert json.loads(render.json_of_check(bad, violations(bad)))["violations"][0]["layer"] == "driver"


def test_solve_report() -> None:
    answer = solution()
    assert "copies" in render.text_of_answer(answer)
    document = json.loads(render.json_of_answer(answer))
    assert document["copies"] == 2
    assert document["copy"][1] == {"start": [0, 256], "shared_offset": 32768}
    clash = solve(request_of(read("type=bf16 shape=4097,64 tile=64,64")))
    assert isinstance(clash, Impossible)
    assert "stride-aligned" in render.text_of_answer(clash)
    assert not json.loads(render.json_of_answer(clash))["possible"]


def test_cpp_call() -> None:
    call = render.cpp_of(solution().tensor_map)
    assert "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, global_address" in call
    assert "CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE" in call
    assert "{64, 256}" in call


def test_python_descriptors() -> None:
    tensor_map = solution().tensor_map
    assert "block_shape=[256, 64]" in render.triton_of(tensor_map)
    assert "swizzle_byte_width=128, element_bitwidth=16" in render.gluon_of(tensor_map)
    for text in (render.triton_of(tensor_map), render.gluon_of(tensor_map)):
        compile(text, "descriptor", "exec")
    odd = TiledMap(data_type=DataType.FLOAT64, global_dim=(8, 8), global_strides=(68,), box_dim=(8, 8))
    with pytest.raises(ValueError, match="whole elements"):
        render.triton_of(odd)


def test_picture() -> None:
    root = ElementTree.fromstring(svg(legal()))
    assert root.tag.endswith("svg")
    with pytest.raises(ValueError, match="not modelled"):
        svg(replace(legal(), swizzle=Swizzle.SWIZZLE_128B_ATOM_64B))
