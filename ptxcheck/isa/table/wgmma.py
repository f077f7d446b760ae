"""PTX ISA 9.3, 9.7.16: asynchronous matrix multiplication of a warpgroup.

Operands that analyses ask for: `d` the accumulators (read and written); `a` the fragment of A in registers or
`a_desc` its descriptor; `b_desc`; `scale_d` the predicate that keeps the accumulators; `scale_a`, `scale_b`,
`trans_a`, `trans_b`; `metadata` and `selector` of sparse forms; `n` the groups that may stay open.

The manual always writes `.aligned`; ptxas takes the instructions without it, too.
"""

from __future__ import annotations

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

_SYNC = frozenset({Trait.WARPGROUP, Trait.COLLECTIVE, Trait.ALIGNED})
_MMA = _SYNC | {Trait.ASYNC, Trait.ASYNC_PROXY_READ, Trait.MATRIX}
_SINCE = "8.0+sm_90a"

_FLOAT_N = tuple(range(8, 257, 8))
_INTEGER_N = (8, 16, 24, 32, *range(48, 257, 16))


def _shapes(columns: tuple[int, ...], k: int) -> str:
    return " ".join(f".m64n{n}k{k}" for n in columns)


def _rows(
    types: str, d: str, columns: tuple[int, ...], k: int, scales: str, transposes: bool, since: str = "8.0"
) -> tuple[Row, Row]:
    """Return the dense and the sparse row of one combination of types.

    `scales` is the part of the operands that scales A and B, which integer forms do not have.
    """
    both = f"{scales}, trans_a, trans_b" if transposes else scales
    only_b = f"{scales}, trans_b" if transposes else scales
    operands = {
        "d": f"rw {d}",
        "a": "vec .b32*4",
        "a_desc": ".b64",
        "b_desc": ".b64",
        "metadata": ".b32",
        "selector": "imm",
        "scale_d": "pred",
        "scale_a": "imm",
        "scale_b": "imm",
        "trans_a": "imm",
        "trans_b": "imm",
    }
    limits = {"scale_d": "0, 1", "scale_a": "-1, 1", "scale_b": "-1, 1", "trans_a": "0, 1", "trans_b": "0, 1"}

    def row(sp: str, op: Op, section: str, depth: int, sparse: str, since: str) -> Row:
        head = f"wgmma.mma_async{sp}.sync{{.aligned}}.shape{types}"
        return Row(
            "wgmma.mma_async",
            op,
            section,
            (
                f"{head} d, a, b_desc{sparse}, scale_d{only_b} @{since}",
                f"{head} d, a_desc, b_desc{sparse}, scale_d{both} @{since}",
            ),
            since=_SINCE,
            slots={"shape": _shapes(columns, depth)},
            operands=operands,
            traits=_MMA,
            limits=limits,
        )

    return (
        row("", Op.WGMMA_MMA_ASYNC, "9.7.16.5.2", k, "", since),
        row(".sp", Op.WGMMA_MMA_ASYNC_SP, "9.7.16.6.3", 2 * k, ", metadata, selector", max(since, "8.2")),
    )


_SCALES = ", scale_a, scale_b"
_HALF = ".b32*shape.n/4"
_SINGLE = ".f32*shape.n/2"
_INTEGER = ".s32*shape.n/2"
_FP8 = ".atype(.e4m3,.e5m2).btype(.e4m3,.e5m2)"

ROWS = (
    *_rows(".dtype(.f16).atype(.f16).btype(.f16)", _HALF, _FLOAT_N, 16, _SCALES, True),
    *_rows(".dtype(.f32).atype(.f16).btype(.f16)", _SINGLE, _FLOAT_N, 16, _SCALES, True),
    *_rows(".dtype(.f32).atype(.bf16).btype(.bf16)", _SINGLE, _FLOAT_N, 16, _SCALES, True),
    *_rows(".dtype(.f32).atype(.tf32).btype(.tf32)", _SINGLE, _FLOAT_N, 8, _SCALES, False),
    *_rows(f".dtype(.f16){_FP8}", _HALF, _FLOAT_N, 32, _SCALES, False),
    *_rows(f".dtype(.f32){_FP8}", _SINGLE, _FLOAT_N, 32, _SCALES, False),
    *_rows("{.satfinite}.dtype(.s32).atype(.s8).btype(.s8)", _INTEGER, _INTEGER_N, 32, "", False),
    *_rows("{.satfinite}.dtype(.s32).atype(.u8).btype(.u8)", _INTEGER, _INTEGER_N, 32, "", False),
    *_rows("{.satfinite}.dtype(.s32).atype(.s8).btype(.u8)", _INTEGER, _INTEGER_N, 32, "", False, "8.4"),
    *_rows("{.satfinite}.dtype(.s32).atype(.u8).btype(.s8)", _INTEGER, _INTEGER_N, 32, "", False, "8.4"),
    _rows(".dtype(.s32).atype(.b1).btype(.b1).and.popc", _INTEGER, _INTEGER_N, 256, "", False)[0],
    Row(
        "wgmma.fence",
        Op.WGMMA_FENCE,
        "9.7.16.7.1",
        ("wgmma.fence.sync{.aligned}",),
        since=_SINCE,
        traits=_SYNC | {Trait.FENCE},
    ),
    Row(
        "wgmma.commit_group",
        Op.WGMMA_COMMIT_GROUP,
        "9.7.16.7.2",
        ("wgmma.commit_group.sync{.aligned}",),
        since=_SINCE,
        traits=_SYNC | {Trait.COMMIT},
    ),
    Row(
        "wgmma.wait_group",
        Op.WGMMA_WAIT_GROUP,
        "9.7.16.7.3",
        ("wgmma.wait_group.sync{.aligned} n",),
        since=_SINCE,
        operands={"n": "imm"},
        traits=_SYNC | {Trait.WAIT},
        limits={"n": "0..4294967295"},
    ),
)
