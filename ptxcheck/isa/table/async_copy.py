"""PTX ISA 9.3, 9.7.9.26: asynchronous copies, their groups, prefetches and bulk priorities.

Operands that analyses ask for: `dst` and `src` (their spaces are the slots `dst_space` and
`src_space`), `size` in bytes, `mbar` the mbarrier that counts them, `mask` the CTAs of a multicast,
`cache_policy`, `byte_mask` of `.cp_mask`, `left` and `right` of `.ignore_oob`, `n` the groups that may stay
open. Tensor copies have `tensor_map`, whose last further part in the same brackets is `coords`, and `im2col`
offsets; what replaces fields of the tensor map is `global_address`, `dims`, `strides` and `upper_stride`. The
`src_size` of `cp.async` may also be a predicate, which then says to ignore the source.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

_COPY = frozenset({Trait.ASYNC, Trait.ASYNC_PROXY_READ, Trait.ASYNC_PROXY_WRITE})
_TENSOR = _COPY | {Trait.TENSORMAP_PROXY_READ}
_HINT = frozenset({Trait.ASYNC, Trait.TENSORMAP_PROXY_READ})

_SLOTS = {
    "completion": ".mbarrier::complete_tx::bytes",
    "multicast": ".multicast::cluster",
    "multicast32": ".multicast::cluster::32b@9.4+sm_107f",
    "cache_hint": ".L2::cache_hint",
    "evict": ".L2::evict_last",
    "cp_mask": ".cp_mask@8.6+sm_100",
    "weak": ".weak@9.3",
    "report": ".mbarrier::report::disabled .mbarrier::report::validity::per_16bytes::80000000"
    " .mbarrier::report::validity::per_16bytes::8000 .mbarrier::report::validity::per_16bytes::80"
    " .mbarrier::report::validity::per_16bytes::8 .mbarrier::report::validity::per_element::ff",
    "scope": ".cta .cluster .gpu .sys",
}
_OPERANDS = {
    "dst": "addr in dst_space",
    "src": "addr in src_space",
    "mbar": "addr in .shared",
    "size": ".u32",
    "left": ".u32",
    "right": ".u32",
    "mask": ".b16",
    "mask32": ".b32",
    "cache_policy": ".b64",
    "byte_mask": ".b16",
    "global_address": ".b64",
    "dims": ".b16*dim",
    "strides": ".b32*dim-1",
    "upper_stride": ".b16",
}
_SIZE = {"size": "0..1048560 step 16", "left": "0..15", "right": "0..15"}
_CACHE = "{, cache_policy}@cache_hint"
_RELAXED = ".sem(.relaxed).scope.type(.b128)"

_NON_BULK = (
    Row(
        "cp.async",
        Op.CP_ASYNC,
        "9.7.9.26.3.1",
        (
            f"cp.async.cop(.ca).dst_space.src_space{{.cache_hint}}{{.prefetch}} [dst], [src], size=any_size"
            f"{{, src_size}}{_CACHE}",
            f"cp.async.cop(.cg).dst_space.src_space{{.cache_hint}}{{.prefetch}} [dst], [src], size=full_size"
            f"{{, src_size}}{_CACHE}",
        ),
        since="7.0+sm_80",
        slots={
            "dst_space": ".shared .shared::cta@7.8",
            "src_space": ".global",
            "cache_hint": ".L2::cache_hint@7.4",
            "prefetch": ".L2::64B@7.4 .L2::128B@7.4 .L2::256B@7.4",
        },
        operands={
            "dst": "addr in dst_space",
            "src": "addr in src_space",
            "any_size": "imm",
            "full_size": "imm",
            "src_size": "any",
            "cache_policy": ".b64",
        },
        traits=frozenset({Trait.ASYNC}),
        limits={"any_size": "4, 8, 16", "full_size": "16", "src_size": "0..16"},
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


def _bulk(
    spaces: str, middle: str, operands: str, plain: str, relaxed: str, scopes: str = ""
) -> tuple[str, ...]:
    """Return a bulk copy in its weak form and in the relaxed one that names a scope."""
    order = _RELAXED.replace(".scope", f".scope({scopes})") if scopes else _RELAXED
    return (
        f"cp.async.bulk{{.weak}}{spaces}{middle} {operands} @{plain}",
        f"cp.async.bulk{order}{spaces}{middle} {operands} @{relaxed}",
    )


_TO_CLUSTER = ".dst_space(.shared::cluster).src_space(.global)"
_TO_CTA = ".dst_space(.shared::cta).src_space(.global)"
_TO_PEER = ".dst_space(.shared::cluster).src_space(.shared::cta)"
_TO_GLOBAL = ".dst_space(.global).src_space(.shared::cta)"
_STRONG = "9.3+sm_90a|sm_100f|sm_110f"

_BULK = (
    Row(
        "cp.async.bulk",
        Op.CP_ASYNC_BULK,
        "9.7.9.26.4.1",
        (
            *_bulk(
                _TO_CLUSTER,
                ".completion{.multicast}{.cache_hint}",
                f"[dst], [src], size, [mbar]{{, mask}}@multicast{_CACHE}",
                "8.0+sm_90",
                _STRONG,
            ),
            *_bulk(
                _TO_CLUSTER,
                ".completion{.multicast}{.cache_hint}.report",
                f"[dst], [src], size, [mbar]{{, mask}}@multicast{_CACHE}",
                "9.4+sm_107f",
                "9.4+sm_107f",
            ),
            *_bulk(
                _TO_CLUSTER,
                ".completion.multicast32{.cache_hint}{.report}",
                f"[dst], [src], size, [mbar], mask=mask32{_CACHE}",
                "9.4+sm_107f",
                "9.4+sm_107f",
            ),
            *_bulk(
                _TO_CTA,
                ".completion{.cache_hint}",
                f"[dst], [src], size, [mbar]{_CACHE}",
                "8.6+sm_90",
                "9.3+sm_90",
            ),
            *_bulk(
                _TO_CTA,
                ".completion{.cache_hint}.report",
                f"[dst], [src], size, [mbar]{_CACHE}",
                "9.4+sm_107f",
                "9.4+sm_107f",
            ),
            *_bulk(
                _TO_CTA,
                ".completion.ignore_oob{.cache_hint}",
                f"[dst], [src], size, left, right, [mbar]{_CACHE}",
                "9.2+sm_90",
                "9.3+sm_90",
            ),
            *_bulk(
                _TO_CTA,
                ".completion.ignore_oob{.cache_hint}.report",
                f"[dst], [src], size, left, right, [mbar]{_CACHE}",
                "9.4+sm_107f",
                "9.4+sm_107f",
            ),
            *_bulk(
                _TO_PEER,
                ".completion",
                "[dst], [src], size, [mbar]",
                "8.0+sm_90",
                "9.3+sm_90",
                ".cta,.cluster",
            ),
            *_bulk(
                _TO_GLOBAL,
                ".bulk_group{.cache_hint}{.cp_mask}",
                f"[dst], [src], size{_CACHE}{{, byte_mask}}@cp_mask",
                "8.0+sm_90",
                "9.3+sm_90",
            ),
        ),
        slots=_SLOTS,
        operands=_OPERANDS,
        traits=_COPY,
        limits=_SIZE,
    ),
    Row(
        "multimem.cp.async.bulk",
        Op.MULTIMEM_CP_ASYNC_BULK,
        "9.7.9.26.4.4",
        (
            f"multimem.cp.async.bulk{{.weak}}{_TO_GLOBAL}.bulk_group{{.cp_mask}} [dst], [src], size"
            "{, byte_mask}@cp_mask",
            f"multimem.cp.async.bulk{_RELAXED}{_TO_GLOBAL}.bulk_group{{.cp_mask}} [dst], [src], size"
            "{, byte_mask}@cp_mask @9.3",
        ),
        since="9.1+sm_90",
        slots=_SLOTS,
        operands=_OPERANDS,
        traits=_COPY,
        limits=_SIZE,
    ),
    Row(
        "cp.async.bulk.prefetch",
        Op.CP_ASYNC_BULK_PREFETCH,
        "9.7.9.26.4.3",
        (
            f"cp.async.bulk.prefetch.L2.src_space{{.cache_hint}} [src], size{_CACHE}",
            "cp.async.bulk.prefetch.L2.src_space.evict [src], size @9.4+sm_107f",
        ),
        since="8.0+sm_90",
        slots={**_SLOTS, "src_space": ".global"},
        operands=_OPERANDS,
        traits=frozenset({Trait.ASYNC}),
        limits=_SIZE,
    ),
    Row(
        "applypriority.async.bulk",
        Op.APPLYPRIORITY_ASYNC_BULK,
        "9.7.9.17",
        ("applypriority.async.bulk.src_space.bulk_group.priority [src], size",),
        since="9.4+sm_107f",
        slots={"src_space": ".global", "priority": ".L2::evict_normal"},
        operands=_OPERANDS,
        traits=frozenset({Trait.ASYNC}),
        limits=_SIZE,
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
        (
            "cp.async.bulk.wait_group{.read} n",
            "cp.async.bulk.wait_group.restrict(.sync_restrict::proxy::async) n @9.5",
        ),
        since="8.0+sm_90",
        operands={"n": "imm"},
        traits=frozenset({Trait.WAIT}),
    ),
)


def _reductions(name: str, op: Op, since: str, head: str, types: tuple[str, ...], tail: str) -> Row:
    """Return the bulk reductions of one direction; `types` says which operations take which types."""
    return Row(
        name,
        op,
        "9.7.9.26.4.2",
        tuple(f"{name}{{.sem(.relaxed@9.3).scope}}{head}{one} {tail}" for one in types),
        since=since,
        slots=_SLOTS,
        operands=_OPERANDS,
        traits=_COPY,
        limits=_SIZE,
    )


_GLOBAL_TYPES = (
    ".op(.and,.or,.xor).type(.b32,.b64)",
    ".op(.add).type(.u32,.s32,.u64,.f32,.f64)",
    ".op(.add).noftz.type(.f16,.bf16,.f32@9.4)",
    ".op(.min,.max).type(.u32,.s32,.u64,.s64,.f16,.bf16)",
    ".op(.inc,.dec).type(.u32)",
)
_CLUSTER_TYPES = (
    ".op(.and,.or,.xor).type(.b32)",
    ".op(.add).type(.u32,.s32,.u64)",
    ".op(.min,.max).type(.u32,.s32)",
    ".op(.inc,.dec).type(.u32)",
)

_REDUCTIONS = (
    _reductions(
        "cp.reduce.async.bulk",
        Op.CP_REDUCE_ASYNC_BULK,
        "8.0+sm_90",
        f"{_TO_PEER}.completion",
        _CLUSTER_TYPES,
        "[dst], [src], size, [mbar]",
    ),
    _reductions(
        "cp.reduce.async.bulk",
        Op.CP_REDUCE_ASYNC_BULK,
        "8.0+sm_90",
        f"{_TO_GLOBAL}.bulk_group{{.cache_hint}}",
        _GLOBAL_TYPES,
        f"[dst], [src], size{_CACHE}",
    ),
    _reductions(
        "multimem.cp.reduce.async.bulk",
        Op.MULTIMEM_CP_REDUCE_ASYNC_BULK,
        "9.1+sm_90",
        f"{_TO_GLOBAL}.bulk_group",
        _GLOBAL_TYPES,
        "[dst], [src], size",
    ),
)

_DIMS = ".1d .2d .3d .4d .5d"
_IM2COL_DIMS = ".3d .4d .5d"
_PAIRS = "8.6+sm_100a|sm_100f|sm_110f"
_NEXT = "9.4+sm_107f"
_CTA_GROUP = f".cta_group::1@{_PAIRS} .cta_group::2@{_PAIRS}"
_REDUCE_OPS = ".add .min .max .inc .dec .and .or .xor"
_OVERRIDES = (
    ("", "dim", "[tensor_map, coords]", ""),
    (".override(.override::global_address)", "dim", "[tensor_map, global_address, coords]", _NEXT),
    (
        ".override(.override::global_address).fields(.override::global_dim)",
        "dim(.1d)",
        "[tensor_map, global_address, dims, coords]",
        _NEXT,
    ),
    (
        ".override(.override::global_address).fields(.override::global_dim_stride)",
        "dim(.2d,.3d,.4d,.5d)",
        "[tensor_map, global_address, dims, strides, upper_stride, coords]",
        _NEXT,
    ),
)


@dataclass(frozen=True, slots=True)
class _Mode:
    """A tensor access mode: its modifier, ranks, number of coordinates and of im2col offsets."""

    text: str
    dims: str
    coords: str
    offsets: str = ""

    @property
    def is_tile(self) -> bool:
        return self.text == "{.mode(.tile)}"

    def forms(self, head: str, tail: str, since: str) -> tuple[str, ...]:
        """Return the syntax lines of `head`, in which DIM, MODE and MAP stand for what varies.

        Tiles let the operands replace the address, extents and strides of the tensor map; other modes only
        its address.
        """
        variants = _OVERRIDES if self.is_tile else _OVERRIDES[:2]
        offsets = ", im2col" if self.offsets else ""
        return tuple(
            f"{head.replace('DIM', dim).replace('MODE', self.text)}{override} "
            f"{tail.replace('MAP', operands).replace('OFFSETS', offsets)} @{later or since}"
            for override, dim, operands, later in variants
        )

    def row(self, name: str, op: Op, section: str, forms: tuple[str, ...], traits: frozenset[Trait]) -> Row:
        return Row(
            name,
            op,
            section,
            forms,
            slots={**_SLOTS, "dim": self.dims, "cta_group": _CTA_GROUP, "op": _REDUCE_OPS},
            operands={**_OPERANDS, "coords": f".s32*{self.coords}", "im2col": f".u16*{self.offsets or 1}"},
            traits=traits,
        )

    def loads(self, to_cluster: str, to_cta: str) -> Row:
        cluster = f"cp.async.bulk.tensor.DIM{_TO_CLUSTER}MODE.completion"
        cta = f"cp.async.bulk.tensor.DIM{_TO_CTA}MODE.completion"
        into = "[dst], MAP, [mbar]OFFSETS"
        return self.row(
            "cp.async.bulk.tensor",
            Op.CP_ASYNC_BULK_TENSOR,
            "9.7.9.26.5.2",
            (
                *self.forms(
                    f"{cluster}{{.multicast}}{{.cta_group}}{{.cache_hint}}",
                    f"{into}{{, mask}}@multicast{_CACHE}",
                    to_cluster,
                ),
                *self.forms(
                    f"{cluster}{{.multicast}}{{.cta_group}}{{.cache_hint}}.report",
                    f"{into}{{, mask}}@multicast{_CACHE}",
                    _NEXT,
                ),
                *self.forms(
                    f"{cluster}.multicast32{{.cta_group}}{{.cache_hint}}{{.report}}",
                    f"{into}, mask=mask32{_CACHE}",
                    _NEXT,
                ),
                *self.forms(f"{cta}{{.cta_group}}{{.cache_hint}}", f"{into}{_CACHE}", to_cta),
                *self.forms(f"{cta}{{.cta_group}}{{.cache_hint}}.report", f"{into}{_CACHE}", _NEXT),
            ),
            _TENSOR,
        )

    def stores(self, since: str) -> Row:
        return self.row(
            "cp.async.bulk.tensor",
            Op.CP_ASYNC_BULK_TENSOR,
            "9.7.9.26.5.2",
            self.forms(
                f"cp.async.bulk.tensor.DIM{_TO_GLOBAL}MODE.bulk_group{{.cache_hint}}",
                f"MAP, [src]{_CACHE}",
                since,
            ),
            _TENSOR,
        )

    def reductions(self, since: str) -> Row:
        return self.row(
            "cp.reduce.async.bulk.tensor",
            Op.CP_REDUCE_ASYNC_BULK_TENSOR,
            "9.7.9.26.5.3",
            self.forms(
                f"cp.reduce.async.bulk.tensor.DIM{_TO_GLOBAL}.opMODE.bulk_group{{.cache_hint}}",
                f"MAP, [src]{_CACHE}",
                since,
            ),
            _TENSOR,
        )

    def prefetches(self, since: str) -> Row:
        head = "cp.async.bulk.prefetch.tensor.DIM.L2.src_space(.global)MODE"
        return self.row(
            "cp.async.bulk.prefetch.tensor",
            Op.CP_ASYNC_BULK_PREFETCH_TENSOR,
            "9.7.9.26.5.4",
            (
                *self.forms(f"{head}{{.cache_hint}}", f"MAPOFFSETS{_CACHE}", since),
                *self.forms(f"{head}.evict", "MAPOFFSETS", _NEXT),
            ),
            _HINT,
        )

    def priorities(self) -> Row:
        return self.row(
            "applypriority.async.bulk.tensor",
            Op.APPLYPRIORITY_ASYNC_BULK,
            "9.7.9.17",
            self.forms(
                "applypriority.async.bulk.tensor.DIM.src_space(.global)MODE.bulk_group"
                ".priority(.L2::evict_normal)",
                "MAPOFFSETS",
                _NEXT,
            ),
            _HINT,
        )


_TILE = _Mode("{.mode(.tile)}", _DIMS, "dim")
_GATHER = _Mode(".mode(.tile::gather4)", ".2d", "5")
_SCATTER = _Mode(".mode(.tile::scatter4)", ".2d", "5")
_IM2COL = _Mode(".mode(.im2col)", _IM2COL_DIMS, "dim", "dim-2")
_IM2COL_W = _Mode(f".mode(.im2col::w,.im2col::w::128@{_PAIRS})", _IM2COL_DIMS, "dim", "2")
_NO_OFFSETS = _Mode(f".mode(.im2col_no_offs,.im2col_no_offs::w@{_NEXT})", _IM2COL_DIMS, "dim")

_TENSOR_COPIES = (
    _TILE.loads("8.0+sm_90", "8.6+sm_90"),
    _GATHER.loads(_PAIRS, "8.6+sm_100"),
    _IM2COL.loads("8.0+sm_90", "8.6+sm_90"),
    _IM2COL_W.loads(_PAIRS, "8.6+sm_100"),
    _TILE.stores("8.0+sm_90"),
    _SCATTER.stores(_PAIRS),
    _NO_OFFSETS.stores("8.0+sm_90"),
    _TILE.reductions("8.0+sm_90"),
    _SCATTER.reductions(_PAIRS),
    _NO_OFFSETS.reductions("8.0+sm_90"),
    _TILE.prefetches("8.0+sm_90"),
    _GATHER.prefetches(_PAIRS),
    _IM2COL.prefetches("8.0+sm_90"),
    _IM2COL_W.prefetches(_PAIRS),
    _TILE.priorities(),
    _GATHER.priorities(),
    _IM2COL.priorities(),
    _IM2COL_W.priorities(),
)

ROWS = (*_NON_BULK, *_BULK, *_REDUCTIONS, *_TENSOR_COPIES)
