"""PTX ISA 9.3, 9.7.17: tensor memory and the matrix unit of the fifth generation.

Operands that analyses ask for: `dst` where an allocation writes its address; `taddr` the tensor-memory
address (of D in a multiplication); `columns`; `d` and `a` registers of a load or store; `half_split`;
`s_desc` the source of a copy; `a_desc` or `a_taddr`, `b_desc`, `idesc`; `scale_d` the predicate that keeps
D; `scale_input_d`; `disable_lanes`; `metadata` (sparse); `scale_a` and `scale_b` (block scaling, addresses);
`zero_columns`; `mbar` and `mask` of a commit. What is waited for is the slot `wait`, the side of a fence the
slot `fence`.
"""

from __future__ import annotations

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

_SINCE = "8.6+sm_100a|sm_100f|sm_110a|sm_110f"
_EXACT_TARGETS = "sm_100a|sm_103a|sm_107a|sm_110a"
_EXACT = f"8.6+{_EXACT_TARGETS}"
_NVF4 = f"8.7+{_EXACT_TARGETS}"
_FAMILY = "8.8+sm_100a|sm_100f|sm_110a|sm_110f"
_NEXT = "9.4+sm_107f"
_GROUP = ".cta_group::1 .cta_group::2"
_COLLECTIVE = frozenset({Trait.TENSOR_MEMORY, Trait.COLLECTIVE})
_ASYNC = frozenset({Trait.TENSOR_MEMORY, Trait.ASYNC})
_MMA = _ASYNC | {Trait.ASYNC_PROXY_READ, Trait.MATRIX}
_COLUMNS = "32, 64, 128, 256, 512"

_ALLOCATION = (
    Row(
        "tcgen05.alloc",
        Op.TCGEN05_ALLOC,
        "9.7.17.7.1",
        ("tcgen05.alloc{.exclusive}.cta_group.sync.aligned{.space}.b32 [dst], columns",),
        since=_SINCE,
        slots={"cta_group": _GROUP, "space": ".shared::cta", "exclusive": ".exclusive@9.4"},
        operands={"dst": "addr in space", "columns": ".u32"},
        traits=_COLLECTIVE | {Trait.STORE},
        limits={"columns": _COLUMNS},
    ),
    Row(
        "tcgen05.dealloc",
        Op.TCGEN05_DEALLOC,
        "9.7.17.7.1",
        ("tcgen05.dealloc{.exclusive}.cta_group.sync.aligned.b32 taddr, columns",),
        since=_SINCE,
        slots={"cta_group": _GROUP, "exclusive": ".exclusive@9.4"},
        operands={"taddr": ".b32", "columns": ".u32"},
        traits=_COLLECTIVE,
        limits={"columns": "0..4294967264 step 32"},
    ),
    Row(
        "tcgen05.relinquish_alloc_permit",
        Op.TCGEN05_RELINQUISH_ALLOC_PERMIT,
        "9.7.17.7.1",
        ("tcgen05.relinquish_alloc_permit.cta_group.sync.aligned",),
        since=_SINCE,
        slots={"cta_group": _GROUP},
        traits=_COLLECTIVE,
    ),
)

_UP_TO_32 = ".x1 .x2 .x4 .x8 .x16 .x32"
_UP_TO_64 = f"{_UP_TO_32} .x64"
_UP_TO_128 = f"{_UP_TO_64} .x128"


def _move(shapes: str, numbers: str, count: str, split: str = "") -> tuple[Row, Row]:
    """Return the load and the store of shapes whose registers are counted alike."""
    slots = {"shape": shapes, "num": numbers}
    operands = {"d": f".b32*{count}", "a": f".b32*{count}", "half_split": "imm"}
    return (
        Row(
            "tcgen05.ld",
            Op.TCGEN05_LD,
            "9.7.17.8.3",
            (f"tcgen05.ld.sync.aligned.shape.num{{.pack::16b}}.b32 d, [taddr]{split}",),
            since=_SINCE,
            slots=slots,
            operands=operands,
            traits=_COLLECTIVE | {Trait.ASYNC},
        ),
        Row(
            "tcgen05.st",
            Op.TCGEN05_ST,
            "9.7.17.8.4",
            (f"tcgen05.st.sync.aligned.shape.num{{.unpack::16b}}.b32 [taddr]{split}, a",),
            since=_SINCE,
            slots=slots,
            operands=operands,
            traits=_COLLECTIVE | {Trait.ASYNC},
        ),
    )


def _load_reduce(shape: str, split: str) -> Row:
    return Row(
        "tcgen05.ld.red",
        Op.TCGEN05_LD_RED,
        "9.7.17.8.3",
        (
            f"tcgen05.ld.red.sync.aligned.shape.num.redop.type(.u32,.s32) d, reduced, [taddr]{split}",
            "tcgen05.ld.red.sync.aligned.shape.num.redop{.abs}{.NaN}.type(.f32) d, reduced,"
            f" [taddr]{split}",
        ),
        since="8.8+sm_103f|sm_110f",
        slots={"shape": shape, "num": _UP_TO_128.removeprefix(".x1 "), "redop": ".min .max"},
        operands={"d": ".b32*num", "reduced": "w .b32", "half_split": "imm"},
        traits=_COLLECTIVE | {Trait.ASYNC},
    )


def _load_compress(name: str, op: Op, options: str, reduced: str) -> Row:
    """Return the load that keeps two of four elements, and the indices of those as metadata."""
    return Row(
        name,
        op,
        "9.7.17.8.3",
        (
            f"{name}.sync.aligned.shape.num.redop.ratio{options}.dtype(.f32).mtype(.b2) metadata, d,"
            f" {reduced}[taddr]",
        ),
        since="9.4+sm_107a",
        slots={
            "shape": ".32x32b",
            "num": _UP_TO_128.removeprefix(".x1 .x2 "),
            "redop": ".min .max",
            "ratio": ".sp::2:4",
        },
        operands={"d": ".b32*num/2", "metadata": "w .b32*num/32", "reduced": "w .b32"},
        traits=_COLLECTIVE | {Trait.ASYNC},
    )


_MOVES = (
    *_move(".16x64b .32x32b", _UP_TO_128, "num"),
    *_move(".16x128b", _UP_TO_64, "num*2"),
    *_move(".16x256b", _UP_TO_32, "num*4"),
    *_move(".16x32bx2", _UP_TO_128, "num", ", half_split"),
    _load_reduce(".32x32b", ""),
    _load_reduce(".16x32bx2", ", half_split"),
    _load_compress("tcgen05.ld.spcompress", Op.TCGEN05_LD, "{.abs}", ""),
    _load_compress("tcgen05.ld.red.spcompress", Op.TCGEN05_LD_RED, "{.abs}{.NaN}", "reduced, "),
    Row(
        "tcgen05",
        Op.TCGEN05_WAIT,
        "9.7.17.8.5",
        ("tcgen05.wait.sync.aligned",),
        since=_SINCE,
        slots={"wait": ".wait::ld .wait::st"},
        traits=_COLLECTIVE | {Trait.WAIT},
    ),
    Row(
        "tcgen05",
        Op.TCGEN05_FENCE,
        "9.7.17.11.1",
        ("tcgen05.fence",),
        since=_SINCE,
        slots={"fence": ".fence::before_thread_sync .fence::after_thread_sync"},
        traits=frozenset({Trait.TENSOR_MEMORY, Trait.FENCE}),
    ),
)

_COPIES = (
    Row(
        "tcgen05.cp",
        Op.TCGEN05_CP,
        "9.7.17.9.2",
        (
            "tcgen05.cp.cta_group.shape(.128x256b,.4x256b,.128x128b){.dst_fmt.src_fmt} [taddr], s_desc",
            "tcgen05.cp.cta_group.shape(.64x128b).multicast(.warpx2::02_13,.warpx2::01_23){.dst_fmt.src_fmt}"
            " [taddr], s_desc",
            "tcgen05.cp.cta_group.shape(.32x128b).multicast(.warpx4){.dst_fmt.src_fmt} [taddr], s_desc",
        ),
        since=_SINCE,
        slots={"cta_group": _GROUP, "dst_fmt": ".b8x16", "src_fmt": ".b6x16_p32 .b4x16_p64"},
        operands={"s_desc": ".b64"},
        traits=_ASYNC | {Trait.ASYNC_PROXY_READ},
    ),
    Row(
        "tcgen05.shift",
        Op.TCGEN05_SHIFT,
        "9.7.17.9.3",
        ("tcgen05.shift.cta_group.down [taddr]",),
        since=_EXACT,
        slots={"cta_group": _GROUP},
        traits=_ASYNC,
    ),
    Row(
        "tcgen05.commit",
        Op.TCGEN05_COMMIT,
        "9.7.17.12.1",
        (
            "tcgen05.commit.cta_group.completion{.space}.b64 [mbar]",
            "tcgen05.commit.cta_group.completion{.space}.multicast(.multicast::cluster).b64 [mbar], mask",
            f"tcgen05.commit.cta_group.completion.restrict{{.space}}.b64 [mbar] @{_NEXT}",
            "tcgen05.commit.cta_group.completion.restrict{.space}.multicast(.multicast::cluster).b64 [mbar],"
            f" mask @{_NEXT}",
            "tcgen05.commit.cta_group.completion{.restrict}{.space}.multicast(.multicast::cluster::32b).b64"
            f" [mbar], mask=mask32 @{_NEXT}",
        ),
        since=_SINCE,
        slots={
            "cta_group": _GROUP,
            "completion": ".mbarrier::arrive::one",
            "space": ".shared::cluster",
            "restrict": ".sync_restrict::shared::read::mma::a",
        },
        operands={"mask": ".b16", "mask32": ".b32"},
        traits=_ASYNC | {Trait.COMMIT},
    ),
)

_A_COLLECTOR = ".collector::a::fill .collector::a::use .collector::a::lastuse .collector::a::discard"
_REUSE = ".collector::a::lastuse,.collector::a::discard"
_WS_COLLECTOR = " ".join(
    f".collector::b{buffer}::{use}" for buffer in range(4) for use in ("fill", "use", "lastuse", "discard")
)
_OPERANDS = {
    "a_desc": ".b64",
    "b_desc": ".b64",
    "idesc": ".b32",
    "disable1": "vec .b32*4",
    "disable2": "vec .b32*8",
    "scale_d": "pred",
    "scale_input_d": "imm",
    "zero_columns": ".b64",
}
_MMA_SLOTS = {
    "collector": _A_COLLECTOR,
    "b_collector": " ".join(f"{use}@{_NEXT}" for use in _A_COLLECTOR.replace("::a::", "::b::").split()),
    "ws_collector": _WS_COLLECTOR,
}
_INTEGER = "8.6+sm_100a|sm_110a"
_KINDS = (
    (f".kind::f16,.kind::tf32,.kind::f8f6f4,.kind::ti16@{_NEXT}", "", _SINCE),
    (".kind::i8", "", _INTEGER),
    (f".kind::f16,.kind::tf32,.kind::ti16@{_NEXT}", ", scale_input_d", "8.6+sm_100a|sm_100f"),
    (".kind::i8", ", scale_input_d", _INTEGER),
)
"""Kinds without block scaling, whether D may be scaled, and where. The manual scales D for `.kind::f16` and
`.kind::tf32` alone; ptxas takes the operand for the integer kinds, too."""


def _plain_forms(name: str, sparse: str) -> tuple[str, ...]:
    """Return the forms without block scaling: kinds, then the operands that may follow."""
    found = []
    for kinds, scale, since in _KINDS:
        for group, lanes in ((".cta_group::1", "disable1"), (".cta_group::2", "disable2")):
            head = f"{name}.cta_group({group}).kind({kinds})"
            tail = f"b_desc{sparse}, idesc{{, disable_lanes={lanes}}}, scale_d{scale} @{since}"
            found += [
                f"{head}{{.collector}}{{.b_collector}} [taddr], a_desc, {tail}",
                f"{head}{{.collector}}{{.b_collector}} [taddr], [a_taddr], {tail}",
                f"{head}.ashift{{.collector({_REUSE})}} [taddr], [a_taddr], {tail}",
            ]
    return tuple(found)


_VECTORS = (
    (".kind::mxf8f6f4", ".scale_vec(.scale_vec::1X)", _EXACT, _EXACT),
    (".kind::mxf8f6f4", "{.scale_vec(.block32)}", _FAMILY, _FAMILY),
    (".kind::mxf4", ".scale_vec(.scale_vec::2X)", _EXACT, _EXACT),
    (".kind::mxf4", "{.scale_vec(.block32)}", _FAMILY, f"8.8+{_EXACT_TARGETS}"),
    (".kind::mxf4nvf4", ".scale_vec(.scale_vec::2X,.scale_vec::4X)", _NVF4, _NVF4),
    (".kind::mxf4nvf4", ".scale_vec(.block16,.block32)", _FAMILY, f"8.8+{_EXACT_TARGETS}"),
)
"""Kinds with block scaling, the vector sizes they take, and where their dense and sparse forms exist."""


def _scaled_forms(name: str, sparse: str) -> tuple[str, ...]:
    return tuple(
        f"{name}.cta_group.kind({kind}).block_scale{vector}{{.collector}} [taddr], {a}, b_desc{sparse},"
        f" idesc, [scale_a], [scale_b], scale_d @{in_sparse if sparse else in_dense}"
        for kind, vector, in_dense, in_sparse in _VECTORS
        for a in ("a_desc", "[a_taddr]")
    )


def _ws_forms(name: str, sparse: str) -> tuple[str, ...]:
    return tuple(
        f"{name}.cta_group(.cta_group::1).kind({kinds}){{.ws_collector}} [taddr], {a}, b_desc{sparse}, idesc,"
        f" scale_d{{, zero_columns}} @{since}"
        for kinds, scale, since in _KINDS
        if not scale
        for a in ("a_desc", "[a_taddr]")
    )


def _multiplication(name: str, op: Op, section: str, forms: tuple[str, ...]) -> Row:
    return Row(
        name,
        op,
        section,
        forms,
        slots={**_MMA_SLOTS, "cta_group": _GROUP},
        operands=_OPERANDS,
        traits=_MMA,
        limits={"scale_input_d": "0..15"},
    )


_SP = ", [metadata]"
_MULTIPLICATIONS = (
    _multiplication(
        "tcgen05.mma",
        Op.TCGEN05_MMA,
        "9.7.17.10.9.1",
        (*_plain_forms("tcgen05.mma", ""), *_scaled_forms("tcgen05.mma", "")),
    ),
    _multiplication(
        "tcgen05.mma.sp",
        Op.TCGEN05_MMA_SP,
        "9.7.17.10.9.2",
        (*_plain_forms("tcgen05.mma.sp", _SP), *_scaled_forms("tcgen05.mma.sp", _SP)),
    ),
    _multiplication("tcgen05.mma.ws", Op.TCGEN05_MMA_WS, "9.7.17.10.9.3", _ws_forms("tcgen05.mma.ws", "")),
    _multiplication(
        "tcgen05.mma.ws.sp", Op.TCGEN05_MMA_WS_SP, "9.7.17.10.9.4", _ws_forms("tcgen05.mma.ws.sp", _SP)
    ),
)

ROWS = (*_ALLOCATION, *_MOVES, *_COPIES, *_MULTIPLICATIONS)
