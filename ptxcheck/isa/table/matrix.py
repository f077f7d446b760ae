"""PTX ISA 9.3, 9.7.15: matrix instructions of a warp, and compression of sparse operands.

Operands that analyses ask for: `d` (written), `a`, `b` and `c` the fragments; `metadata` and `selector` of
sparse forms; `scale_a`, `select_a`, `scale_b`, `select_b` of block scaling; `addr` and `stride` in memory.
"""

from __future__ import annotations

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

_WARP = frozenset({Trait.COLLECTIVE, Trait.CROSS_LANE})
_MATRIX = _WARP | {Trait.MATRIX}
_SPACE = ".shared,.shared::cta@7.8"
_EIGHT_BIT = "8.6+sm_100a|sm_100f|sm_110a|sm_110f|sm_120a|sm_120f"
_SIX_BIT = ".dst_fmt(.b8x16).src_fmt(.b6x16_p32,.b4x16_p64)"


def _load_matrix(shape: str, num: str, rest: str, count: str, since: str) -> Row:
    return Row(
        "ldmatrix",
        Op.LDMATRIX,
        "9.7.15.5.15",
        (f"ldmatrix.sync.aligned.shape({shape}).num({num}){rest} d, [addr]",),
        since=since,
        slots={},
        operands={"d": f".b32*{count}", "addr": "addr in space"},
        traits=_WARP | {Trait.LOAD},
    )


def _store_matrix(shape: str, rest: str, since: str) -> Row:
    return Row(
        "stmatrix",
        Op.STMATRIX,
        "9.7.15.5.16",
        (f"stmatrix.sync.aligned.shape({shape}).num(.x1,.x2,.x4){rest} [addr], a",),
        since=since,
        operands={"a": ".b32*num", "addr": "addr in space"},
        traits=_WARP | {Trait.STORE},
    )


_MOVES = (
    _load_matrix(".m8n8", ".x1,.x2,.x4", f"{{.trans}}{{.space({_SPACE})}}.type(.b16)", "num", "6.5+sm_75"),
    _load_matrix(".m16n16", ".x1,.x2", f".trans{{.space({_SPACE})}}.type(.b8)", "num*2", _EIGHT_BIT),
    _load_matrix(".m16n16", ".x1,.x2", f".trans{{.space({_SPACE})}}{_SIX_BIT}", "num*2", _EIGHT_BIT),
    _load_matrix(".m8n16", ".x1,.x2,.x4", f"{{.space({_SPACE})}}{_SIX_BIT}", "num", _EIGHT_BIT),
    _store_matrix(".m8n8", f"{{.trans}}{{.space({_SPACE})}}.type(.b16)", "7.8+sm_90"),
    _store_matrix(".m16n8", f".trans{{.space({_SPACE})}}.type(.b8)", _EIGHT_BIT),
    Row(
        "movmatrix",
        Op.MOVMATRIX,
        "9.7.15.5.17",
        ("movmatrix.sync.aligned.shape.trans.type d, a",),
        since="7.8+sm_75",
        slots={"shape": ".m8n8", "type": ".b16"},
        operands={"d": ".b32", "a": ".b32"},
        traits=_WARP,
    ),
)

# ---------------------------------------------------------------- mma

_ROW_COL = ".alayout(.row).blayout(.col)"


def _mma(
    shape: str,
    types: str,
    d: str,
    a: str,
    b: str,
    since: str,
    *,
    c: str = "",
    layouts: str = _ROW_COL,
    before: str = "",
) -> Row:
    """Return one shape and combination of types; `d`, `a`, `b`, `c` say how fragments are held."""
    return Row(
        "mma",
        Op.MMA,
        "9.7.15.5.14",
        (f"mma.sync.aligned.shape(.{shape}){layouts}{before}{types} d, a, b, c",),
        since=since,
        operands={"d": d, "a": a, "b": b, "c": c or d},
        traits=_MATRIX,
    )


_F16 = ".dtype(.f16).atype(.f16).btype(.f16).ctype(.f16)"
_F32 = ".dtype(.f32).atype(.f16).btype(.f16).ctype(.f32)"
_BF16 = ".dtype(.f32).atype(.bf16).btype(.bf16).ctype(.f32)"
_TF32 = ".dtype(.f32).atype(.tf32).btype(.tf32).ctype(.f32)"
_ROUNDED = "{.rnd(.rn,.rz,.rm,.rp)}"
_F64 = _ROUNDED + ".dtype(.f64).atype(.f64).btype(.f64).ctype(.f64)"
_INT8 = "{.satfinite}.dtype(.s32).atype(.u8,.s8).btype(.u8,.s8).ctype(.s32)"
_INT4 = "{.satfinite}.dtype(.s32).atype(.u4,.s4).btype(.u4,.s4).ctype(.s32)"
_BIT = ".dtype(.s32).atype(.b1).btype(.b1).ctype(.s32).op({}).popc"
_FP8_TYPES = ".atype(.e4m3,.e5m2).btype(.e4m3,.e5m2)"
_FP8_F32 = f".dtype(.f32){_FP8_TYPES}.ctype(.f32)"
_FP8_F16 = f".dtype(.f16){_FP8_TYPES}.ctype(.f16)"
_ANY8 = ".e4m3,.e5m2,.e3m2,.e2m3,.e2m1"
_ANY8_TYPES = f".atype({_ANY8}).btype({_ANY8})"
_CONSUMER = "8.7+sm_120a|sm_120f"
_FP8_KIND = "sm_100a|sm_100f|sm_110a|sm_110f|sm_120a|sm_120f"

_DENSE = (
    *(
        _mma(
            "m8n8k4",
            f".dtype({d}).atype(.f16).btype(.f16).ctype({c})",
            d_held,
            ".b32*2",
            ".b32*2",
            "6.4+sm_70",
            c=c_held,
            layouts=".alayout(.row,.col).blayout(.row,.col)",
        )
        for d, d_held, c, c_held in (
            (".f16", ".b32*4", ".f16", ".b32*4"),
            (".f32", ".f32*8", ".f32", ".f32*8"),
            (".f32", ".f32*8", ".f16", ".b32*4"),
        )
    ),
    _mma("m16n8k8", _F16, ".b32*2", ".b32*2", ".b32*1", "6.5+sm_75"),
    _mma("m16n8k8", _F32, ".f32*4", ".b32*2", ".b32*1", "6.5+sm_75"),
    _mma("m16n8k16", _F16, ".b32*2", ".b32*4", ".b32*2", "7.0+sm_80"),
    _mma("m16n8k16", _F32, ".f32*4", ".b32*4", ".b32*2", "7.0+sm_80"),
    _mma("m16n8k8", _BF16, ".f32*4", ".b32*2", ".b32*1", "7.0+sm_80"),
    _mma("m16n8k16", _BF16, ".f32*4", ".b32*4", ".b32*2", "7.0+sm_80"),
    _mma("m16n8k4", _TF32, ".f32*4", ".b32*2", ".b32*1", "7.0+sm_80"),
    _mma("m16n8k8", _TF32, ".f32*4", ".b32*4", ".b32*2", "7.0+sm_80"),
    _mma("m8n8k4", _F64, ".f64*2", ".f64*1", ".f64*1", "7.0+sm_80"),
    _mma("m16n8k4", _F64, ".f64*4", ".f64*2", ".f64*1", "7.8+sm_90"),
    _mma("m16n8k8", _F64, ".f64*4", ".f64*4", ".f64*2", "7.8+sm_90"),
    _mma("m16n8k16", _F64, ".f64*4", ".f64*8", ".f64*4", "7.8+sm_90"),
    _mma("m8n8k16", _INT8, ".s32*2", ".b32*1", ".b32*1", "6.5+sm_75"),
    _mma("m16n8k16", _INT8, ".s32*4", ".b32*2", ".b32*1", "7.0+sm_80"),
    _mma("m16n8k32", _INT8, ".s32*4", ".b32*4", ".b32*2", "7.0+sm_80"),
    _mma("m8n8k32", _INT4, ".s32*2", ".b32*1", ".b32*1", "6.5+sm_75"),
    _mma("m16n8k32", _INT4, ".s32*4", ".b32*2", ".b32*1", "7.0+sm_80"),
    _mma("m16n8k64", _INT4, ".s32*4", ".b32*4", ".b32*2", "7.0+sm_80"),
    *(
        row
        for op, old, new in ((".xor", "7.0+sm_75", "7.0+sm_80"), (".and", "7.1+sm_80", "7.1+sm_80"))
        for row in (
            _mma("m8n8k128", _BIT.format(op), ".s32*2", ".b32*1", ".b32*1", old),
            _mma("m16n8k128", _BIT.format(op), ".s32*4", ".b32*2", ".b32*1", new),
            _mma("m16n8k256", _BIT.format(op), ".s32*4", ".b32*4", ".b32*2", new),
        )
    ),
    _mma("m16n8k32", _FP8_F32, ".f32*4", ".b32*4", ".b32*2", "8.4+sm_89"),
    _mma("m16n8k32", _FP8_F16, ".b32*2", ".b32*4", ".b32*2", "8.7+sm_89"),
    _mma("m16n8k16", _FP8_F32, ".f32*4", ".b32*2", ".b32*1", "8.7+sm_89"),
    _mma("m16n8k16", _FP8_F16, ".b32*2", ".b32*2", ".b32*1", "8.7+sm_89"),
    *(
        _mma(
            shape,
            f".dtype({d}){types}.ctype({d})",
            held,
            f".b32*{a}",
            f".b32*{a // 2}",
            since,
            before=".kind(.kind::f8f6f4)",
        )
        for shape, a, d, held, fp8 in (
            ("m16n8k32", 4, ".f32", ".f32*4", "8.6"),
            ("m16n8k32", 4, ".f16", ".b32*2", "8.7"),
            ("m16n8k16", 2, ".f32", ".f32*4", "8.7"),
            ("m16n8k16", 2, ".f16", ".b32*2", "8.7"),
        )
        for types, since in ((_FP8_TYPES, f"{fp8}+{_FP8_KIND}"), (_ANY8_TYPES, _CONSUMER))
        if a == 4 or types == _FP8_TYPES
    ),
)


def _sparse(shape: str, types: str, d: str, a: str, b: str, since: str, kind: str = "") -> tuple[Row, ...]:
    """Return a sparse form and its twin with ordered metadata; consumer Blackwell has the twin alone."""

    def row(name: str, first: str) -> Row:
        return Row(
            name,
            Op.MMA_SP,
            "9.7.15.6.3",
            (f"{name}.sync.aligned.shape(.{shape}){_ROW_COL}{kind}{types} d, a, b, c, metadata, selector",),
            since=first,
            operands={"d": d, "a": a, "b": b, "c": d, "metadata": ".b32", "selector": "imm"},
            traits=_MATRIX,
        )

    ordered = row("mma.sp::ordered_metadata", "8.5+" + since.partition("+")[2])
    return (ordered,) if since == _CONSUMER else (row("mma.sp", since), ordered)


_SPARSE = (
    *_sparse("m16n8k16", _F16, ".b32*2", ".b32*2", ".b32*2", "7.1+sm_80"),
    *_sparse("m16n8k32", _F16, ".b32*2", ".b32*4", ".b32*4", "7.1+sm_80"),
    *_sparse("m16n8k16", _F32, ".f32*4", ".b32*2", ".b32*2", "7.1+sm_80"),
    *_sparse("m16n8k32", _F32, ".f32*4", ".b32*4", ".b32*4", "7.1+sm_80"),
    *_sparse("m16n8k16", _BF16, ".f32*4", ".b32*2", ".b32*2", "7.1+sm_80"),
    *_sparse("m16n8k32", _BF16, ".f32*4", ".b32*4", ".b32*4", "7.1+sm_80"),
    *_sparse("m16n8k8", _TF32, ".f32*4", ".b32*2", ".b32*2", "7.1+sm_80"),
    *_sparse("m16n8k16", _TF32, ".f32*4", ".b32*4", ".b32*4", "7.1+sm_80"),
    *_sparse("m16n8k32", _INT8, ".s32*4", ".b32*2", ".b32*2", "7.1+sm_80"),
    *_sparse("m16n8k64", _INT8, ".s32*4", ".b32*4", ".b32*4", "7.1+sm_80"),
    *_sparse("m16n8k64", _INT4, ".s32*4", ".b32*2", ".b32*2", "7.1+sm_80"),
    *_sparse("m16n8k128", _INT4, ".s32*4", ".b32*4", ".b32*4", "7.1+sm_80"),
    *_sparse("m16n8k64", _FP8_F32, ".f32*4", ".b32*4", ".b32*4", "8.4+sm_89"),
    *_sparse("m16n8k64", _FP8_F16, ".b32*2", ".b32*4", ".b32*4", _CONSUMER),
    *_sparse(
        "m16n8k64",
        f".dtype(.f32){_ANY8_TYPES}.ctype(.f32)",
        ".f32*4",
        ".b32*4",
        ".b32*4",
        _CONSUMER,
        ".kind(.kind::f8f6f4)",
    ),
    *_sparse(
        "m16n8k64",
        f".dtype(.f16){_ANY8_TYPES}.ctype(.f16)",
        ".b32*2",
        ".b32*4",
        ".b32*4",
        _CONSUMER,
        ".kind(.kind::f8f6f4)",
    ),
)


def _scaled(
    kind: str, vectors: str, types: str, scale: str, dense_k: int, optional: bool, first: str = "8.7"
) -> tuple[Row, ...]:
    """Return a block-scaled kind, dense and sparse (which is twice as deep)."""
    vector = f"{{.scale_vec({vectors})}}" if optional else f".scale_vec({vectors})"
    scales = "scale_a, select_a, scale_b, select_b"
    sparse_targets = "sm_120a|sm_120f" if kind == ".kind::mxf8f6f4" else "sm_120a|sm_121a"

    def row(name: str, op: Op, section: str, k: int, sparse: str, registers: int, since: str) -> Row:
        return Row(
            name,
            op,
            section,
            (
                f"{name}.sync.aligned.shape(.m16n8k{k}){_ROW_COL}.kind({kind}).block_scale{vector}"
                f".dtype(.f32){types}.ctype(.f32).stype({scale}) d, a, b, c{sparse}, {scales}",
            ),
            since=since,
            operands={
                "d": ".f32*4",
                "a": ".b32*4",
                "b": f".b32*{registers}",
                "c": ".f32*4",
                "metadata": ".b32",
                "selector": "imm",
                "scale_a": ".b32",
                "select_a": "vec .b16*2",
                "scale_b": ".b32",
                "select_b": "vec .b16*2",
            },
            traits=_MATRIX,
        )

    return (
        row("mma", Op.MMA, "9.7.15.5.14", dense_k, "", 2, f"{first}+sm_120a|sm_120f"),
        row(
            "mma.sp::ordered_metadata",
            Op.MMA_SP,
            "9.7.15.6.3",
            2 * dense_k,
            ", metadata, selector",
            4,
            f"{first}+{sparse_targets}",
        ),
    )


_FOUR = ".atype(.e2m1).btype(.e2m1)"
_SCALED = (
    *_scaled(".kind::mxf8f6f4", ".scale_vec::1X", _ANY8_TYPES, ".ue8m0", 32, True),
    *_scaled(".kind::mxf4", ".scale_vec::2X", _FOUR, ".ue8m0", 64, True),
    *_scaled(".kind::mxf4nvf4", ".scale_vec::2X", _FOUR, ".ue8m0", 64, False),
    *_scaled(".kind::mxf4nvf4", ".scale_vec::4X", _FOUR, ".ue4m3", 64, False),
    *_scaled(".kind::mxf4nvf4", ".scale_vec::4X", _FOUR, ".ue8m0", 64, False, "9.1"),
)

# ---------------------------------------------------------------- wmma

_LAYOUTS = ".row,.col"
_FRAGMENT_SPACE = f"{{.space(.global,{_SPACE})}}"


def _wmma_load(matrix: str, shapes: str, types: str, held: str, since: str, layouts: str = _LAYOUTS) -> Row:
    return Row(
        f"wmma.load.{matrix}",
        Op.WMMA_LOAD,
        "9.7.15.4.3",
        (
            f"wmma.load.{matrix}.sync.aligned.layout({layouts}).shape({shapes}){_FRAGMENT_SPACE}.type({types})"
            " d, [addr]{, stride}",
        ),
        since=since,
        operands={"d": held, "addr": "addr in space", "stride": ".u32"},
        traits=_WARP | {Trait.LOAD},
    )


def _wmma_store(shapes: str, types: str, held: str, since: str) -> Row:
    return Row(
        "wmma.store.d",
        Op.WMMA_STORE,
        "9.7.15.4.4",
        (
            f"wmma.store.d.sync.aligned.layout({_LAYOUTS}).shape({shapes}){_FRAGMENT_SPACE}.type({types})"
            " [addr], a{, stride}",
        ),
        since=since,
        operands={"a": held, "addr": "addr in space", "stride": ".u32"},
        traits=_WARP | {Trait.STORE},
    )


def _wmma(shape: str, rest: str, d: str, a: str, b: str, c: str, since: str, layouts: str = "") -> Row:
    layouts = layouts or f".alayout({_LAYOUTS}).blayout({_LAYOUTS})"
    return Row(
        "wmma.mma",
        Op.WMMA_MMA,
        "9.7.15.4.5",
        (f"wmma.mma.sync.aligned{layouts}.shape({shape}){rest} d, a, b, c",),
        since=since,
        operands={"d": d, "a": a, "b": b, "c": c},
        traits=_MATRIX,
    )


_HALF_SHAPES = ".m16n16k16,.m8n32k16@6.1,.m32n8k16@6.1"
_FLOAT_SHAPES = f"{_HALF_SHAPES},.m16n16k8@7.0+sm_80"
_BYTE_FRAGMENTS = ((".m16n16k16", 2, 2), (".m8n32k16", 1, 4), (".m32n8k16", 4, 1))
_ROW_COL_ONLY = ".alayout(.row).blayout(.col)"

_WMMA = (
    *(_wmma_load(matrix, _HALF_SHAPES, ".f16", ".b32*8", "6.0+sm_70") for matrix in ("a", "b")),
    *(
        row
        for shape, a, b in _BYTE_FRAGMENTS
        for row in (
            _wmma_load("a", shape, ".u8,.s8", f".b32*{a}", "6.3+sm_72"),
            _wmma_load("b", shape, ".u8,.s8", f".b32*{b}", "6.3+sm_72"),
            _wmma_load("a", shape, ".bf16", f".b32*{2 * a}", "7.0+sm_80"),
            _wmma_load("b", shape, ".bf16", f".b32*{2 * b}", "7.0+sm_80"),
            _wmma(
                shape,
                "{.satfinite}.dtype(.s32).atype(.u8).btype(.u8).ctype(.s32)",
                ".s32*8",
                f".b32*{a}",
                f".b32*{b}",
                ".s32*8",
                "6.3+sm_72",
            ),
            _wmma(
                shape,
                "{.satfinite}.dtype(.s32).atype(.s8).btype(.s8).ctype(.s32)",
                ".s32*8",
                f".b32*{a}",
                f".b32*{b}",
                ".s32*8",
                "6.3+sm_72",
            ),
            _wmma(shape, _BF16, ".f32*8", f".b32*{2 * a}", f".b32*{2 * b}", ".f32*8", "7.0+sm_80"),
        )
    ),
    _wmma_load("a", ".m16n16k8", ".tf32", ".b32*4", "7.0+sm_80"),
    _wmma_load("b", ".m16n16k8", ".tf32", ".b32*4", "7.0+sm_80"),
    _wmma_load("a", ".m8n8k4", ".f64", ".f64*1", "7.0+sm_80"),
    _wmma_load("b", ".m8n8k4", ".f64", ".f64*1", "7.0+sm_80"),
    _wmma_load("a", ".m8n8k32", ".u4,.s4", ".b32*1", "6.3+sm_75", ".row"),
    _wmma_load("b", ".m8n8k32", ".u4,.s4", ".b32*1", "6.3+sm_75", ".col"),
    _wmma_load("a", ".m8n8k128", ".b1", ".b32*1", "6.3+sm_75", ".row"),
    _wmma_load("b", ".m8n8k128", ".b1", ".b32*1", "6.3+sm_75", ".col"),
    _wmma_load("c", _HALF_SHAPES, ".f16", ".b32*4", "6.0+sm_70"),
    _wmma_load("c", _FLOAT_SHAPES, ".f32", ".f32*8", "6.0+sm_70"),
    _wmma_load("c", _HALF_SHAPES, ".s32", ".s32*8", "6.3+sm_72"),
    _wmma_load("c", ".m8n8k32,.m8n8k128", ".s32", ".s32*2", "6.3+sm_75"),
    _wmma_load("c", ".m8n8k4", ".f64", ".f64*2", "7.0+sm_80"),
    _wmma_store(_HALF_SHAPES, ".f16", ".b32*4", "6.0+sm_70"),
    _wmma_store(_FLOAT_SHAPES, ".f32", ".f32*8", "6.0+sm_70"),
    _wmma_store(_HALF_SHAPES, ".s32", ".s32*8", "6.3+sm_72"),
    _wmma_store(".m8n8k32,.m8n8k128", ".s32", ".s32*2", "6.3+sm_75"),
    _wmma_store(".m8n8k4", ".f64", ".f64*2", "7.0+sm_80"),
    *(
        _wmma(_HALF_SHAPES, f".dtype({d}).ctype({c})", dh, ".b32*8", ".b32*8", ch, "6.0+sm_70")
        for d, dh in ((".f16", ".b32*4"), (".f32", ".f32*8"))
        for c, ch in ((".f16", ".b32*4"), (".f32", ".f32*8"))
    ),
    _wmma(".m16n16k8", _TF32, ".f32*8", ".b32*4", ".b32*4", ".f32*8", "7.0+sm_80"),
    _wmma(".m8n8k4", _F64, ".f64*2", ".f64*1", ".f64*1", ".f64*2", "7.0+sm_80"),
    *(
        _wmma(
            ".m8n8k32",
            f"{{.satfinite}}.dtype(.s32).atype({t}).btype({t}).ctype(.s32)",
            ".s32*2",
            ".b32*1",
            ".b32*1",
            ".s32*2",
            "6.3+sm_75",
            _ROW_COL_ONLY,
        )
        for t in (".u4", ".s4")
    ),
    *(
        _wmma(".m8n8k128", _BIT.format(op), ".s32*2", ".b32*1", ".b32*1", ".s32*2", since, _ROW_COL_ONLY)
        for op, since in ((".xor", "6.3+sm_75"), (".and", "7.1+sm_80"))
    ),
)

_COMPRESSION = (
    Row(
        "spcompress",
        Op.SPCOMPRESS,
        "9.7.15.7",
        ("spcompress.etype.itype.ratio.num metadata, d, a, descriptor",),
        since="9.4+sm_107a",
        slots={
            "etype": ".b8 .b16",
            "itype": ".b2 .b4",
            "ratio": ".sp::2:4",
            "num": ".x1 .x2 .x4 .x8 .x16 .x32 .x64 .x128",
        },
        operands={
            "metadata": "w vec .b32*any",
            "d": "w vec .b32*num",
            "a": "vec .b32*num*2",
            "descriptor": ".b32",
        },
        traits=frozenset({Trait.PURE}),
    ),
    Row(
        "spdecompress",
        Op.SPDECOMPRESS,
        "9.7.15.7",
        (
            "spdecompress.etype(.b8,.b16).itype.ratio(.sp::1:2,.sp::1:4,.sp::2:4).num d, metadata, a",
            "spdecompress.etype(.b8).itype(.b4).ratio(.sp::4:8).num d, metadata, a",
        ),
        since="9.4+sm_107a",
        slots={"itype": ".b2 .b4", "num": ".x1 .x2 .x4 .x8 .x16 .x32 .x64 .x128"},
        operands={"d": "w vec .b32*any", "metadata": "vec .b32*any", "a": "vec .b32*any"},
        traits=frozenset({Trait.PURE}),
    ),
)

ROWS = (*_MOVES, *_DENSE, *_SPARSE, *_SCALED, *_WMMA, *_COMPRESSION)
