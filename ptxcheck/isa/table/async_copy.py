"""PTX ISA 9.3, 9.7.9.26: asynchronous copies, their groups, prefetches and bulk priorities.

Operands that analyses ask for: `dst` and `src` (their spaces are the slots `dst_space` and
`src_space`), `size` in bytes, `mbar` the mbarrier that counts them, `mask` the CTAs of a multicast, `cache_policy`,
`byte_mask` of `.cp_mask`, `left` and `right` of `.ignore_oob`, `n` the groups that may stay open. Tensor copies
have `tensor_map` with its further part `coords` in the same brackets, and `im2col` offsets; what replaces
fields of the tensor map is `global_address`, `dims`, `strides` and `inner_stride`. The `src_size` of
`cp.async` may also be a predicate, which then says to ignore the source.
"""

from __future__ import annotations

from ...op import Op
from ...spec import Trait
from ..row import Row

_COPY = frozenset({Trait.ASYNC, Trait.ASYNC_PROXY_READ, Trait.ASYNC_PROXY_WRITE})
_TENSOR = _COPY | {Trait.TENSORMAP_PROXY_READ}
_HINT = frozenset({Trait.ASYNC, Trait.TENSORMAP_PROXY_READ})

_CACHE = ".L2::cache_hint"
_BULK_SLOTS = {
    "completion": ".mbarrier::complete_tx::bytes",
    "multicast": ".multicast::cluster .multicast::cluster::32b@9.4+sm_107f",
    "cache_hint": _CACHE,
    "report": ".mbarrier::report::disabled .mbarrier::report::validity::per_16bytes::80000000"
    " .mbarrier::report::validity::per_16bytes::8000 .mbarrier::report::validity::per_16bytes::80"
    " .mbarrier::report::validity::per_16bytes::8 .mbarrier::report::validity::per_element::ff",
    "sem": ".relaxed",
    "scope": ".cta .cluster .gpu .sys",
}
_SPACES = {"dst": "addr in dst_space", "src": "addr in src_space", "mbar": "addr in .shared"}
_BULK_OPERANDS = {**_SPACES, "size": ".u32", "mask": ".b16", "cache_policy": ".b64", "byte_mask": ".b16"}
_BULK_SIZE = {"size": "0..1048560 step 16"}

_NON_BULK = (
    Row(
        "cp.async",
        Op.CP_ASYNC,
        "9.7.9.26.3.1",
        (
            "cp.async.cop.dst_space.src_space{.cache_hint}{.prefetch} [dst], [src], size{, src_size}"
            "{, cache_policy}@cache_hint",
        ),
        since="7.0+sm_80",
        slots={
            "cop": ".ca .cg",
            "dst_space": ".shared .shared::cta@7.8",
            "src_space": ".global",
            "cache_hint": ".L2::cache_hint@7.4",
            "prefetch": ".L2::64B@7.4 .L2::128B@7.4 .L2::256B@7.4",
        },
        operands={
            "dst": "addr in dst_space",
            "src": "addr in src_space",
            "size": "imm",
            "src_size": "any",
            "cache_policy": ".b64",
        },
        traits=frozenset({Trait.ASYNC}),
        limits={"size": "4, 8, 16", "src_size": "0..16"},
    ),
    Row(
        "cp.async.commit_group",
        Op.CP_ASYNC_COMMIT_GROUP,
        "9.7.9.26.3.2",
        ("cp.async.commit_group",),
        since="7.0+sm_80",
        traits=frozenset({Trait.COMMIT}),
    ),
    Row(
        "cp.async.wait_group",
        Op.CP_ASYNC_WAIT_GROUP,
        "9.7.9.26.3.3",
        ("cp.async.wait_group n",),
        since="7.0+sm_80",
        operands={"n": "imm"},
        traits=frozenset({Trait.WAIT}),
    ),
    Row(
        "cp.async.wait_all",
        Op.CP_ASYNC_WAIT_ALL,
        "9.7.9.26.3.3",
        ("cp.async.wait_all",),
        since="7.0+sm_80",
        traits=frozenset({Trait.COMMIT, Trait.WAIT}),
    ),
)

_BULK = (
    Row(
        "cp.async.bulk",
        Op.CP_ASYNC_BULK,
        "9.7.9.26.4.1",
        (
            "cp.async.bulk.dst_space(.shared::cluster).src_space(.global).completion{.multicast}{.cache_hint}"
            " [dst], [src], size, [mbar]{, mask}@multicast{, cache_policy}@cache_hint",
            "cp.async.bulk.dst_space(.shared::cta).src_space(.global).completion{.cache_hint}"
            " [dst], [src], size, [mbar]{, cache_policy}@cache_hint @8.6+sm_90",
            "cp.async.bulk.dst_space(.shared::cta).src_space(.global).completion.ignore_oob{.cache_hint}"
            " [dst], [src], size, left, right, [mbar]{, cache_policy}@cache_hint @9.2+sm_90",
            "cp.async.bulk.dst_space(.shared::cluster).src_space(.shared::cta).completion"
            " [dst], [src], size, [mbar]",
            "cp.async.bulk.dst_space(.global).src_space(.shared::cta).bulk_group{.cache_hint}{.cp_mask}"
            " [dst], [src], size{, cache_policy}@cache_hint{, byte_mask}@cp_mask",
        ),
        since="8.0+sm_90",
        slots={**_BULK_SLOTS, "cp_mask": ".cp_mask@8.6+sm_100"},
        operands=_BULK_OPERANDS | {"left": ".u32", "right": ".u32"},
        traits=_COPY,
        limits=_BULK_SIZE | {"left": "0..15", "right": "0..15"},
    ),
    Row(
        "cp.async.bulk.prefetch",
        Op.CP_ASYNC_BULK_PREFETCH,
        "9.7.9.26.4.3",
        ("cp.async.bulk.prefetch.L2.src_space{.cache_hint} [src], size{, cache_policy}@cache_hint",),
        since="8.0+sm_90",
        slots={"src_space": ".global", "cache_hint": _CACHE},
        operands={"src": "addr in src_space", "size": ".u32", "cache_policy": ".b64"},
        traits=frozenset({Trait.ASYNC}),
        limits=_BULK_SIZE,
    ),
    Row(
        "cp.async.bulk.commit_group",
        Op.CP_ASYNC_BULK_COMMIT_GROUP,
        "9.7.9.26.6.1",
        ("cp.async.bulk.commit_group",),
        since="8.0+sm_90",
        traits=frozenset({Trait.COMMIT}),
    ),
    Row(
        "cp.async.bulk.wait_group",
        Op.CP_ASYNC_BULK_WAIT_GROUP,
        "9.7.9.26.6.2",
        ("cp.async.bulk.wait_group{.read} n",),
        since="8.0+sm_90",
        operands={"n": "imm"},
        traits=frozenset({Trait.WAIT}),
    ),
)


def _reduce(*forms: str) -> Row:
    """Return the bulk reductions of one direction: each form says which operations take which types."""
    return Row(
        "cp.reduce.async.bulk",
        Op.CP_REDUCE_ASYNC_BULK,
        "9.7.9.26.4.2",
        forms,
        since="8.0+sm_90",
        slots={"completion": ".mbarrier::complete_tx::bytes", "cache_hint": _CACHE},
        operands=_BULK_OPERANDS,
        traits=_COPY,
        limits=_BULK_SIZE,
    )


_TO_CLUSTER = "cp.reduce.async.bulk.dst_space(.shared::cluster).src_space(.shared::cta).completion"
_TO_GLOBAL = "cp.reduce.async.bulk.dst_space(.global).src_space(.shared::cta).bulk_group{.cache_hint}"
_CLUSTER_OPERANDS = "[dst], [src], size, [mbar]"
_GLOBAL_OPERANDS = "[dst], [src], size{, cache_policy}@cache_hint"

_REDUCTIONS = (
    _reduce(
        f"{_TO_CLUSTER}.op(.and,.or,.xor).type(.b32) {_CLUSTER_OPERANDS}",
        f"{_TO_CLUSTER}.op(.add).type(.u32,.s32,.u64) {_CLUSTER_OPERANDS}",
        f"{_TO_CLUSTER}.op(.min,.max).type(.u32,.s32) {_CLUSTER_OPERANDS}",
        f"{_TO_CLUSTER}.op(.inc,.dec).type(.u32) {_CLUSTER_OPERANDS}",
    ),
    _reduce(
        f"{_TO_GLOBAL}.op(.and,.or,.xor).type(.b32,.b64) {_GLOBAL_OPERANDS}",
        f"{_TO_GLOBAL}.op(.add).type(.u32,.s32,.u64,.f32,.f64) {_GLOBAL_OPERANDS}",
        f"{_TO_GLOBAL}.op(.add).noftz.type(.f16,.bf16) {_GLOBAL_OPERANDS}",
        f"{_TO_GLOBAL}.op(.min,.max).type(.u32,.s32,.u64,.s64,.f16,.bf16) {_GLOBAL_OPERANDS}",
        f"{_TO_GLOBAL}.op(.inc,.dec).type(.u32) {_GLOBAL_OPERANDS}",
    ),
)

_DIMS = ".1d .2d .3d .4d .5d"
_IM2COL_DIMS = ".3d .4d .5d"
_CTA_GROUP = ".cta_group::1@8.6+sm_100a|sm_100f|sm_110f .cta_group::2@8.6+sm_100a|sm_100f|sm_110f"
_LOAD_TAIL = "{, mask}@multicast{, cache_policy}@cache_hint"
_GATHER_CLUSTER = "8.6+sm_100a|sm_100f|sm_110f"


def _load(mode: str, dims: str, coords: str, to_cluster: str, to_cta: str, im2col: str = "") -> Row:
    """Return the tensor loads of some modes, into the cluster or into the executing CTA."""
    offsets = ", im2col" if im2col else ""
    optional = "{" + mode + "}" if mode == ".mode(.tile)" else mode
    return Row(
        "cp.async.bulk.tensor",
        Op.CP_ASYNC_BULK_TENSOR,
        "9.7.9.26.5.2",
        (
            f"cp.async.bulk.tensor.dim.dst_space(.shared::cluster).src_space(.global){optional}.completion"
            f"{{.multicast}}{{.cta_group}}{{.cache_hint}} [dst], [tensor_map, coords], [mbar]{offsets}"
            f"{_LOAD_TAIL} @{to_cluster}",
            f"cp.async.bulk.tensor.dim.dst_space(.shared::cta).src_space(.global){optional}.completion"
            f"{{.cta_group}}{{.cache_hint}} [dst], [tensor_map, coords], [mbar]{offsets}"
            f"{{, cache_policy}}@cache_hint @{to_cta}",
        ),
        slots={**_BULK_SLOTS, "dim": dims, "cta_group": _CTA_GROUP},
        operands=_SPACES
        | {"coords": f".s32*{coords}", "im2col": f".u16*{im2col}", "mask": ".b16", "cache_policy": ".b64"},
        traits=_TENSOR,
    )


def _store(mode: str, dims: str, coords: str, since: str) -> Row:
    optional = "{" + mode + "}" if mode == ".mode(.tile)" else mode
    return Row(
        "cp.async.bulk.tensor",
        Op.CP_ASYNC_BULK_TENSOR,
        "9.7.9.26.5.2",
        (
            f"cp.async.bulk.tensor.dim.dst_space(.global).src_space(.shared::cta){optional}.bulk_group"
            "{.cache_hint} [tensor_map, coords], [src]{, cache_policy}@cache_hint",
        ),
        since=since,
        slots={"dim": dims, "cache_hint": _CACHE},
        operands={"src": "addr in src_space", "coords": f".s32*{coords}", "cache_policy": ".b64"},
        traits=_TENSOR,
    )


def _reduce_tensor(mode: str, dims: str, coords: str, since: str) -> Row:
    optional = "{" + mode + "}" if mode == ".mode(.tile)" else mode
    return Row(
        "cp.reduce.async.bulk.tensor",
        Op.CP_REDUCE_ASYNC_BULK_TENSOR,
        "9.7.9.26.5.3",
        (
            f"cp.reduce.async.bulk.tensor.dim.dst_space(.global).src_space(.shared::cta).op{optional}"
            ".bulk_group{.cache_hint} [tensor_map, coords], [src]{, cache_policy}@cache_hint",
        ),
        since=since,
        slots={"dim": dims, "cache_hint": _CACHE, "op": ".add .min .max .inc .dec .and .or .xor"},
        operands={"src": "addr in src_space", "coords": f".s32*{coords}", "cache_policy": ".b64"},
        traits=_TENSOR,
    )


def _prefetch_tensor(mode: str, dims: str, coords: str, since: str, im2col: str = "") -> Row:
    offsets = ", im2col" if im2col else ""
    optional = "{" + mode + "}" if mode == ".mode(.tile)" else mode
    return Row(
        "cp.async.bulk.prefetch.tensor",
        Op.CP_ASYNC_BULK_PREFETCH_TENSOR,
        "9.7.9.26.5.4",
        (
            f"cp.async.bulk.prefetch.tensor.dim.L2.src_space{optional}{{.cache_hint}} [tensor_map, coords]"
            f"{offsets}{{, cache_policy}}@cache_hint",
        ),
        since=since,
        slots={"dim": dims, "src_space": ".global", "cache_hint": _CACHE},
        operands={"coords": f".s32*{coords}", "im2col": f".u16*{im2col}", "cache_policy": ".b64"},
        traits=_HINT,
    )


_W = ".mode(.im2col::w,.im2col::w::128@8.6+sm_100a|sm_100f|sm_110f)"
_TENSOR_COPIES = (
    _load(".mode(.tile)", _DIMS, "dim", "8.0+sm_90", "8.6+sm_90"),
    _load(".mode(.tile::gather4)", ".2d", "5", _GATHER_CLUSTER, "8.6+sm_100"),
    _load(".mode(.im2col)", _IM2COL_DIMS, "dim", "8.0+sm_90", "8.6+sm_90", "dim-2"),
    _load(_W, _IM2COL_DIMS, "dim", _GATHER_CLUSTER, "8.6+sm_100", "2"),
    _store(".mode(.tile)", _DIMS, "dim", "8.0+sm_90"),
    _store(".mode(.tile::scatter4)", ".2d", "5", _GATHER_CLUSTER),
    _store(".mode(.im2col_no_offs)", _IM2COL_DIMS, "dim", "8.0+sm_90"),
    _reduce_tensor(".mode(.tile)", _DIMS, "dim", "8.0+sm_90"),
    _reduce_tensor(".mode(.im2col_no_offs)", _IM2COL_DIMS, "dim", "8.0+sm_90"),
    _prefetch_tensor(".mode(.tile)", _DIMS, "dim", "8.0+sm_90"),
    _prefetch_tensor(".mode(.tile::gather4)", ".2d", "5", _GATHER_CLUSTER),
    _prefetch_tensor(".mode(.im2col)", _IM2COL_DIMS, "dim", "8.0+sm_90", "dim-2"),
    _prefetch_tensor(_W, _IM2COL_DIMS, "dim", _GATHER_CLUSTER, "2"),
)

ROWS = (*_NON_BULK, *_BULK, *_REDUCTIONS, *_TENSOR_COPIES)
