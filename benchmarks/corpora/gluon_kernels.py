"""Small Gluon kernels that use the asynchronous machine directly; compiled with no GPU by `triton_worker`."""
# ruff: noqa: N803, N806
# mypy: ignore-errors

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import ampere, blackwell, hopper
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    TensorMemoryScalesLayout,
    allocate_tensor_memory,
    clc,
    tcgen05_commit,
    tcgen05_copy,
    tcgen05_mma,
    tcgen05_mma_barrier_count,
    tcgen05_mma_scaled,
)
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)

from benchmarks.corpora.cases import Case


@gluon.jit
def vector_sum(x_ptr, y_ptr, count, BLOCK: gl.constexpr):
    """Explicit register layout, no shared memory."""
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout)
    x = gl.load(x_ptr + at, mask=at < count)
    y = gl.load(y_ptr + at, mask=at < count)
    gl.store(y_ptr + at, x + y, mask=at < count)


@gluon.jit
def convert_layouts(x_ptr, y_ptr, B: gl.constexpr):
    """Read along rows, write along columns: an exchange through shared memory."""
    by_row: gl.constexpr = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
    by_column: gl.constexpr = gl.BlockedLayout([4, 1], [16, 2], [1, 4], [0, 1])
    rows = gl.arange(0, B, gl.SliceLayout(1, by_row))
    cols = gl.arange(0, B, gl.SliceLayout(0, by_row))
    x = gl.load(x_ptr + rows[:, None] * B + cols[None, :])
    z = gl.convert_layout(x, by_column)
    rows = gl.arange(0, B, gl.SliceLayout(1, by_column))
    cols = gl.arange(0, B, gl.SliceLayout(0, by_column))
    gl.store(y_ptr + rows[:, None] + cols[None, :] * B, z)


@gluon.jit
def async_copy_groups(x_ptr, y_ptr, steps, BLOCK: gl.constexpr, STAGES: gl.constexpr):
    """`cp.async` groups in a ring of stages, with the drain after the loop."""
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    ring = gl.allocate_shared_memory(gl.float32, [STAGES, BLOCK], shared)
    at = gl.arange(0, BLOCK, layout)
    base = x_ptr + gl.program_id(0) * steps * BLOCK
    for stage in gl.static_range(STAGES - 1):
        ampere.async_copy.async_load(ring.index(stage), base + stage * BLOCK + at, mask=at < steps * BLOCK)
        ampere.async_copy.commit_group()
    total = gl.zeros([BLOCK], gl.float32, layout)
    for step in range(steps):
        ampere.async_copy.wait_group(STAGES - 2)
        gl.barrier()
        total += ring.index(step % STAGES).load(layout)
        ahead = step + STAGES - 1
        ampere.async_copy.async_load(
            ring.index(ahead % STAGES), base + ahead * BLOCK + at, mask=at < steps - step
        )
        ampere.async_copy.commit_group()
    ampere.async_copy.wait_group(0)
    gl.store(y_ptr + gl.program_id(0) * BLOCK + at, total)


@gluon.jit
def async_copy_barrier(x_ptr, y_ptr, steps, BLOCK: gl.constexpr):
    """`cp.async` that arrives on an mbarrier, with phases counted by hand."""
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    buffer = gl.allocate_shared_memory(gl.float32, [BLOCK], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    full = ampere.mbarrier.allocate_mbarrier()
    ampere.mbarrier.init(full, count=1)
    at = gl.arange(0, BLOCK, layout)
    for step in range(steps):
        ampere.async_copy.async_load(buffer, x_ptr + step * BLOCK + at)
        ampere.async_copy.mbarrier_arrive(full)
        ampere.mbarrier.arrive(full)
        ampere.mbarrier.wait(full, step & 1)
        gl.store(y_ptr + step * BLOCK + at, buffer.load(layout))
        gl.barrier()
    ampere.mbarrier.invalidate(full)


@gluon.jit
def mma_registers(a_ptr, b_ptr, c_ptr, k, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    """`mma.sync` on fragments that come through shared memory."""
    wide: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])
    out: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
    left: gl.constexpr = gl.DotOperandLayout(0, out, 2)
    right: gl.constexpr = gl.DotOperandLayout(1, out, 2)
    swizzled: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    a_shared = gl.allocate_shared_memory(gl.float16, [M, K], swizzled)
    b_shared = gl.allocate_shared_memory(gl.float16, [K, N], swizzled)
    a_rows = gl.arange(0, M, gl.SliceLayout(1, wide))
    b_rows = gl.arange(0, K, gl.SliceLayout(1, wide))
    a_cols = gl.arange(0, K, gl.SliceLayout(0, wide))
    b_cols = gl.arange(0, N, gl.SliceLayout(0, wide))
    total = gl.zeros([M, N], gl.float32, out)
    for start in range(0, k, K):
        a_shared.store(gl.load(a_ptr + a_rows[:, None] * k + (start + a_cols)[None, :]))
        b_shared.store(gl.load(b_ptr + (start + b_rows)[:, None] * N + b_cols[None, :]))
        gl.barrier()
        total = ampere.mma_v2(a_shared.load(left), b_shared.load(right), total)
        gl.barrier()
    rows = gl.arange(0, M, gl.SliceLayout(1, out))
    cols = gl.arange(0, N, gl.SliceLayout(0, out))
    gl.store(c_ptr + rows[:, None] * N + cols[None, :], total)


@gluon.jit
def tma_copy(x_map, y_map, M: gl.constexpr, N: gl.constexpr):
    """One tile in and out by the copy engine."""
    tile = gl.allocate_shared_memory(x_map.dtype, x_map.block_type.shape, x_map.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    row = gl.program_id(0) * M
    col = gl.program_id(1) * N
    mbarrier.expect(full, x_map.nbytes_per_cta)
    tma.async_load(x_map, [row, col], full, tile)
    mbarrier.wait(full, 0)
    mbarrier.invalidate(full)
    tma.async_store(y_map, [row, col], tile)
    tma.store_wait(0)


@gluon.jit
def tma_ring(x_map, y_map, steps, M: gl.constexpr, N: gl.constexpr, STAGES: gl.constexpr):
    """A ring of loads in flight; each tile is scaled in registers, then stored asynchronously."""
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    tiles = gl.allocate_shared_memory(x_map.dtype, [STAGES, M, N], x_map.layout)
    out = gl.allocate_shared_memory(y_map.dtype, [M, N], y_map.layout)
    full = mbarrier.allocate_mbarrier(batch=STAGES)
    for stage in gl.static_range(STAGES):
        mbarrier.init(full.index(stage), count=1)
    row = gl.program_id(0) * M
    for stage in gl.static_range(STAGES):
        mbarrier.expect(full.index(stage), x_map.nbytes_per_cta, pred=stage < steps)
        tma.async_load(x_map, [row, stage * N], full.index(stage), tiles.index(stage), pred=stage < steps)
    for step in range(steps):
        slot = step % STAGES
        mbarrier.wait(full.index(slot), (step // STAGES) & 1)
        value = tiles.index(slot).load(layout) * 2.0
        tma.store_wait(0)
        out.store(value)
        fence_async_shared()
        tma.async_store(y_map, [row, step * N], out)
        ahead = step + STAGES
        mbarrier.expect(full.index(slot), x_map.nbytes_per_cta, pred=ahead < steps)
        tma.async_load(x_map, [row, ahead * N], full.index(slot), tiles.index(slot), pred=ahead < steps)
    tma.store_wait(0, read_only=False)
    for stage in gl.static_range(STAGES):
        mbarrier.invalidate(full.index(stage))


@gluon.jit
def tma_device_descriptor(x_ptr, y_ptr, rows, cols, M: gl.constexpr, N: gl.constexpr):
    """Descriptors made on the device; the store adds in global memory."""
    layout: gl.constexpr = gl.NVMMASharedLayout(128, 32, rank=2)
    x_map = tma.make_tensor_descriptor(x_ptr, [rows, cols], [cols, 1], [M, N], layout)
    y_map = tma.make_tensor_descriptor(y_ptr, [rows, cols], [cols, 1], [M, N], layout)
    tile = gl.allocate_shared_memory(gl.float32, [M, N], layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    phase = 0
    for row in range(gl.program_id(0) * M, rows, gl.num_programs(0) * M):
        mbarrier.expect(full, x_map.nbytes_per_cta)
        tma.async_load(x_map, [row, 0], full, tile)
        mbarrier.wait(full, phase)
        tma.async_atomic_add(y_map, [row, 0], tile)
        tma.store_wait(0)
        phase ^= 1
    mbarrier.invalidate(full)


@gluon.jit
def tma_im2col(x_map, y_map, B: gl.constexpr, C: gl.constexpr):
    """Pixels of an image gathered by the copy engine for every tap of a window."""
    tile = gl.allocate_shared_memory(x_map.dtype, [B, C], x_map.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    for tap in range(9):
        r = (tap // 3).to(gl.int16)
        s = (tap % 3).to(gl.int16)
        mbarrier.expect(full, B * C * 2)
        tma.async_load_im2col(x_map, [gl.program_id(0), 0, 0, 0], [r, s], full, tile)
        mbarrier.wait(full, tap & 1)
        tma.async_store(y_map, [gl.program_id(0) * B, tap * C], tile)
        tma.store_wait(0)


@gluon.jit
def wgmma_pipelined(a_map, b_map, c_map, k, STAGES: gl.constexpr):
    """Loads and `wgmma` in flight together; the copy engine refills a stage when its reader is done."""
    M: gl.constexpr = c_map.block_type.shape[0]
    N: gl.constexpr = c_map.block_type.shape[1]
    K: gl.constexpr = a_map.block_type.shape[1]
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, N, 16])
    a = gl.allocate_shared_memory(a_map.dtype, [STAGES, M, K], a_map.layout)
    b = gl.allocate_shared_memory(b_map.dtype, [STAGES, N, K], b_map.layout)
    full = mbarrier.allocate_mbarrier(batch=STAGES)
    for stage in gl.static_range(STAGES):
        mbarrier.init(full.index(stage), count=1)
    row = gl.program_id(0) * M
    col = gl.program_id(1) * N
    steps = gl.cdiv(k, K)
    for stage in gl.static_range(STAGES - 1):
        some = stage < steps
        mbarrier.expect(full.index(stage), a_map.nbytes_per_cta + b_map.nbytes_per_cta, pred=some)
        tma.async_load(a_map, [row, stage * K], full.index(stage), a.index(stage), pred=some)
        tma.async_load(b_map, [col, stage * K], full.index(stage), b.index(stage), pred=some)
    total = gl.zeros([M, N], gl.float32, layout)
    for step in range(steps):
        slot = step % STAGES
        mbarrier.wait(full.index(slot), (step // STAGES) & 1)
        total = warpgroup_mma(a.index(slot), b.index(slot).permute((1, 0)), total, is_async=True)
        total = warpgroup_mma_wait(1, deps=[total])
        ahead = step + STAGES - 1
        free = ahead % STAGES
        more = ahead < steps
        mbarrier.expect(full.index(free), a_map.nbytes_per_cta + b_map.nbytes_per_cta, pred=more)
        tma.async_load(a_map, [row, ahead * K], full.index(free), a.index(free), pred=more)
        tma.async_load(b_map, [col, ahead * K], full.index(free), b.index(free), pred=more)
    total = warpgroup_mma_wait(0, deps=[total])
    for stage in gl.static_range(STAGES):
        mbarrier.invalidate(full.index(stage))
    out = gl.allocate_shared_memory(c_map.dtype, [M, N], c_map.layout)
    out.store(total.to(c_map.dtype))
    fence_async_shared()
    tma.async_store(c_map, [row, col], out)
    tma.store_wait(0)


@gluon.jit
def load_operands(a_map, b_map, a, b, full, empty, row, col, steps, STAGES: gl.constexpr):
    """The producer's part: wait for a free stage, expect the bytes, start both copies."""
    K: gl.constexpr = a_map.block_type.shape[1]
    for step in range(steps):
        slot = step % STAGES
        mbarrier.wait(empty.index(slot), ((step // STAGES) & 1) ^ 1)
        mbarrier.expect(full.index(slot), a_map.nbytes_per_cta + b_map.nbytes_per_cta)
        tma.async_load(a_map, [row, step * K], full.index(slot), a.index(slot))
        tma.async_load(b_map, [col, step * K], full.index(slot), b.index(slot))


@gluon.jit
def consume_wgmma(c_map, a, b, full, empty, row, col, steps, STAGES: gl.constexpr):
    """The consumer's part: multiply, and give the stage before this one back."""
    M: gl.constexpr = c_map.block_type.shape[0]
    N: gl.constexpr = c_map.block_type.shape[1]
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16])
    total = gl.zeros([M, N], gl.float32, layout)
    for step in range(steps):
        slot = step % STAGES
        mbarrier.wait(full.index(slot), (step // STAGES) & 1)
        total = warpgroup_mma(a.index(slot), b.index(slot).permute((1, 0)), total, is_async=True)
        total = warpgroup_mma_wait(1, deps=[total])
        mbarrier.arrive(empty.index((step + STAGES - 1) % STAGES), pred=step > 0)
    total = warpgroup_mma_wait(0, deps=[total])
    out = gl.allocate_shared_memory(c_map.dtype, [M, N], c_map.layout)
    out.store(total.to(c_map.dtype))
    fence_async_shared()
    tma.async_store(c_map, [row, col], out)
    tma.store_wait(0)


@gluon.jit
def wgmma_specialised(a_map, b_map, c_map, k, STAGES: gl.constexpr):
    """A producer warp and a consumer warp group, joined by full and empty barriers."""
    M: gl.constexpr = c_map.block_type.shape[0]
    N: gl.constexpr = c_map.block_type.shape[1]
    K: gl.constexpr = a_map.block_type.shape[1]
    a = gl.allocate_shared_memory(a_map.dtype, [STAGES, M, K], a_map.layout)
    b = gl.allocate_shared_memory(b_map.dtype, [STAGES, N, K], b_map.layout)
    full = mbarrier.allocate_mbarrier(batch=STAGES)
    empty = mbarrier.allocate_mbarrier(batch=STAGES)
    for stage in gl.static_range(STAGES):
        mbarrier.init(full.index(stage), count=1)
        mbarrier.init(empty.index(stage), count=1)
    row = gl.program_id(0) * M
    col = gl.program_id(1) * N
    steps = gl.cdiv(k, K)
    gl.warp_specialize(
        [
            (consume_wgmma, (c_map, a, b, full, empty, row, col, steps, STAGES)),
            (load_operands, (a_map, b_map, a, b, full, empty, row, col, steps, STAGES)),
        ],
        [1],
        [40],
    )


@gluon.jit
def wgmma_left_in_registers(a_ptr, b_map, c_ptr, steps, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    """The left operand is converted in registers; accumulators of two chains."""
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16])
    left: gl.constexpr = gl.DotOperandLayout(0, layout, 2)
    b = gl.allocate_shared_memory(b_map.dtype, [K, N], b_map.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    rows = gl.arange(0, M, gl.SliceLayout(1, left))
    cols = gl.arange(0, K, gl.SliceLayout(0, left))
    total = gl.zeros([M, N], gl.float32, layout)
    for step in range(steps):
        mbarrier.expect(full, b_map.nbytes_per_cta)
        tma.async_load(b_map, [step * K, 0], full, b)
        a = gl.load(a_ptr + rows[:, None] * (steps * K) + (step * K + cols)[None, :]).to(gl.float16)
        mbarrier.wait(full, step & 1)
        total = warpgroup_mma(a, b, total, is_async=True)
        total = warpgroup_mma_wait(0, deps=[total])
    rows = gl.arange(0, M, gl.SliceLayout(1, layout))
    cols = gl.arange(0, N, gl.SliceLayout(0, layout))
    gl.store(c_ptr + rows[:, None] * N + cols[None, :], total)


@gluon.jit
def cluster_multicast(x_map, y_map, steps):
    """One tile to every CTA of a pair: the copy engine writes both shared memories."""
    M: gl.constexpr = x_map.block_type.shape[0]
    tile = gl.allocate_shared_memory(x_map.dtype, x_map.block_type.shape, x_map.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier_sync_cluster_init()
    for step in range(steps):
        mbarrier.expect(full, x_map.nbytes_per_cta)
        tma.async_load(x_map, [step * M, 0], full, tile, multicast=True)
        mbarrier.wait(full, step & 1)
        tma.async_store(y_map, [step * M, 0], tile)
        tma.store_wait(0)
        hopper.cluster.barrier()


@gluon.jit
def mbarrier_sync_cluster_init():
    """Initialisation of barriers is seen by the whole cluster after this."""
    hopper.cluster.barrier(relaxed=True)
    hopper.cluster.barrier()


@gluon.jit
def tcgen05_serial(a_map, b_map, c_map, k):
    """One load, one MMA, one wait at a time; the result leaves tensor memory through registers."""
    M: gl.constexpr = c_map.block_type.shape[0]
    N: gl.constexpr = c_map.block_type.shape[1]
    K: gl.constexpr = a_map.block_type.shape[1]
    a = gl.allocate_shared_memory(a_map.dtype, [M, K], a_map.layout)
    b = gl.allocate_shared_memory(b_map.dtype, [N, K], b_map.layout)
    loaded = mbarrier.allocate_mbarrier()
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(loaded, count=1)
    mbarrier.init(done, count=1)
    total = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout([M, N], col_stride=1))
    row = gl.program_id(0) * M
    col = gl.program_id(1) * N
    phase = 0
    for start in range(0, k, K):
        mbarrier.expect(loaded, a_map.nbytes_per_cta + b_map.nbytes_per_cta)
        tma.async_load(a_map, [row, start], loaded, a)
        tma.async_load(b_map, [col, start], loaded, b)
        mbarrier.wait(loaded, phase)
        tcgen05_mma(a, b.permute((1, 0)), total, use_acc=start > 0)
        tcgen05_commit(done)
        mbarrier.wait(done, phase)
        phase ^= 1
    mbarrier.invalidate(loaded)
    mbarrier.invalidate(done)
    out = gl.allocate_shared_memory(c_map.dtype, [M, N], c_map.layout)
    out.store(total.load().to(c_map.dtype))
    fence_async_shared()
    tma.async_store(c_map, [row, col], out)
    tma.store_wait(0)


@gluon.jit
def issue_tcgen05(a, b, total, full, empty, ready, drained, steps, tiles, STAGES: gl.constexpr):
    """The MMA part: one warp issues all of it, and commits free the stages."""
    at = 0
    for tile in range(tiles):
        side = tile % 2
        mbarrier.wait(drained.index(side), ((tile // 2) & 1) ^ 1)
        for step in range(steps):
            slot = at % STAGES
            mbarrier.wait(full.index(slot), (at // STAGES) & 1)
            tcgen05_mma(
                a.index(slot),
                b.index(slot).permute((1, 0)),
                total.index(side),
                use_acc=step > 0,
                mbarriers=[empty.index(slot)],
            )
            at += 1
        tcgen05_commit(ready.index(side))


@gluon.jit
def load_tiles(a_map, b_map, a, b, full, empty, steps, tiles, STAGES: gl.constexpr):
    """The load part over all tiles of this program."""
    M: gl.constexpr = a_map.block_type.shape[0]
    N: gl.constexpr = b_map.block_type.shape[0]
    K: gl.constexpr = a_map.block_type.shape[1]
    at = 0
    for tile in range(tiles):
        row = (gl.program_id(0) + tile * gl.num_programs(0)) * M
        for step in range(steps):
            slot = at % STAGES
            mbarrier.wait(empty.index(slot), ((at // STAGES) & 1) ^ 1)
            mbarrier.expect(full.index(slot), a_map.nbytes_per_cta + b_map.nbytes_per_cta)
            tma.async_load(a_map, [row, step * K], full.index(slot), a.index(slot))
            tma.async_load(b_map, [gl.program_id(1) * N, step * K], full.index(slot), b.index(slot))
            at += 1


@gluon.jit
def drain_tiles(c_map, total, out, ready, drained, tiles):
    """The epilogue part: tensor memory to registers to shared memory to global memory."""
    M: gl.constexpr = c_map.block_type.shape[0]
    N: gl.constexpr = c_map.block_type.shape[1]
    for tile in range(tiles):
        side = tile % 2
        mbarrier.wait(ready.index(side), (tile // 2) & 1)
        value = total.index(side).load()
        mbarrier.arrive(drained.index(side))
        tma.store_wait(0)
        out.store(value.to(c_map.dtype))
        fence_async_shared()
        row = (gl.program_id(0) + tile * gl.num_programs(0)) * M
        tma.async_store(c_map, [row, gl.program_id(1) * N], out)
    tma.store_wait(0)


@gluon.jit
def tcgen05_specialised(a_map, b_map, c_map, k, tiles, STAGES: gl.constexpr):
    """Persistent: load, MMA and epilogue in warps of their own, two accumulators in tensor memory."""
    M: gl.constexpr = c_map.block_type.shape[0]
    N: gl.constexpr = c_map.block_type.shape[1]
    K: gl.constexpr = a_map.block_type.shape[1]
    a = gl.allocate_shared_memory(a_map.dtype, [STAGES, M, K], a_map.layout)
    b = gl.allocate_shared_memory(b_map.dtype, [STAGES, N, K], b_map.layout)
    out = gl.allocate_shared_memory(c_map.dtype, [M, N], c_map.layout)
    total = allocate_tensor_memory(gl.float32, [2, M, N], TensorMemoryLayout([M, N], col_stride=1))
    full = mbarrier.allocate_mbarrier(batch=STAGES)
    empty = mbarrier.allocate_mbarrier(batch=STAGES)
    ready = mbarrier.allocate_mbarrier(batch=2)
    drained = mbarrier.allocate_mbarrier(batch=2)
    for stage in gl.static_range(STAGES):
        mbarrier.init(full.index(stage), count=1)
        mbarrier.init(empty.index(stage), count=1)
    for side in gl.static_range(2):
        mbarrier.init(ready.index(side), count=1)
        mbarrier.init(drained.index(side), count=1)
    steps = gl.cdiv(k, K)
    gl.warp_specialize(
        [
            (drain_tiles, (c_map, total, out, ready, drained, tiles)),
            (load_tiles, (a_map, b_map, a, b, full, empty, steps, tiles, STAGES)),
            (issue_tcgen05, (a, b, total, full, empty, ready, drained, steps, tiles, STAGES)),
        ],
        [1, 1],
        [32, 32],
    )


@gluon.jit
def tcgen05_left_in_tensor_memory(a_ptr, b_map, c_ptr, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    """The left operand is put into tensor memory from registers, as attention does with its weights."""
    a = allocate_tensor_memory(gl.float16, [M, K], TensorMemoryLayout([M, K], col_stride=1))
    total = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout([M, N], col_stride=1))
    left: gl.constexpr = a.get_reg_layout()
    rows = gl.arange(0, M, gl.SliceLayout(1, left))
    cols = gl.arange(0, K, gl.SliceLayout(0, left))
    a.store(gl.load(a_ptr + rows[:, None] * K + cols[None, :]))
    b = gl.allocate_shared_memory(b_map.dtype, [K, N], b_map.layout)
    full = mbarrier.allocate_mbarrier()
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.init(done, count=1)
    mbarrier.expect(full, b_map.nbytes_per_cta)
    tma.async_load(b_map, [0, 0], full, b)
    mbarrier.wait(full, 0)
    tcgen05_mma(a, b, total, use_acc=False, mbarriers=[done])
    mbarrier.wait(done, 0)
    layout: gl.constexpr = total.get_reg_layout()
    rows = gl.arange(0, M, gl.SliceLayout(1, layout))
    cols = gl.arange(0, N, gl.SliceLayout(0, layout))
    value = total.load(layout)
    half = total.slice(0, N // 2).load()
    gl.store(c_ptr + rows[:, None] * N + cols[None, :], value + gl.sum(gl.sum(half, 1), 0))


@gluon.jit
def tcgen05_block_scaled(a_map, b_map, as_map, bs_map, c_ptr, k, VECTOR: gl.constexpr):
    """8-bit operands with scales that go from shared to tensor memory."""
    M: gl.constexpr = a_map.block_type.shape[0]
    N: gl.constexpr = b_map.block_type.shape[0]
    K: gl.constexpr = a_map.block_type.shape[1]
    a = gl.allocate_shared_memory(a_map.dtype, [M, K], a_map.layout)
    b = gl.allocate_shared_memory(b_map.dtype, [N, K], b_map.layout)
    total = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout([M, N], col_stride=1))
    scales: gl.constexpr = TensorMemoryScalesLayout()
    a_scale = allocate_tensor_memory(gl.uint8, [M, K // VECTOR], scales)
    b_scale = allocate_tensor_memory(gl.uint8, [N, K // VECTOR], scales)
    full = mbarrier.allocate_mbarrier()
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.init(done, count=1)
    registers: gl.constexpr = a_scale.get_reg_layout()
    rows = gl.arange(0, M, gl.SliceLayout(1, registers))
    cols = gl.arange(0, K // VECTOR, gl.SliceLayout(0, registers))
    phase = 0
    for start in range(0, k, K):
        at = rows[:, None] * (k // VECTOR) + (start // VECTOR + cols)[None, :]
        a_scale.store(gl.load(as_map + at))
        b_scale.store(gl.load(bs_map + at))
        mbarrier.expect(full, a_map.nbytes_per_cta + b_map.nbytes_per_cta)
        tma.async_load(a_map, [0, start], full, a)
        tma.async_load(b_map, [0, start], full, b)
        mbarrier.wait(full, phase)
        tcgen05_mma_scaled(
            a, b.permute((1, 0)), total, a_scale, b_scale, "e4m3", "e4m3", use_acc=start > 0, mbarriers=[done]
        )
        mbarrier.wait(done, phase)
        phase ^= 1
    layout: gl.constexpr = total.get_reg_layout()
    rows = gl.arange(0, M, gl.SliceLayout(1, layout))
    cols = gl.arange(0, N, gl.SliceLayout(0, layout))
    gl.store(c_ptr + rows[:, None] * N + cols[None, :], total.load(layout))


@gluon.jit
def tcgen05_copy_tile(x_map, y_ptr, M: gl.constexpr, N: gl.constexpr):
    """Shared to tensor memory by the tensor core's own copy."""
    tile = gl.allocate_shared_memory(x_map.dtype, [M, N], x_map.layout)
    target = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout([M, N], col_stride=1))
    full = mbarrier.allocate_mbarrier()
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.init(done, count=1)
    mbarrier.expect(full, x_map.nbytes_per_cta)
    tma.async_load(x_map, [0, 0], full, tile)
    mbarrier.wait(full, 0)
    tcgen05_copy(tile, target)
    tcgen05_commit(done)
    mbarrier.wait(done, 0)
    layout: gl.constexpr = target.get_reg_layout()
    rows = gl.arange(0, M, gl.SliceLayout(1, layout))
    cols = gl.arange(0, N, gl.SliceLayout(0, layout))
    gl.store(y_ptr + rows[:, None] * N + cols[None, :], target.load(layout))


@gluon.jit
def tcgen05_pair(a_map, b_map, c_map, k, LAYOUT: gl.constexpr, MULTICAST: gl.constexpr):
    """Two CTAs work on one MMA: each holds half of the operands, the leader issues."""
    M: gl.constexpr = c_map.block_type.shape[0]
    N: gl.constexpr = c_map.block_type.shape[1]
    K: gl.constexpr = a_map.block_type.shape[1]
    a = gl.allocate_shared_memory(a_map.dtype, [M, K], a_map.layout)
    b = gl.allocate_shared_memory(b_map.dtype, [K, N], b_map.layout)
    full = mbarrier.allocate_mbarrier(two_ctas=True)
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.init(done, count=tcgen05_mma_barrier_count([a, b], MULTICAST, True))
    mbarrier_sync_cluster_init()
    total = allocate_tensor_memory(gl.float32, [M, N], LAYOUT)
    row = gl.program_id(0) * M
    col = gl.program_id(1) * N
    phase = 0
    for start in range(0, k, K):
        mbarrier.expect(full, a_map.nbytes_per_cta + b_map.nbytes_per_cta)
        tma.async_load(a_map, [row, start], full, a, multicast=MULTICAST)
        tma.async_load(b_map, [start, col], full, b, multicast=MULTICAST)
        mbarrier.wait(full, phase)
        tcgen05_mma(a, b, total, use_acc=start > 0, multicast=MULTICAST, mbarriers=[done])
        mbarrier.wait(done, phase)
        phase ^= 1
    out = gl.allocate_shared_memory(c_map.dtype, [M, N], c_map.layout)
    out.store(total.load().to(c_map.dtype))
    fence_async_shared()
    tma.async_store(c_map, [row, col], out)
    tma.store_wait(0)


@gluon.jit
def gather_scatter(x_map, y_map, index_ptr, ROWS: gl.constexpr, COLS: gl.constexpr):
    """Four rows an instruction, chosen by numbers in registers."""
    layout: gl.constexpr = gl.SliceLayout(0, gl.BlockedLayout([1, 4], [32, 1], [1, 4], [1, 0]))
    rows = gl.load(index_ptr + gl.arange(0, ROWS, layout))
    tile = gl.allocate_shared_memory(x_map.dtype, [ROWS, COLS], x_map.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.expect(full, ROWS * COLS * 2)
    blackwell.tma.async_gather(x_map, rows, 0, full, tile)
    mbarrier.wait(full, 0)
    blackwell.tma.async_scatter(y_map, rows, 0, tile)
    tma.store_wait(0)


@gluon.jit
def steal_tiles(x_ptr, y_ptr, BLOCK: gl.constexpr):
    """A running CTA cancels the launch of others and takes over their work."""
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    answer = gl.allocate_shared_memory(gl.int64, [2], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    asked = mbarrier.allocate_mbarrier()
    mbarrier.init(asked, count=1)
    tile = gl.program_id(0)
    going = True
    phase = 0
    while going:
        mbarrier.expect(asked, 16)
        clc.try_cancel(answer, asked)
        at = tile * BLOCK + gl.arange(0, BLOCK, layout)
        gl.store(y_ptr + at, gl.load(x_ptr + at) + 1.0)
        mbarrier.wait(asked, phase)
        result = clc.load_result(answer)
        going = result.is_canceled()
        tile = result.program_id(0)
        phase ^= 1
        gl.barrier()
    mbarrier.invalidate(asked)


@gluon.jit
def shared_atomics(x_ptr, y_ptr, BINS: gl.constexpr, BLOCK: gl.constexpr):
    """Histogram and scatter inside shared memory."""
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    bins = gl.allocate_shared_memory(gl.int32, [BINS], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    bins.store(gl.zeros([BINS], gl.int32, layout))
    gl.barrier()
    x = gl.load(x_ptr + gl.arange(0, BLOCK, layout))
    bins.atomic_scatter_add(gl.full([BLOCK], 1, gl.int32, layout), x, 0)
    gl.barrier()
    gl.atomic_add(y_ptr + gl.arange(0, BINS, layout), bins.load(layout))


def nvmma(bits, transposed=False, swizzle=128, cga=()):
    return gl.NVMMASharedLayout(swizzle, bits, 2, transposed, False, [list(basis) for basis in cga])


HALF = nvmma(16)
SINGLE = nvmma(32)
BYTE = nvmma(8)
TMA = (90, 100, 120)
A_B_C = "map<fp16[128,64]> map<fp16[128,64]> map<fp16[128,128]>"
PAIR_MAPS = "map<fp16[256,64]> map<fp16[64,128]> map<fp16[256,128]>"
SPLIT_ROWS = nvmma(16, cga=((1, 0),))
SPLIT_COLS = nvmma(16, cga=((0, 1),))
PAIR_TOTAL = TensorMemoryLayout([128, 128], col_stride=1, cga_layout=[[1, 0]], two_ctas=True)
SHARED_BY_BOTH = nvmma(16, cga=((0, 0),))

CASES = (
    Case("gluon_vector_sum", vector_sum, "*fp32 *fp32 i32", {"BLOCK": 1024}, (80, 90)),
    Case("gluon_convert_layouts", convert_layouts, "*fp32 *fp32", {"B": 64}, (80, 90)),
    Case(
        "gluon_async_copy_groups", async_copy_groups, "*fp32 *fp32 i32", {"BLOCK": 512, "STAGES": 3}, (80, 90)
    ),
    Case("gluon_async_copy_barrier", async_copy_barrier, "*fp32 *fp32 i32", {"BLOCK": 512}, (80, 90)),
    Case(
        "gluon_mma_registers",
        mma_registers,
        "*fp16 *fp16 *fp32 i32:16",
        {"M": 64, "N": 64, "K": 32},
        (80, 90, 120),
    ),
    Case(
        "gluon_tma_copy",
        tma_copy,
        "map<fp16[64,64]> map<fp16[64,64]>",
        {"M": 64, "N": 64},
        TMA,
        layouts=(HALF, HALF),
    ),
    Case(
        "gluon_tma_ring",
        tma_ring,
        "map<fp32[64,32]> map<fp32[64,32]> i32",
        {"M": 64, "N": 32, "STAGES": 3},
        TMA,
        layouts=(SINGLE, SINGLE),
    ),
    Case(
        "gluon_tma_device_descriptor",
        tma_device_descriptor,
        "*fp32 *fp32 i32 i32:16",
        {"M": 64, "N": 32},
        TMA,
    ),
    Case(
        "gluon_tma_im2col",
        tma_im2col,
        "im2col<fp16[64,64]> map<fp16[64,64]>",
        {"B": 64, "C": 64},
        (90, 100),
        layouts=(HALF, HALF),
    ),
    Case("gluon_wgmma_pipelined", wgmma_pipelined, f"{A_B_C} i32", {"STAGES": 4}, (90,), layouts=(HALF,) * 3),
    Case(
        "gluon_wgmma_pipelined_8warps",
        wgmma_pipelined,
        "map<bf16[128,64]> map<bf16[256,64]> map<bf16[128,256]> i32",
        {"STAGES": 3},
        (90,),
        warps=8,
        layouts=(HALF,) * 3,
    ),
    Case(
        "gluon_wgmma_specialised",
        wgmma_specialised,
        f"{A_B_C} i32",
        {"STAGES": 3},
        (90,),
        layouts=(HALF,) * 3,
    ),
    Case(
        "gluon_wgmma_left_in_registers",
        wgmma_left_in_registers,
        "*fp32 map<fp16[64,128]> *fp32 i32",
        {"M": 64, "N": 128, "K": 64},
        (90,),
        layouts=(HALF,),
    ),
    Case(
        "gluon_cluster_multicast",
        cluster_multicast,
        "map<fp16[64,64]> map<fp16[64,64]> i32",
        {},
        (90, 100),
        ctas=2,
        layouts=(SHARED_BY_BOTH, SHARED_BY_BOTH),
    ),
    Case("gluon_tcgen05_serial", tcgen05_serial, f"{A_B_C} i32", {}, (100,), layouts=(HALF,) * 3),
    Case(
        "gluon_tcgen05_serial_fp8",
        tcgen05_serial,
        "map<fp8e4nv[128,128]> map<fp8e4nv[256,128]> map<fp16[128,256]> i32",
        {},
        (100,),
        warps=8,
        layouts=(BYTE, BYTE, HALF),
    ),
    Case(
        "gluon_tcgen05_specialised",
        tcgen05_specialised,
        f"{A_B_C} i32 i32",
        {"STAGES": 4},
        (100,),
        layouts=(HALF,) * 3,
    ),
    Case(
        "gluon_tcgen05_left_in_tensor_memory",
        tcgen05_left_in_tensor_memory,
        "*fp16 map<fp16[64,64]> *fp32",
        {"M": 128, "N": 64, "K": 64},
        (100,),
        layouts=(HALF,),
    ),
    Case(
        "gluon_tcgen05_block_scaled",
        tcgen05_block_scaled,
        "map<fp8e4nv[128,128]> map<fp8e4nv[128,128]> *u8 *u8 *fp32 i32:16",
        {"VECTOR": 32},
        (100,),
        layouts=(BYTE, BYTE),
    ),
    Case(
        "gluon_tcgen05_copy_tile",
        tcgen05_copy_tile,
        "map<fp32[128,32]> *fp32",
        {"M": 128, "N": 32},
        (100,),
        layouts=(SINGLE,),
    ),
    Case(
        "gluon_tcgen05_pair",
        tcgen05_pair,
        f"{PAIR_MAPS} i32",
        {"LAYOUT": PAIR_TOTAL, "MULTICAST": False},
        (100,),
        ctas=2,
        layouts=(SPLIT_ROWS, SPLIT_COLS, SPLIT_ROWS),
    ),
    Case(
        "gluon_gather_scatter",
        gather_scatter,
        "map<fp16[1,64]> map<fp16[1,64]> *i32",
        {"ROWS": 32, "COLS": 64},
        (100,),
        layouts=(HALF, HALF),
    ),
    Case("gluon_steal_tiles", steal_tiles, "*fp32 *fp32", {"BLOCK": 1024}, (100, 120)),
    Case("gluon_shared_atomics", shared_atomics, "*i32 *i32", {"BINS": 128, "BLOCK": 1024}, (80, 90)),
)
