"""What fences order (PTX ISA, "membar / fence").

Scopes are not told apart: released kernels hand buffers to other CTAs with the default scope.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..isa.modifier import Mod
from ..op import Op
from .actions import Access, Action, Fence
from .lowering import Lower, Occurrence

_MAP_BYTES = 128
_ASYNC_KINDS = frozenset({".async", ".async::generic"})


def _fence(occurrence: Occurrence) -> Iterator[Action]:
    releases = not occurrence.operation.has(Mod.ACQUIRE)
    acquires = not occurrence.operation.has(Mod.RELEASE)
    yield Fence(occurrence.point, releases=releases, acquires=acquires)


def _proxy(occurrence: Occurrence) -> Iterator[Action]:
    """A fence between generic and async accesses; one restricted to global memory does nothing here."""
    slots = occurrence.operation.slots
    if slots.get("kind") in _ASYNC_KINDS and slots.get("space") != Mod.GLOBAL:
        yield Fence(occurrence.point, proxy=True)


def _mbarrier_init(occurrence: Occurrence) -> Iterator[Action]:
    yield Fence(occurrence.point, inits=True)


def _copy_tensor_map(occurrence: Occurrence) -> Iterator[Action]:
    """`tensormap.cp_fenceproxy` reads the map from shared memory as the warp."""
    if occurrence.has("src"):
        yield Access(occurrence.point, reads=occurrence.spans("src", _MAP_BYTES))


MEANINGS: Mapping[Op, Lower] = {
    Op.FENCE: _fence,
    Op.MEMBAR: _fence,
    Op.FENCE_PROXY: _proxy,
    Op.MEMBAR_PROXY: _proxy,
    Op.FENCE_MBARRIER_INIT: _mbarrier_init,
    Op.TENSORMAP_CP_FENCEPROXY: _copy_tensor_map,
}
