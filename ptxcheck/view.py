"""`KernelView`: one kernel with its lazily computed analyses. Rules read views; nothing is invalidated."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from .ir import Body, Function, Module
from .launch import Launch

if TYPE_CHECKING:
    from .cfg import Cfg, Facts
    from .descriptors.device.flow import DeviceMaps
    from .descriptors.tensor_map import TensorMap
    from .protocols.thread.async_bytes import AsyncBytes
    from .protocols.thread.bank_conflicts import Conflict
    from .protocols.thread.barriers import Barriers
    from .protocols.thread.cluster_barrier import ClusterBarrier
    from .protocols.thread.cluster_memory import ClusterMemory
    from .protocols.thread.copy_groups import CopyGroups, Slip
    from .protocols.thread.matrix_tiles import MatrixTiles
    from .protocols.thread.mbarrier_lifecycle import Lifecycle
    from .protocols.thread.named_barrier import NamedBarriers
    from .protocols.thread.paths import Paths
    from .protocols.thread.places import Places
    from .protocols.thread.proxies import Crossing
    from .protocols.thread.register_count import RegisterCount
    from .protocols.thread.same_bytes import ThreadOffsets
    from .protocols.thread.shared_access import SharedAccess
    from .protocols.thread.tensor_memory import TensorMemory
    from .protocols.thread.tensor_memory_use import TensorMemoryUse
    from .protocols.thread.wgmma import Wgmma
    from .protocols.whole_kernel import WholeKernel


@dataclass(frozen=True)
class KernelView:
    """A function with a body, the module it is in, and the launch that verdicts are for."""

    module: Module
    function: Function
    launch: Launch
    tensor_maps: tuple[tuple[str, TensorMap], ...] = field(default=(), kw_only=True)
    """Tensor maps that the host passes, by kernel parameter, as far as the user describes them."""
    verify_seconds: float | None = None
    """Time for whole-kernel verification; None turns it off."""

    @cached_property
    def whole_kernel(self) -> WholeKernel | None:
        """What whole-kernel verification showed; None when it is off, or the kernel has nothing that it is about."""
        if self.verify_seconds is None:
            return None
        from .protocols.whole_kernel import whole_kernel

        return whole_kernel(self, self.verify_seconds)

    @property
    def body(self) -> Body:
        assert self.function.body is not None
        return self.function.body

    @cached_property
    def cfg(self) -> Cfg:
        """Basic blocks, dominators and loops."""
        from .cfg import build

        return build(self.function)

    @cached_property
    def facts(self) -> Facts:
        """Values, pointers and uniformity at each point."""
        from .cfg import analyse

        return analyse(self.cfg, self.module, self.launch)

    @cached_property
    def device_maps(self) -> DeviceMaps:
        """Tensor maps that the kernel makes or changes, and the copies that read tensor maps."""
        from .descriptors.device.flow import DeviceMaps

        return DeviceMaps(self)

    @cached_property
    def places(self) -> Places:
        """Variables of shared memory behind address operands."""
        from .protocols.thread.places import Places

        return Places(self)

    @cached_property
    def paths(self) -> Paths:
        """Searches for feasible paths of one thread."""
        from .protocols.thread.paths import Paths

        return Paths(self.cfg, self.facts)

    @cached_property
    def barriers(self) -> Barriers:
        """All mbarrier operations."""
        from .protocols.thread.barriers import find_barriers

        return find_barriers(self)

    @cached_property
    def lifecycle(self) -> Lifecycle:
        """Where the life of an mbarrier goes wrong on one thread's path."""
        from .protocols.thread.mbarrier_lifecycle import find_lifecycle

        return find_lifecycle(self)

    @cached_property
    def shared_accesses(self) -> tuple[SharedAccess, ...]:
        """Loads, stores and atomics of shared memory."""
        from .protocols.thread.shared_access import find_shared_accesses

        return find_shared_accesses(self)

    @cached_property
    def named_barriers(self) -> NamedBarriers:
        """Sites of named barriers, and which of them meet."""
        from .protocols.thread.named_barrier import NamedBarriers

        return NamedBarriers(self)

    @cached_property
    def cluster_barrier(self) -> ClusterBarrier:
        """Steps of the cluster barrier out of turn."""
        from .protocols.thread.cluster_barrier import ClusterBarrier

        return ClusterBarrier(self)

    @cached_property
    def cluster_memory(self) -> ClusterMemory:
        """Accesses to shared memory of other CTAs of the cluster."""
        from .protocols.thread.cluster_memory import ClusterMemory

        return ClusterMemory(self)

    @cached_property
    def async_bytes(self) -> AsyncBytes:
        """Bytes that accesses and asynchronous copies touch."""
        from .protocols.thread.async_bytes import AsyncBytes

        return AsyncBytes(self)

    @cached_property
    def thread_offsets(self) -> ThreadOffsets:
        """Offsets in shared variables, thread by thread."""
        from .protocols.thread.same_bytes import ThreadOffsets

        return ThreadOffsets(self)

    @cached_property
    def bulk_groups(self) -> CopyGroups:
        """Groups of bulk copies."""
        from .protocols.thread.copy_groups import bulk_groups

        return bulk_groups(self)

    @cached_property
    def full_bulk_groups(self) -> CopyGroups:
        """Groups of bulk copies with the waits for their writes alone."""
        from .protocols.thread.copy_groups import full_bulk_groups

        return full_bulk_groups(self)

    @cached_property
    def wrong_waits(self) -> tuple[Slip, ...]:
        """Waits for the wrong kind of groups."""
        from .protocols.thread.copy_groups import wrong_waits

        return tuple(wrong_waits(self))

    @cached_property
    def small_groups(self) -> CopyGroups:
        """Groups of `cp.async`."""
        from .protocols.thread.copy_groups import small_groups

        return small_groups(self)

    @cached_property
    def proxy_crossings(self) -> tuple[Crossing, ...]:
        """Bytes written through the generic proxy and read through the async proxy with no fence between."""
        from .protocols.thread.proxies import find_crossings

        return find_crossings(self)

    @cached_property
    def wgmma(self) -> Wgmma:
        """Fences, groups and waits of wgmma, and the registers in flight."""
        from .protocols.thread.wgmma import Wgmma

        return Wgmma(self)

    @cached_property
    def matrix_tiles(self) -> MatrixTiles:
        """Descriptors of matrix instructions, and the tiles that they read."""
        from .protocols.thread.matrix_tiles import MatrixTiles

        return MatrixTiles(self)

    @cached_property
    def tensor_memory(self) -> TensorMemory:
        """Allocations, loads, stores and commits of tensor memory."""
        from .protocols.thread.tensor_memory import TensorMemory

        return TensorMemory(self)

    @cached_property
    def tensor_memory_use(self) -> TensorMemoryUse:
        """Tensor memory freed, read and multiplied into at the wrong time or place."""
        from .protocols.thread.tensor_memory_use import TensorMemoryUse

        return TensorMemoryUse(self)

    @cached_property
    def bank_conflicts(self) -> tuple[Conflict, ...]:
        """Accesses to shared memory that take more wavefronts than their bytes need."""
        from .protocols.thread.bank_conflicts import find_conflicts

        return tuple(find_conflicts(self))

    @cached_property
    def register_count(self) -> RegisterCount:
        """Steps of setmaxnreg and who takes them."""
        from .protocols.thread.register_count import RegisterCount

        return RegisterCount(self)
