"""PTX ISA 9.3, 9.7.10: asynchronous operations on memory behind the fabric.

Operands that analyses ask for: the fabric handle in one pair of brackets, `endpoint` with further parts
`offset` and `counter` (or, for tensors, `tensor_map` and what follows it); `dst` or `src` in shared memory;
`size`; `mbar`; `member_mask`; `byte_mask`; `cache_policy`; `n` the groups that may stay open.
"""

from __future__ import annotations

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ..row import Row

_ASYNC = frozenset({Trait.ASYNC})
_READ = _ASYNC | {Trait.ASYNC_PROXY_READ}
_WRITE = _ASYNC | {Trait.ASYNC_PROXY_WRITE}
_CACHE = "{, cache_policy}@cache_hint"
_TAIL = ".report.sem.scope"

_SLOTS = {
    "space": ".shared::cta",
    "completion": ".mbarrier::complete_tx::bytes",
    "completion16": ".mbarrier::complete_tx::16B",
    "report": ".mbarrier::report::fabric",
    "sem": ".relaxed",
    "scope": ".sys",
    "counted": ".counted::bytes",
    "cp_mask": ".cp_mask",
    "cache_hint": ".L2::cache_hint",
    "mode": ".tile",
    "dim": ".1d .2d .3d .4d .5d",
}
_OPERANDS = {
    "dst": "addr in space",
    "src": "addr in space",
    "mbar": "addr in .shared",
    "operands": "addr in space",
    "size": ".u32",
    "endpoint": "addr .b32",
    "offset": ".b64",
    "counter": ".b64",
    "byte_mask": ".b16",
    "cache_policy": ".b64",
    "member_mask": "imm",
    "global_offset": ".b64",
    "dims": ".b16*dim",
    "strides": ".b32*dim-1",
    "upper_stride": ".b16",
    "coords": ".s32*dim",
}

_TENSOR_ADDRESSES = (
    (".override(.override::global_address)", "", "coords"),
    (".override(.override::global_address).fields(.override::global_dim)", "(.1d)", "dims, coords"),
    (
        ".override(.override::global_address).fields(.override::global_dim_stride)",
        "(.2d,.3d,.4d,.5d)",
        "dims, strides, upper_stride, coords",
    ),
)
"""How a tensor is addressed: modifiers, ranks, and what follows the tensor map, endpoint and offset."""

_BITS = ".op(.and,.or,.xor).type(.b32,.b64)"
_PUSHED = (
    _BITS,
    ".op(.min,.max).type(.u32,.s32,.u64,.s64,.f16,.bf16)",
    ".op(.add).type(.u32,.u64,.f16,.bf16,.f32,.f64)",
)
_PULLED = (
    (_BITS, ""),
    (".op(.min,.max).type(.u32,.s32,.u64,.s64,.f16,.bf16)", ""),
    (".op(.min,.max).type(.e4m3,.e5m2)", "9.3+sm_100a|sm_100f|sm_110f|sm_120f"),
    (".op(.add).type(.u32,.u64,.f16,.bf16,.f32)", ""),
    (".op(.add).acc(.acc::f16).type(.e4m3,.e5m2)", "9.3+sm_100a|sm_100f|sm_110f|sm_120f"),
    (".op(.add).acc(.acc::f32).type(.f16,.bf16)", "9.3+sm_100a|sm_100f|sm_110f|sm_120f"),
)
_SWAPPED = (
    (".op(.and,.or,.xor).type(.b32,.b64)"),
    (".op(.min,.max).type(.u32,.u64,.f16x2,.bf16x2)"),
    (".op(.add).type(.u32,.u64,.f32,.f64,.f16x2,.bf16x2)"),
    (".op(.exch,.cas).type(.b32,.b64,.b128)"),
)


def _row(name: str, traits: frozenset[Trait], *forms: str) -> Row:
    return Row(
        name,
        Op.FABRIC,
        "9.7.10.5",
        forms,
        since="9.3+sm_100",
        slots=_SLOTS,
        operands=_OPERANDS,
        traits=traits,
        limits={"size": "0..4294967280 step 16"},
    )


ROWS = (
    _row(
        "fabric.try_get.async",
        _WRITE,
        f"fabric.try_get.async.space.completion{_TAIL}.type(.b128) [dst], [endpoint, offset], size, [mbar]",
    ),
    _row(
        "fabric.try_get.async.tensor",
        _WRITE,
        *(
            f"fabric.try_get.async.tensor.dim{ranks}.space{{.mode}}.completion{override}{{.cache_hint}}{_TAIL}"
            f".type(.b128) [dst], [tensor_map, endpoint, offset, {rest}], [mbar]{_CACHE} @9.4+sm_107f"
            for override, ranks, rest in _TENSOR_ADDRESSES
        ),
    ),
    _row(
        "fabric.try_put.async",
        _READ,
        f"fabric.try_put.async{{.multimem}}.space.completion16{{.cp_mask}}{_TAIL}.type(.b128)"
        " [endpoint, offset], [src], size, [mbar]{, byte_mask}@cp_mask",
        f"fabric.try_put.async{{.multimem}}.space.completion16.counted{_TAIL}.type(.b128)"
        " [endpoint, offset, counter], [src], size, [mbar]",
    ),
    _row(
        "fabric.try_put.async.tensor",
        _READ,
        *(
            f"fabric.try_put.async.tensor.dim{ranks}{{.multimem}}.space{{.mode}}.completion16{counted}"
            f"{override}{{.cache_hint}}{_TAIL}.type(.b128) [tensor_map, endpoint, offset, {counter}{rest}],"
            f" [src], size, [mbar]{_CACHE} @9.4+sm_107f"
            for override, ranks, rest in _TENSOR_ADDRESSES
            for counted, counter in (("", ""), (".counted", "counter, "))
        ),
    ),
    _row(
        "fabric.try_red.async",
        _READ,
        *(
            f"fabric.try_red.async{{.multimem}}.space.completion16{counted}{_TAIL}{types}"
            f" [endpoint, offset{counter}], [src], size, [mbar]"
            for types in _PUSHED
            for counted, counter in (("", ""), (".counted", ", counter"))
        ),
    ),
    _row(
        "fabric.try_pullred.async",
        _WRITE | {Trait.COLLECTIVE},
        *(
            f"fabric.try_pullred.async.multimem.space.completion{_TAIL}{types}.sync [dst],"
            f" [endpoint, offset], size, [mbar], member_mask @{since}"
            for types, since in _PULLED
        ),
    ),
    _row(
        "fabric.try_atom.async",
        _READ | {Trait.ATOMIC},
        *(
            f"fabric.try_atom.async.space.completion16{_TAIL}{{.cache_hint}}{types} [endpoint, offset],"
            f" [dst], [operands], [mbar]{_CACHE} @9.4"
            for types in _SWAPPED
        ),
    ),
    _row(
        "fabric.submit",
        frozenset({Trait.COMMIT}),
        "fabric.submit",
        "fabric.submit.op_restrict(.op_restrict::fetching)",
        "fabric.submit.commit_group @9.5",
    ),
    Row(
        "fabric.wait",
        Op.FABRIC,
        "9.7.10.5",
        (
            "fabric.wait.restrict(.sync_restrict::reads)",
            "fabric.wait.restrict(.sync_restrict::read) n @9.5",
        ),
        since="9.3+sm_100",
        operands={"n": "imm"},
        traits=frozenset({Trait.WAIT}),
    ),
)
