"""What fences order (PTX ISA, "membar / fence").

A fence of the scope of a CTA orders nothing for other CTAs; wider scopes are not told apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...cfg.cfg import Cfg
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ...opcodes.spec import Operation
from .actions import Access, Action, Fence
from .lowering import Lower, Occurrence

_MAP_BYTES = 128
_PROXY_FENCES = frozenset({Op.FENCE_PROXY, Op.MEMBAR_PROXY})
_ASYNC_KINDS = frozenset({".async", ".async::generic"})


def _fence(occurrence: Occurrence) -> Iterator[Action]:
    releases = not occurrence.operation.has(Mod.ACQUIRE)
    acquires = not occurrence.operation.has(Mod.RELEASE)
    wide = occurrence.operation.slots.get("scope") != Mod.CTA
    yield Fence(occurrence.point, releases=releases, acquires=acquires, wide=wide)


def _proxy(occurrence: Occurrence) -> Iterator[Action]:
    if is_proxy_fence(occurrence.operation):
        yield Fence(
            occurrence.point,
            proxy=True,
            of_others=occurrence.operation.has(Mod.ACQUIRE),
            to_others=occurrence.operation.has(Mod.RELEASE),
            narrow=occurrence.operation.slots.get("space") == Mod.SHARED_CTA,
        )


def _mbarrier_init(occurrence: Occurrence) -> Iterator[Action]:
    yield Fence(occurrence.point, inits=True)


def _copy_tensor_map(occurrence: Occurrence) -> Iterator[Action]:
    """`tensormap.cp_fenceproxy` reads the map from shared memory as the warp."""
    if occurrence.has("src"):
        yield Access(occurrence.point, reads=occurrence.spans("src", _MAP_BYTES))


def is_proxy_fence(operation: Operation) -> bool:
    """Tell whether this orders generic and async accesses of shared memory: not if it is of global memory alone."""
    kind, space = operation.slots.get("kind"), operation.slots.get("space")
    return operation.op in _PROXY_FENCES and kind in _ASYNC_KINDS and space != Mod.GLOBAL


MEANINGS: Mapping[Op, Lower] = {
    Op.FENCE: _fence,
    Op.MEMBAR: _fence,
    Op.FENCE_PROXY: _proxy,
    Op.MEMBAR_PROXY: _proxy,
    Op.FENCE_MBARRIER_INIT: _mbarrier_init,
    Op.TENSORMAP_CP_FENCEPROXY: _copy_tensor_map,
}


def never_fences(cfg: Cfg) -> bool:
    """Tell whether no instruction is a proxy fence of shared memory."""
    return not any(is_proxy_fence(instruction.operation) for instruction in cfg.instructions)
