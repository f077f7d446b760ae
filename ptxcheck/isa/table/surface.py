"""PTX ISA §9.7.11: surface instructions.

`a` is a surface reference or its 64-bit handle, `b` the coordinates.
"""

from __future__ import annotations

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

_SHAPES = (
    "{.vec(.v2,.v4)}.type(.b8,.b16,.b32)",
    "{.vec(.v2)}.type(.b64)",
)
_GEOMETRIES = ((".1d", ".s32*1"), (".2d,.a1d", "vec .s32*2"), (".3d,.a2d", "vec .s32*4"))
_WHOLE_GEOMETRIES = ((".1d", ".s32*1"), (".2d", "vec .s32*2"), (".3d", "vec .s32*4"))
_MODES = {"mode": ".trap .clamp@2.0+sm_20 .zero@2.0+sm_20"}
_SURFACE = {"a": "symbol .u64"}
_REDUCTIONS = (
    ("b", ".add", ".u32,.s32,.u64"),
    ("b", ".min,.max", ".u32,.s32,.u64@8.1+sm_50,.s64@8.1+sm_50"),
    ("b", ".and,.or", ".b32"),
    ("p", ".add,.and,.or", ".b32"),
    ("p", ".min,.max", ".b32,.b64@8.1+sm_50"),
)

ROWS = (
    *(
        Row(
            "suld",
            Op.SULD,
            "9.7.11.1",
            tuple(f"suld.b!.geometry({geometry}){{.cop}}{shape}.mode d, [a, b]" for shape in _SHAPES),
            since="1.5",
            slots=_MODES | {"cop": ".ca@2.0 .cg@2.0 .cs@2.0 .cv@2.0"},
            operands=_SURFACE | {"d": "w type+*vec", "b": coordinates},
            traits=frozenset({Trait.LOAD}),
        )
        for geometry, coordinates in _GEOMETRIES
    ),
    *(
        Row(
            "sust",
            Op.SUST,
            "9.7.11.2",
            (
                *(f"sust.b!.geometry({geometry}){{.cop}}{shape}.mode [a, b], c" for shape in _SHAPES),
                f"sust.p!.geometry({geometry}){{.vec(.v2,.v4)}}.type(.b32).mode [a, b], c @2.0+sm_20",
            ),
            since="1.5",
            slots=_MODES | {"cop": ".wb@2.0 .cg@2.0 .cs@2.0 .wt@2.0"},
            operands=_SURFACE | {"b": coordinates, "c": "type+*vec"},
            traits=frozenset({Trait.STORE}),
        )
        for geometry, coordinates in _GEOMETRIES
    ),
    *(
        Row(
            "sured",
            Op.SURED,
            "9.7.11.3",
            tuple(
                f"sured.{kind}!.op({operations}).geometry({geometry}).type({types}).mode [a, b], c"
                for kind, operations, types in _REDUCTIONS
            ),
            since="2.0+sm_20",
            slots=_MODES,
            operands=_SURFACE | {"b": coordinates},
            traits=frozenset({Trait.ATOMIC}),
        )
        for geometry, coordinates in _WHOLE_GEOMETRIES
    ),
    Row(
        "suq",
        Op.SUQ,
        "9.7.11.4",
        ("suq.query.type(.b32) d, [a]",),
        since="1.5",
        slots={
            "query": ".width .height .depth .channel_data_type .channel_order .array_size@4.1 "
            ".memory_layout@4.2"
        },
        operands=_SURFACE,
        traits=frozenset({Trait.LOAD}),
    ),
)
