"""Answers of the tensor-map commands as text, JSON, a C++ call and Python descriptors."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any, assert_never

from ptxcheck.descriptors.facts import element_bits, element_bits_in_shared, facts
from ptxcheck.descriptors.fields import DataType, Interleave, L2Promotion, OobFill, Swizzle
from ptxcheck.descriptors.legality import Violation
from ptxcheck.descriptors.request import Answer, Impossible, Solution
from ptxcheck.descriptors.tensor_map import TensorMap, TiledMap

TORCH_TYPES = {
    DataType.UINT8: "torch.uint8",
    DataType.INT32: "torch.int32",
    DataType.INT64: "torch.int64",
    DataType.FLOAT16: "torch.float16",
    DataType.FLOAT32: "torch.float32",
    DataType.FLOAT64: "torch.float64",
    DataType.BFLOAT16: "torch.bfloat16",
}
SHOWN_COPIES = 64
SPAN_BYTES = {
    Swizzle.SWIZZLE_NONE: 0,
    Swizzle.SWIZZLE_32B: 32,
    Swizzle.SWIZZLE_64B: 64,
    Swizzle.SWIZZLE_128B: 128,
}


def text_of_check(tensor_map: TensorMap, found: Sequence[Violation]) -> str:
    """Return what `ptxcheck tma check` prints: every violation, or the derived facts."""
    if found:
        lines = [
            f"{v.constraint.layer.value}: {v.message} [{v.constraint.id}]\n    {v.constraint.source}"
            for v in found
        ]
        return "\n".join(lines)
    derived = facts(tensor_map)
    return "\n".join(
        f"{name}: {figure}"
        for name, figure in _fact_rows(
            derived.expect_tx_bytes, derived.shared_bytes, derived.shared_alignment
        )
    )


def _fact_rows(expected: int | None, shared: int | None, aligned: int) -> list[tuple[str, str]]:
    return [
        ("bytes for expect_tx", "not known from the map alone" if expected is None else str(expected)),
        ("shared memory", "not known from the map alone" if shared is None else f"{shared} bytes"),
        ("alignment", f"{aligned} bytes"),
    ]


def json_of_check(tensor_map: TensorMap, found: Sequence[Violation]) -> str:
    """Return the same as JSON."""
    derived = facts(tensor_map)
    rows = [
        {
            "id": v.constraint.id,
            "layer": v.constraint.layer.value,
            "place": v.place,
            "message": v.message,
            "source": v.constraint.source,
            "evidence": v.evidence.value,
        }
        for v in found
    ]
    document = {
        "violations": rows,
        "expect_tx_bytes": derived.expect_tx_bytes,
        "shared_bytes": derived.shared_bytes,
        "shared_alignment": derived.shared_alignment,
    }
    return json.dumps(document, indent=2)


def text_of_answer(answer: Answer) -> str:
    """Return a table of the encode, or the clash."""
    match answer:
        case Impossible():
            head = "no tensor map brings this tile: these constraints cannot hold together"
            lines = [f"  {c.id}: {c.text}\n      {c.source}" for c in answer.clash]
            return "\n".join([head, *lines])
        case Solution():
            rows = [(name, _plain(figure)) for name, figure in _solution_rows(answer)]
            width = max(len(name) for name, _ in rows)
            notes = [f"note: {note}" for note in answer.notes]
            return "\n".join([f"{name:{width}}  {figure}" for name, figure in rows] + notes)
        case _:
            assert_never(answer)


def _plain(figure: Any) -> str:
    return ", ".join(map(str, figure)) if isinstance(figure, (tuple, list)) else str(figure)


def _solution_rows(answer: Solution) -> list[tuple[str, Any]]:
    tensor_map = answer.tensor_map
    return [
        ("tensorDataType", DataType(tensor_map.data_type).name),
        ("globalDim", tensor_map.global_dim),
        ("globalStrides", tensor_map.global_strides),
        ("boxDim", tensor_map.box_dim),
        ("elementStrides", tensor_map.steps),
        ("swizzle", Swizzle(tensor_map.swizzle).name),
        ("global_padding", answer.global_padding),
        ("shared_padding", answer.shared_padding),
        ("copies", answer.copies),
        ("box_bytes", answer.box_bytes),
        ("stage_bytes", answer.stage_bytes),
        ("expect_tx_bytes", answer.expect_tx_bytes),
        ("shared_alignment", answer.facts.shared_alignment),
    ]


def json_of_answer(answer: Answer) -> str:
    """Return the answer as JSON, with the first copies spelled out."""
    match answer:
        case Impossible():
            clash = [
                {"id": c.id, "text": c.text, "source": c.source, "layer": c.layer.value} for c in answer.clash
            ]
            return json.dumps({"possible": False, "clash": clash}, indent=2)
        case Solution():
            copies = itertools.islice(answer.each_copy(), SHOWN_COPIES)
            document = {"possible": True} | dict(_solution_rows(answer))
            document["copy"] = [{"start": c.start, "shared_offset": c.shared_offset} for c in copies]
            document["notes"] = answer.notes
            return json.dumps(document, indent=2)
        case _:
            assert_never(answer)


def cpp_of(tensor_map: TiledMap, name: str = "tensor_map", address: str = "global_address") -> str:
    """Return a cuTensorMapEncodeTiled call in C++ that encodes the map into `name`."""
    rank = tensor_map.rank
    strides = tensor_map.global_strides or (0,)
    return f"""CUtensorMap {name};
const cuuint64_t {name}_dim[{rank}] = {_braces(tensor_map.global_dim)};
const cuuint64_t {name}_strides[{len(strides)}] = {_braces(strides)};  // bytes, from dimension 1 on
const cuuint32_t {name}_box[{rank}] = {_braces(tensor_map.box_dim)};
const cuuint32_t {name}_steps[{rank}] = {_braces(tensor_map.steps)};
const CUresult {name}_result = cuTensorMapEncodeTiled(
    &{name}, {DataType(tensor_map.data_type).enumerator}, {rank}, {address}, {name}_dim, {name}_strides,
    {name}_box, {name}_steps, {Interleave(tensor_map.interleave).enumerator},
    {Swizzle(tensor_map.swizzle).enumerator}, {L2Promotion(tensor_map.l2_promotion).enumerator},
    {OobFill(tensor_map.oob_fill).enumerator});"""


def _braces(values: Sequence[int]) -> str:
    return "{" + ", ".join(map(str, values)) + "}"


def triton_of(tensor_map: TiledMap, tensor: str = "tensor") -> str:
    """Return a Triton host descriptor; the compiler chooses the swizzle."""
    shape, strides, block = _triton_layout(tensor_map)
    return (
        "from triton.tools.tensor_descriptor import TensorDescriptor\n\n"
        f"descriptor = TensorDescriptor({tensor}, shape={shape}, strides={strides}, block_shape={block})"
    )


def gluon_of(tensor_map: TiledMap, tensor: str = "tensor") -> str:
    """Return a Gluon host descriptor; raise ValueError where Gluon has no word for the swizzle."""
    if tensor_map.swizzle not in SPAN_BYTES:
        raise ValueError(f"no Gluon layout for swizzle {tensor_map.swizzle}")
    shape, strides, block = _triton_layout(tensor_map)
    bits = element_bits_in_shared(tensor_map.data_type)
    span = SPAN_BYTES[Swizzle(tensor_map.swizzle)]
    return (
        "from triton.experimental.gluon import language as gl\n"
        "from triton.experimental.gluon.nvidia.hopper import TensorDescriptor\n\n"
        f"layout = gl.NVMMASharedLayout(swizzle_byte_width={span}, element_bitwidth={bits},"
        f" rank={tensor_map.rank})\n"
        f"descriptor = TensorDescriptor({tensor}, {shape}, {strides}, {block}, layout)"
    )


def _triton_layout(tensor_map: TiledMap) -> tuple[list[int], list[int], list[int]]:
    """Return shape, strides in elements and block shape, outermost first."""
    size = element_bits(tensor_map.data_type) // 8
    if size == 0 or any(stride % size for stride in tensor_map.global_strides):
        raise ValueError("Triton counts strides in whole elements: these bytes are not")
    strides = [1, *(stride // size for stride in tensor_map.global_strides)]
    return list(tensor_map.global_dim)[::-1], strides[::-1], list(tensor_map.box_dim)[::-1]
