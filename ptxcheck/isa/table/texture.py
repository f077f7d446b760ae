"""PTX ISA §9.7.10: texture instructions.

`a` is a texture reference or its 64-bit handle, `b` a sampler (independent mode), `c` the coordinates. Arrays
take an integer index in front of the coordinates, so the types of `c` are not given for them.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

_LOAD = frozenset({Trait.LOAD})


@dataclass(frozen=True, slots=True)
class _Geometry:
    """Geometries that take the same operands."""

    values: str
    coordinates: str
    """Elements of `c`, with their type where they have one."""
    ctypes: str
    gradient: str = ""
    """Elements of the gradients; "" when levels of detail are not allowed."""
    tail: str = ""
    """Optional operands: an offset, a depth to compare with."""


_GEOMETRIES = (
    _Geometry(".1d", "ctype*1", ".s32,.f32", "vec .f32*1", "{, e=offset1}{, f}"),
    _Geometry(".2d", "vec ctype*2", ".s32,.f32", "vec .f32*2", "{, e=offset2}{, f}"),
    _Geometry(".3d", "vec ctype*4", ".s32,.f32", "vec .f32*4", "{, e=offset4}"),
    _Geometry(".a1d", "any", ".s32,.f32", "vec .f32*1", "{, e=offset1}{, f}"),
    _Geometry(".a2d", "any", ".s32,.f32", "vec .f32*2", "{, e=offset2}{, f}"),
    _Geometry(".cube", "vec ctype*4", ".f32", "vec .f32*4", "{, f}"),
    _Geometry(".acube", "any", ".f32", "vec .f32*4", "{, f}"),
    _Geometry(".2dms,.a2dms", "any", ".s32", "", "{, e=offset2}"),
)
_RESULTS = (".v4.dtype", ".v2.dtype(.f16x2@4.2+sm_53)")
_OPERANDS = {
    "p": "w pred",
    "a": "symbol .u64",
    "b": "symbol .u64",
    "f": ".f32",
    "lod": "type",
    "offset1": "any",
    "offset2": "any",
    "offset4": "any",
}


def _forms(geometry: _Geometry, result: str) -> tuple[str, ...]:
    head = f".geometry({geometry.values}){result}.ctype({geometry.ctypes})"
    lines = []
    for address in ("[a, c]", "[a, b, c]"):
        lines.append(f"tex{head} d{{|p}}, {address}{geometry.tail}")
        lines.append(f"tex.base!{head} d{{|p}}, {address}{geometry.tail} @3.1")
        if geometry.gradient:
            lines.append(f"tex.level!{head} d{{|p}}, {address}, lod{geometry.tail}")
            lines.append(f"tex.grad!{head} d{{|p}}, {address}, dpdx, dpdy{geometry.tail}")
    return tuple(lines)


def _row(geometry: _Geometry, result: str, count: int) -> Row:
    return Row(
        "tex",
        Op.TEX,
        "9.7.10.3",
        _forms(geometry, result),
        slots={"dtype": ".u32 .s32 .f16@4.2+sm_53 .f32"},
        operands=_OPERANDS
        | {
            "d": f"w vec dtype*{count}",
            "c": geometry.coordinates,
            "lod": ".b32",
            "dpdx": geometry.gradient,
            "dpdy": geometry.gradient,
        },
        traits=_LOAD,
    )


def _gather(values: str, coordinates: str, tail: str) -> Row:
    head = f"tld4.component.geometry({values}).v4.dtype.ctype(.f32)"
    return Row(
        "tld4",
        Op.TLD4,
        "9.7.10.4",
        (f"{head} d{{|p}}, [a, c]{tail}", f"{head} d{{|p}}, [a, b, c]{tail}"),
        since="2.2+sm_20",
        slots={"component": ".r .g .b .a", "dtype": ".u32 .s32 .f32"},
        operands=_OPERANDS | {"d": "w vec dtype*4", "c": coordinates},
        traits=_LOAD,
    )


_QUERIES = (
    ".width .height .depth .channel_data_type .channel_order .normalized_coords .array_size@4.1 "
    ".num_mipmap_levels@4.1 .num_samples@4.1 .filter_mode .addr_mode_0 .addr_mode_1 .addr_mode_2 "
    ".force_unnormalized_coords@4.0"
)

ROWS = (
    *(
        _row(geometry, result, count)
        for geometry in _GEOMETRIES
        for result, count in zip(_RESULTS, (4, 2), strict=True)
    ),
    _gather(".2d", "vec ctype*2", "{, e=offset2}{, f}"),
    _gather(".a2d", "any", "{, e=offset2}{, f}"),
    _gather(".cube", "vec ctype*4", "{, f}"),
    _gather(".acube", "any", "{, f}"),
    Row(
        "txq",
        Op.TXQ,
        "9.7.10.5",
        (
            "txq.query.type(.b32) d, [a]",
            "txq.level!.query(.width,.height,.depth).type(.b32) d, [a], lod @4.0",
        ),
        since="1.5",
        slots={"query": _QUERIES},
        operands={"a": "symbol .u64", "lod": ".s32"},
        traits=_LOAD,
    ),
    Row(
        "istypep",
        Op.ISTYPEP,
        "9.7.10.6",
        ("istypep.kind p, a",),
        since="4.0+sm_30",
        slots={"kind": ".texref .samplerref .surfref"},
        operands={"p": "w pred", "a": ".u64"},
        traits=frozenset({Trait.PURE}),
    ),
)
