"""Answers of the tensor-map commands as text, JSON, a C++ call and Python descriptors."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any, assert_never

from ptxcheck.descriptors.constraints import Layer
from ptxcheck.descriptors.facts import element_bits, element_bits_in_shared, facts
from ptxcheck.descriptors.fields import (
    DataType,
    Interleave,
    L2Promotion,
    OobFill,
    Swizzle,
)
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


def text_of_check(tensor_map: TensorMap, found: Sequence[Violation], better: Solution | None = None) -> str:
    """Return what `ptxcheck tma check` prints: every violation and a legal encode, or the derived facts."""
    if not found:
        return _table(_fact_rows(tensor_map))
    lines = [_paragraph(violation) for violation in found]
    if better is not None:
        lines += ["nearest legal encode:", *(f"  {line}" for line in _change_lines(tensor_map, better))]
    return "\n".join(lines)


def _paragraph(violation: Violation) -> str:
    refused = violation.constraint.layer is Layer.DRIVER
    who = "refused by the driver" if refused else "accepted by the driver, forbidden by the documents"
    source = f"{violation.constraint.source} ({violation.evidence.value})"
    return f"{violation.message}\n    {who} [{violation.constraint.id}]; {source}"


def _change_lines(tensor_map: TensorMap, better: Solution) -> list[str]:
    """Return the arguments of a legal encode that differ from those of the map."""
    assert isinstance(tensor_map, TiledMap)
    before, after = dict(_map_rows(tensor_map)), dict(_map_rows(better.tensor_map))
    rows: list[tuple[str, Any]] = [
        (name, f"{_plain(after[name])} (was {_plain(before[name])})")
        for name in after
        if before[name] != after[name]
    ]
    rows += [("copies", better.copies)] if better.copies > 1 else []
    rows += [("padding", f"{better.global_padding} bytes of the tensor")] if better.global_padding else []
    return _table(rows).splitlines()


def _table(rows: Sequence[tuple[str, Any]]) -> str:
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:{width}}  {_plain(figure)}" for name, figure in rows)


def _fact_rows(tensor_map: TensorMap) -> list[tuple[str, str]]:
    derived = facts(tensor_map)
    unknown = "not known from the map alone"
    expected, shared, mode = derived.expect_tx_bytes, derived.shared_bytes, derived.swizzle
    rows = [
        ("bytes for expect_tx", unknown if expected is None else str(expected)),
        ("shared memory", unknown if shared is None else f"{shared} bytes"),
        ("alignment", f"{derived.shared_alignment} bytes"),
    ]
    if mode is not None and mode.bits:
        rows.append(
            ("swizzle", f"{mode.atom}-byte chunks within {mode.span}, again after {mode.repeat} bytes")
        )
    return rows


def json_of_check(tensor_map: TensorMap, found: Sequence[Violation], better: Solution | None = None) -> str:
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
        "nearest": None if better is None else dict(_solution_rows(better)),
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
            return "\n".join([_table(_solution_rows(answer)), *(f"note: {note}" for note in answer.notes)])
        case _:
            assert_never(answer)


def _plain(figure: Any) -> str:
    return ", ".join(map(str, figure)) if isinstance(figure, (tuple, list)) else str(figure)


def _map_rows(tensor_map: TiledMap) -> list[tuple[str, Any]]:
    modes: dict[int, str] = {int(mode): mode.name for mode in Swizzle}
    types: dict[int, str] = {int(one): one.name for one in DataType}
    return [
        ("tensorDataType", types.get(tensor_map.data_type, tensor_map.data_type)),
        ("globalDim", tensor_map.global_dim),
        ("globalStrides", tensor_map.global_strides),
        ("boxDim", tensor_map.box_dim),
        ("elementStrides", tensor_map.steps),
        ("swizzle", modes.get(tensor_map.swizzle, tensor_map.swizzle)),
    ]


def _solution_rows(answer: Solution) -> list[tuple[str, Any]]:
    return [
        *_map_rows(answer.tensor_map),
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
