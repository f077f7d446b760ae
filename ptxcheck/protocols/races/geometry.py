"""The block that two threads are of: their indices, lanes and warps as terms."""

from __future__ import annotations

from dataclasses import dataclass

from ...cfg.special import MAX_DIM, MAX_THREADS
from ...launch import Dim
from ...terms.bit_pool import Pool
from ...terms.bitvectors import Bits

WARP = 32


@dataclass(frozen=True, slots=True)
class ThreadIndex:
    """Indices of one thread, and its number in the block."""

    axes: tuple[Bits, Bits, Bits]
    number: Bits


@dataclass(frozen=True)
class Geometry:
    """A block of known extent, or one of 1 to 1024 threads along each axis that is used."""

    block: Dim | None
    axes: int = 3
    """Axes along which a block that is not known may extend."""
    most: int = MAX_THREADS

    def extents(self, pool: Pool) -> tuple[Bits, Bits, Bits]:
        x, y, z = (self._extent(pool, axis) for axis in range(3))
        return x, y, z

    def _extent(self, pool: Pool, axis: int) -> Bits:
        if self.block is not None:
            return pool.number(self.block[axis], 32)
        if axis >= self.axes:
            return pool.number(1, 32)
        return pool.variable(f"%ntid.{'xyz'[axis]}", 32, 1, min(MAX_DIM[axis], self.most))

    def thread(self, pool: Pool, thread: int) -> ThreadIndex:
        extents = self.extents(pool)
        x, y, z = (
            pool.variable(f"%tid.{name}~{thread}", 32, 0, extent.high - 1)
            for name, extent in zip("xyz", extents, strict=True)
        )
        number = pool.add(x, pool.mul(extents[0], pool.add(y, pool.mul(extents[1], z))))
        return ThreadIndex((x, y, z), number)

    def claims(self, pool: Pool, index: ThreadIndex) -> Bits:
        """Return that a thread is in the block."""
        extents = self.extents(pool)
        found = pool.true
        for axis, extent in zip(index.axes, extents, strict=True):
            found = pool.both(found, pool.ult(axis, extent))
        if self.block is None:
            size = pool.mul(extents[0], pool.mul(extents[1], extents[2]))
            found = pool.both(found, pool.ule(size, pool.number(self.most, 32)))
        return found

    def warp(self, pool: Pool, index: ThreadIndex) -> Bits:
        return pool.lshr(index.number, pool.number(5, 32))

    def special(self, pool: Pool, index: ThreadIndex, name: str) -> Bits | None:
        """Return a special register that the place in the block decides; None for all others."""
        stem, _, axis = name.partition(".")
        if stem == "%tid" and axis in "xyz":
            return index.axes["xyz".index(axis)]
        if stem == "%ntid" and axis in "xyz":
            return self.extents(pool)["xyz".index(axis)]
        lane = pool.and_(index.number, pool.number(WARP - 1, 32))
        if name == "%laneid":
            return lane
        if stem == "%lanemask_eq":
            return pool.shl(pool.number(1, 32), lane)
        if stem in ("%lanemask_lt", "%lanemask_le"):
            above = lane if stem == "%lanemask_lt" else pool.add(lane, pool.number(1, 32))
            return pool.sub(pool.shl(pool.number(1, 32), above), pool.number(1, 32))
        return None
