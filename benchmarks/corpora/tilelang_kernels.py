"""Small TileLang kernels of many kinds; lowered with no GPU by `tilelang_worker`, in TileLang's environment."""
# ruff: noqa: N812
# mypy: ignore-errors

from dataclasses import dataclass, field

import tilelang.language as T

ALL = ("sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a")
TMA = ("sm_90a", "sm_100a", "sm_120a")
HOPPER = ("sm_90a",)
BLACKWELL = ("sm_100a",)

HALF = "float16"
BRAIN = "bfloat16"
SINGLE = "float32"
BYTE_FLOAT = "float8_e4m3fn"
LOG2_E = 1.4426950408889634


def matmul(
    stages,
    *,
    m=1024,
    n=1024,
    k=1024,
    tile=(128, 128, 64),
    threads=128,
    dtype=HALF,
    out=HALF,
    flip_a=False,
    flip_b=False,
    through_shared=False,
):
    """C = A B with a pipeline of `stages`; either operand may lie transposed in memory."""
    tile_m, tile_n, tile_k = tile
    sums = "int32" if dtype == "int8" else SINGLE
    shape_a, part_a = ((k, m), (tile_k, tile_m)) if flip_a else ((m, k), (tile_m, tile_k))
    shape_b, part_b = ((n, k), (tile_n, tile_k)) if flip_b else ((k, n), (tile_k, tile_n))

    @T.prim_func
    def product(a: T.Tensor(shape_a, dtype), b: T.Tensor(shape_b, dtype), c: T.Tensor((m, n), out)):
        with T.Kernel(T.ceildiv(n, tile_n), T.ceildiv(m, tile_m), threads=threads) as (col, row):
            left = T.alloc_shared(part_a, dtype)
            right = T.alloc_shared(part_b, dtype)
            total = T.alloc_fragment((tile_m, tile_n), sums)
            T.clear(total)
            for step in T.Pipelined(T.ceildiv(k, tile_k), num_stages=stages):
                if flip_a:
                    T.copy(a[step * tile_k, row * tile_m], left)
                else:
                    T.copy(a[row * tile_m, step * tile_k], left)
                if flip_b:
                    T.copy(b[col * tile_n, step * tile_k], right)
                else:
                    T.copy(b[step * tile_k, col * tile_n], right)
                T.gemm(left, right, total, transpose_A=flip_a, transpose_B=flip_b)
            if through_shared:
                staged = T.alloc_shared((tile_m, tile_n), out)
                T.copy(total, staged)
                T.copy(staged, c[row * tile_m, col * tile_n])
            else:
                T.copy(total, c[row * tile_m, col * tile_n])

    return product


def matmul_any_size(stages, *, tile=(128, 128, 32), threads=128):
    """C = A B where none of the sizes is known before the launch."""
    m, n, k = T.dynamic("m"), T.dynamic("n"), T.dynamic("k")
    return matmul(stages, m=m, n=n, k=k, tile=tile, threads=threads)


def matmul_batched(stages, *, batches=16, m=512, n=512, k=256, tile=(64, 128, 64)):
    """One product a batch entry; the batch is the third dimension of the grid."""
    tile_m, tile_n, tile_k = tile

    @T.prim_func
    def product(
        a: T.Tensor((batches, m, k), BRAIN),
        b: T.Tensor((batches, k, n), BRAIN),
        c: T.Tensor((batches, m, n), SINGLE),
    ):
        with T.Kernel(n // tile_n, m // tile_m, batches, threads=128) as (col, row, entry):
            left = T.alloc_shared((tile_m, tile_k), BRAIN)
            right = T.alloc_shared((tile_k, tile_n), BRAIN)
            total = T.alloc_fragment((tile_m, tile_n), SINGLE)
            T.clear(total)
            for step in T.Pipelined(k // tile_k, num_stages=stages):
                T.copy(a[entry, row * tile_m, step * tile_k], left)
                T.copy(b[entry, step * tile_k, col * tile_n], right)
                T.gemm(left, right, total)
            T.copy(total, c[entry, row * tile_m, col * tile_n])

    return product


def matmul_split_k(stages, *, splits=4, m=512, n=512, k=4096, tile=(128, 128, 64)):
    """Each block adds its part of the sum over k to the result in global memory."""
    tile_m, tile_n, tile_k = tile
    part = k // splits

    @T.prim_func
    def product(a: T.Tensor((m, k), HALF), b: T.Tensor((k, n), HALF), c: T.Tensor((m, n), SINGLE)):
        with T.Kernel(n // tile_n, m // tile_m, splits, threads=128) as (col, row, split):
            left = T.alloc_shared((tile_m, tile_k), HALF)
            right = T.alloc_shared((tile_k, tile_n), HALF)
            total = T.alloc_fragment((tile_m, tile_n), SINGLE)
            staged = T.alloc_shared((tile_m, tile_n), SINGLE)
            T.clear(total)
            for step in T.Pipelined(part // tile_k, num_stages=stages):
                T.copy(a[row * tile_m, split * part + step * tile_k], left)
                T.copy(b[split * part + step * tile_k, col * tile_n], right)
                T.gemm(left, right, total)
            T.copy(total, staged)
            T.atomic_add(c[row * tile_m, col * tile_n], staged)

    return product


def matmul_persistent(stages, *, blocks=132, m=2048, n=2048, k=1024, tile=(128, 128, 64)):
    """As many blocks as the chip has processors, each of which walks over tiles of the result."""
    tile_m, tile_n, tile_k = tile
    rows, cols = m // tile_m, n // tile_n

    @T.prim_func
    def product(a: T.Tensor((m, k), HALF), b: T.Tensor((k, n), HALF), c: T.Tensor((m, n), HALF)):
        with T.Kernel(blocks, threads=256) as first:
            left = T.alloc_shared((tile_m, tile_k), HALF)
            right = T.alloc_shared((tile_k, tile_n), HALF)
            total = T.alloc_fragment((tile_m, tile_n), SINGLE)
            staged = T.alloc_shared((tile_m, tile_n), HALF)
            for row, col in T.Persistent([rows, cols], blocks, first):
                T.clear(total)
                for step in T.Pipelined(k // tile_k, num_stages=stages):
                    T.copy(a[row * tile_m, step * tile_k], left)
                    T.copy(b[step * tile_k, col * tile_n], right)
                    T.gemm(left, right, total)
                T.copy(total, staged)
                T.copy(staged, c[row * tile_m, col * tile_n])

    return product


def matmul_stream(stages, *, blocks=132, m=1024, n=1024, k=4096, tile=(128, 128, 64)):
    """The steps of all tiles are dealt out evenly; a block may begin and end in the middle of a tile."""
    tile_m, tile_n, tile_k = tile
    cols, depth = n // tile_n, k // tile_k
    steps = (m // tile_m) * cols * depth
    share = -(-steps // blocks)

    @T.prim_func
    def product(a: T.Tensor((m, k), HALF), b: T.Tensor((k, n), HALF), c: T.Tensor((m, n), SINGLE)):
        with T.Kernel(blocks, threads=128) as worker:
            left = T.alloc_shared((tile_m, tile_k), HALF)
            right = T.alloc_shared((tile_k, tile_n), HALF)
            total = T.alloc_fragment((tile_m, tile_n), SINGLE)
            at = T.alloc_var("int32")
            end = T.alloc_var("int32")
            at = worker * share
            end = T.min(steps, at + share)
            while at < end:
                tile_id = at // depth
                begin = at % depth
                length = T.min(depth - begin, end - at)
                row = tile_id // cols
                col = tile_id % cols
                T.clear(total)
                for step in T.Pipelined(length, num_stages=stages):
                    T.copy(a[row * tile_m, (begin + step) * tile_k], left)
                    T.copy(b[(begin + step) * tile_k, col * tile_n], right)
                    T.gemm(left, right, total)
                for i, j in T.Parallel(tile_m, tile_n):
                    T.atomic_add(c[row * tile_m + i, col * tile_n + j], total[i, j])
                at = at + length

    return product


def matmul_bias_gelu(stages, *, m=1024, n=1024, k=512, tile=(128, 128, 64)):
    """The epilogue adds a bias, applies an activation, and goes out through shared memory."""
    tile_m, tile_n, tile_k = tile

    @T.prim_func
    def product(
        a: T.Tensor((m, k), BRAIN),
        b: T.Tensor((n, k), BRAIN),
        bias: T.Tensor((n,), SINGLE),
        c: T.Tensor((m, n), BRAIN),
    ):
        with T.Kernel(n // tile_n, m // tile_m, threads=256) as (col, row):
            left = T.alloc_shared((tile_m, tile_k), BRAIN)
            right = T.alloc_shared((tile_n, tile_k), BRAIN)
            shift = T.alloc_shared((tile_n,), SINGLE)
            total = T.alloc_fragment((tile_m, tile_n), SINGLE)
            staged = T.alloc_shared((tile_m, tile_n), BRAIN)
            T.copy(bias[col * tile_n], shift)
            T.clear(total)
            for step in T.Pipelined(k // tile_k, num_stages=stages):
                T.copy(a[row * tile_m, step * tile_k], left)
                T.copy(b[col * tile_n, step * tile_k], right)
                T.gemm(left, right, total, transpose_B=True)
            for i, j in T.Parallel(tile_m, tile_n):
                value = total[i, j] + shift[j]
                total[i, j] = value / (1.0 + T.exp2(-1.702 * LOG2_E * value))
            T.copy(total, staged)
            T.copy(staged, c[row * tile_m, col * tile_n])

    return product


def matmul_gated(stages, *, m=1024, n=1024, k=512, tile=(64, 64, 64)):
    """Two products that share their left operand, one of which gates the other."""
    tile_m, tile_n, tile_k = tile

    @T.prim_func
    def product(
        a: T.Tensor((m, k), HALF),
        gate: T.Tensor((n, k), HALF),
        up: T.Tensor((n, k), HALF),
        c: T.Tensor((m, n), HALF),
    ):
        with T.Kernel(n // tile_n, m // tile_m, threads=128) as (col, row):
            left = T.alloc_shared((tile_m, tile_k), HALF)
            first = T.alloc_shared((tile_n, tile_k), HALF)
            second = T.alloc_shared((tile_n, tile_k), HALF)
            gated = T.alloc_fragment((tile_m, tile_n), SINGLE)
            plain = T.alloc_fragment((tile_m, tile_n), SINGLE)
            T.clear(gated)
            T.clear(plain)
            for step in T.Pipelined(k // tile_k, num_stages=stages):
                T.copy(a[row * tile_m, step * tile_k], left)
                T.copy(gate[col * tile_n, step * tile_k], first)
                T.copy(up[col * tile_n, step * tile_k], second)
                T.gemm(left, first, gated, transpose_B=True)
                T.gemm(left, second, plain, transpose_B=True)
            for i, j in T.Parallel(tile_m, tile_n):
                plain[i, j] = plain[i, j] * gated[i, j] / (1.0 + T.exp2(-LOG2_E * gated[i, j]))
            T.copy(plain, c[row * tile_m, col * tile_n])

    return product


def matmul_four_bits(stages, *, m=512, n=1024, k=1024, tile=(64, 128, 64)):
    """The right operand lies packed, two numbers a byte, and is unpacked before it is multiplied."""
    tile_m, tile_n, tile_k = tile

    @T.prim_func
    def product(
        a: T.Tensor((m, k), HALF),
        b: T.Tensor((n, k // 2), "uint8"),
        scale: T.Tensor((n,), HALF),
        c: T.Tensor((m, n), HALF),
    ):
        with T.Kernel(n // tile_n, m // tile_m, threads=128) as (col, row):
            left = T.alloc_shared((tile_m, tile_k), HALF)
            packed = T.alloc_shared((tile_n, tile_k // 2), "uint8")
            bytes_of = T.alloc_fragment((tile_n, tile_k // 2), "uint8")
            wide = T.alloc_fragment((tile_n, tile_k), HALF)
            right = T.alloc_shared((tile_n, tile_k), HALF)
            total = T.alloc_fragment((tile_m, tile_n), SINGLE)
            T.clear(total)
            for step in T.Pipelined(k // tile_k, num_stages=stages):
                T.copy(a[row * tile_m, step * tile_k], left)
                T.copy(b[col * tile_n, step * tile_k // 2], packed)
                T.copy(packed, bytes_of)
                for i, j in T.Parallel(tile_n, tile_k):
                    nibble = (bytes_of[i, j // 2] >> T.cast((j % 2) * 4, "uint8")) & T.cast(15, "uint8")
                    wide[i, j] = T.cast(T.cast(nibble, "int32") - 8, HALF)
                T.copy(wide, right)
                T.gemm(left, right, total, transpose_B=True)
            for i, j in T.Parallel(tile_m, tile_n):
                total[i, j] = total[i, j] * T.cast(scale[col * tile_n + j], SINGLE)
            T.copy(total, c[row * tile_m, col * tile_n])

    return product


def matmul_sparse_blocks(stages, *, m=1024, n=1024, k=1024, tile=(128, 128, 64)):
    """Steps whose flag in global memory is not set are left out."""
    tile_m, tile_n, tile_k = tile

    @T.prim_func
    def product(
        a: T.Tensor((m, k), HALF),
        b: T.Tensor((k, n), HALF),
        used: T.Tensor((m // tile_m, n // tile_n, k // tile_k), "bool"),
        c: T.Tensor((m, n), HALF),
    ):
        with T.Kernel(n // tile_n, m // tile_m, threads=128) as (col, row):
            left = T.alloc_shared((tile_m, tile_k), HALF)
            right = T.alloc_shared((tile_k, tile_n), HALF)
            total = T.alloc_fragment((tile_m, tile_n), SINGLE)
            T.clear(total)
            for step in T.Pipelined(k // tile_k, num_stages=stages):
                if used[row, col, step]:
                    T.copy(a[row * tile_m, step * tile_k], left)
                    T.copy(b[step * tile_k, col * tile_n], right)
                    T.gemm(left, right, total)
            T.copy(total, c[row * tile_m, col * tile_n])

    return product


def matmul_grouped(stages, *, groups=8, rows=4096, n=512, k=512, tile=(64, 128, 64)):
    """Rows belong to groups, each with its own right operand; where a group begins is in global memory."""
    tile_m, tile_n, tile_k = tile

    @T.prim_func
    def product(
        a: T.Tensor((rows, k), BRAIN),
        b: T.Tensor((groups, k, n), BRAIN),
        begins: T.Tensor((groups + 1,), "int32"),
        c: T.Tensor((rows, n), BRAIN),
    ):
        with T.Kernel(n // tile_n, rows // tile_m, groups, threads=128) as (col, row, group):
            left = T.alloc_shared((tile_m, tile_k), BRAIN)
            right = T.alloc_shared((tile_k, tile_n), BRAIN)
            total = T.alloc_fragment((tile_m, tile_n), SINGLE)
            begin = begins[group]
            length = begins[group + 1] - begin
            if row * tile_m < length:
                T.clear(total)
                for step in T.Pipelined(k // tile_k, num_stages=stages):
                    T.copy(a[begin + row * tile_m, step * tile_k], left)
                    T.copy(b[group, step * tile_k, col * tile_n], right)
                    T.gemm(left, right, total)
                for i, j in T.Parallel(tile_m, tile_n):
                    if row * tile_m + i < length:
                        c[begin + row * tile_m + i, col * tile_n + j] = total[i, j]

    return product


def matmul_by_hand(stages, *, m=1024, n=1024, k=1024, tile=(128, 128, 64)):
    """One warp group loads and the other multiplies; all barriers are the kernel's own."""
    tile_m, tile_n, tile_k = tile

    @T.prim_func
    def product(a: T.Tensor((m, k), HALF), b: T.Tensor((k, n), HALF), c: T.Tensor((m, n), HALF)):
        with T.Kernel(n // tile_n, m // tile_m, threads=256) as (col, row):
            left = T.alloc_shared((stages, tile_m, tile_k), HALF)
            right = T.alloc_shared((stages, tile_k, tile_n), HALF)
            total = T.alloc_fragment((tile_m, tile_n), SINGLE)
            full = T.alloc_barrier([128] * stages)
            empty = T.alloc_barrier([128] * stages)
            thread = T.get_thread_binding()
            if thread >= 128:
                for step in T.serial(k // tile_k):
                    T.barrier_wait(empty[step % stages], (step // stages) % 2 ^ 1)
                    T.tma_copy(
                        a[row * tile_m : (row + 1) * tile_m, step * tile_k : (step + 1) * tile_k],
                        left[step % stages, :, :],
                        barrier=full[step % stages],
                    )
                    T.tma_copy(
                        b[step * tile_k : (step + 1) * tile_k, col * tile_n : (col + 1) * tile_n],
                        right[step % stages, :, :],
                        barrier=full[step % stages],
                    )
                    T.barrier_arrive(full[step % stages])
            else:
                T.clear(total)
                for step in T.serial(k // tile_k):
                    T.barrier_wait(full[step % stages], (step // stages) % 2)
                    T.gemm(left[step % stages, :, :], right[step % stages, :, :], total)
                    T.barrier_arrive(empty[step % stages])
                T.copy(total, c[row * tile_m, col * tile_n])

    return product


def matmul_tensor_memory(stages, *, m=1024, n=1024, k=1024, tile=(128, 128, 64), threads=128):
    """The accumulator lies in tensor memory, and each step waits for its product."""
    tile_m, tile_n, tile_k = tile

    @T.prim_func
    def product(a: T.Tensor((m, k), BRAIN), b: T.Tensor((n, k), BRAIN), c: T.Tensor((m, n), BRAIN)):
        with T.Kernel(n // tile_n, m // tile_m, threads=threads) as (col, row):
            left = T.alloc_shared((tile_m, tile_k), BRAIN)
            right = T.alloc_shared((tile_n, tile_k), BRAIN)
            sums = T.alloc_tmem((tile_m, tile_n), SINGLE)
            done = T.alloc_barrier(1)
            total = T.alloc_fragment((tile_m, tile_n), SINGLE)
            staged = T.alloc_shared((tile_m, tile_n), BRAIN)
            for step in T.Pipelined(k // tile_k, num_stages=stages):
                T.copy(a[row * tile_m, step * tile_k], left)
                T.copy(b[col * tile_n, step * tile_k], right)
                T.gemm(left, right, sums, transpose_B=True, mbar=done, clear_accum=step == 0)
            T.copy(sums, total)
            T.copy(total, staged)
            T.copy(staged, c[row * tile_m, col * tile_n])

    return product


def matmul_tensor_memory_roles(stages, *, m=1024, n=1024, k=1024, tile=(128, 256, 64)):
    """One warp loads, one multiplies into tensor memory, and all of them store the result."""
    tile_m, tile_n, tile_k = tile

    @T.prim_func
    def product(a: T.Tensor((m, k), BRAIN), b: T.Tensor((k, n), BRAIN), c: T.Tensor((m, n), BRAIN)):
        with T.Kernel(n // tile_n, m // tile_m, threads=128) as (col, row):
            left = T.alloc_shared((stages, tile_m, tile_k), BRAIN)
            right = T.alloc_shared((stages, tile_k, tile_n), BRAIN)
            sums = T.alloc_tmem((tile_m, tile_n), SINGLE)
            full = T.alloc_barrier([32] * stages)
            empty = T.alloc_barrier([1] * stages)
            done = T.alloc_barrier(1)
            total = T.alloc_fragment((tile_m, tile_n), SINGLE)
            narrow = T.alloc_fragment((tile_m, tile_n), BRAIN)
            thread = T.get_thread_binding()
            if thread < 32:
                for step in T.serial(k // tile_k):
                    T.barrier_wait(empty[step % stages], (step // stages) % 2 ^ 1)
                    T.tma_copy(
                        a[row * tile_m : (row + 1) * tile_m, step * tile_k : (step + 1) * tile_k],
                        left[step % stages, :, :],
                        barrier=full[step % stages],
                    )
                    T.tma_copy(
                        b[step * tile_k : (step + 1) * tile_k, col * tile_n : (col + 1) * tile_n],
                        right[step % stages, :, :],
                        barrier=full[step % stages],
                    )
                    T.barrier_arrive(full[step % stages])
            elif thread < 64:
                for step in T.serial(k // tile_k):
                    T.barrier_wait(full[step % stages], (step // stages) % 2)
                    T.tcgen05_gemm(
                        left[step % stages, :, :],
                        right[step % stages, :, :],
                        sums,
                        mbar=empty[step % stages],
                        clear_accum=step == 0,
                    )
                T.tcgen05_mma_arrive(done)
            T.barrier_wait(done, 0)
            T.copy(sums, total)
            T.copy(total, narrow)
            T.copy(narrow, c[row * tile_m, col * tile_n])

    return product


def matmul_multicast(stages, *, m=1024, n=1024, k=512, tile=(128, 128, 64)):
    """Two blocks of a cluster share the rows of A, which the first one loads for both."""
    tile_m, tile_n, tile_k = tile

    @T.prim_func
    def product(a: T.Tensor((m, k), HALF), b: T.Tensor((k, n), HALF), c: T.Tensor((m, n), HALF)):
        with T.Kernel(n // tile_n, m // tile_m, threads=128, cluster_dims=(2, 1, 1)) as (col, row):
            left = T.alloc_shared((tile_m, tile_k), HALF)
            right = T.alloc_shared((tile_k, tile_n), HALF)
            total = T.alloc_fragment((tile_m, tile_n), SINGLE)
            T.clear(total)
            for step in T.Pipelined(k // tile_k, num_stages=stages):
                T.copy_cluster(a[row * tile_m, step * tile_k], left, cluster_mask=3)
                T.copy(b[step * tile_k, col * tile_n], right)
                T.gemm(left, right, total)
            T.copy(total, c[row * tile_m, col * tile_n])

    return product


def attention(
    stages, *, causal, batches=2, heads=8, length=1024, width=64, tile_q=64, tile_k=64, threads=128
):
    """softmax(Q K^T) V, row by row, with the running maximum and sum of each row."""
    scale = width**-0.5 * LOG2_E
    shape = (batches, length, heads, width)

    @T.prim_func
    def forward(
        q: T.Tensor(shape, HALF),
        k: T.Tensor(shape, HALF),
        v: T.Tensor(shape, HALF),
        out: T.Tensor(shape, HALF),
        logs: T.Tensor((batches, heads, length), SINGLE),
    ):
        with T.Kernel(length // tile_q, heads, batches, threads=threads) as (block, head, entry):
            q_tile = T.alloc_shared((tile_q, width), HALF)
            k_tile = T.alloc_shared((tile_k, width), HALF)
            v_tile = T.alloc_shared((tile_k, width), HALF)
            staged = T.alloc_shared((tile_q, width), HALF)
            scores = T.alloc_fragment((tile_q, tile_k), SINGLE)
            weights = T.alloc_fragment((tile_q, tile_k), HALF)
            total = T.alloc_fragment((tile_q, width), SINGLE)
            top = T.alloc_fragment((tile_q,), SINGLE)
            before = T.alloc_fragment((tile_q,), SINGLE)
            shrink = T.alloc_fragment((tile_q,), SINGLE)
            part = T.alloc_fragment((tile_q,), SINGLE)
            whole = T.alloc_fragment((tile_q,), SINGLE)
            T.copy(q[entry, block * tile_q : (block + 1) * tile_q, head, :], q_tile)
            T.clear(total)
            T.clear(whole)
            T.fill(top, -T.infinity(SINGLE))
            rounds = T.ceildiv((block + 1) * tile_q, tile_k) if causal else length // tile_k
            for step in T.Pipelined(rounds, num_stages=stages):
                T.copy(k[entry, step * tile_k : (step + 1) * tile_k, head, :], k_tile)
                if causal:
                    for i, j in T.Parallel(tile_q, tile_k):
                        scores[i, j] = T.if_then_else(
                            block * tile_q + i >= step * tile_k + j, 0, -T.infinity(SINGLE)
                        )
                else:
                    T.clear(scores)
                T.gemm(q_tile, k_tile, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(v[entry, step * tile_k : (step + 1) * tile_k, head, :], v_tile)
                T.copy(top, before)
                T.reduce_max(scores, top, dim=1, clear=False)
                for i in T.Parallel(tile_q):
                    shrink[i] = T.exp2((before[i] - top[i]) * scale)
                for i, j in T.Parallel(tile_q, tile_k):
                    scores[i, j] = T.exp2((scores[i, j] - top[i]) * scale)
                T.reduce_sum(scores, part, dim=1)
                for i in T.Parallel(tile_q):
                    whole[i] = whole[i] * shrink[i] + part[i]
                for i, j in T.Parallel(tile_q, width):
                    total[i, j] = total[i, j] * shrink[i]
                T.copy(scores, weights)
                T.gemm(weights, v_tile, total, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(tile_q, width):
                total[i, j] = total[i, j] / whole[i]
            T.copy(total, staged)
            T.copy(staged, out[entry, block * tile_q : (block + 1) * tile_q, head, :])
            for i in T.Parallel(tile_q):
                whole[i] = T.log2(whole[i]) + top[i] * scale
            T.copy(whole, logs[entry, head, block * tile_q : (block + 1) * tile_q])

    return forward


def attention_backward(stages, *, causal, batches=2, heads=8, length=1024, width=64, tile_q=64, tile_k=64):
    """Gradients of attention; a block holds keys and values, and adds to the gradient of the queries."""
    scale = width**-0.5
    shape = (batches, length, heads, width)

    @T.prim_func
    def backward(
        q: T.Tensor(shape, HALF),
        k: T.Tensor(shape, HALF),
        v: T.Tensor(shape, HALF),
        out_grad: T.Tensor(shape, HALF),
        logs: T.Tensor((batches, heads, length), SINGLE),
        dots: T.Tensor((batches, heads, length), SINGLE),
        q_grad: T.Tensor(shape, SINGLE),
        k_grad: T.Tensor(shape, HALF),
        v_grad: T.Tensor(shape, HALF),
    ):
        with T.Kernel(length // tile_k, heads, batches, threads=128) as (block, head, entry):
            k_tile = T.alloc_shared((tile_k, width), HALF)
            v_tile = T.alloc_shared((tile_k, width), HALF)
            q_tile = T.alloc_shared((tile_q, width), HALF)
            grad = T.alloc_shared((tile_q, width), HALF)
            log_row = T.alloc_shared((tile_q,), SINGLE)
            dot_row = T.alloc_shared((tile_q,), SINGLE)
            slopes_shared = T.alloc_shared((tile_k, tile_q), HALF)
            scores = T.alloc_fragment((tile_k, tile_q), SINGLE)
            slopes = T.alloc_fragment((tile_k, tile_q), SINGLE)
            weights = T.alloc_fragment((tile_k, tile_q), HALF)
            slopes_half = T.alloc_fragment((tile_k, tile_q), HALF)
            k_sum = T.alloc_fragment((tile_k, width), SINGLE)
            v_sum = T.alloc_fragment((tile_k, width), SINGLE)
            q_part = T.alloc_fragment((tile_q, width), SINGLE)
            staged_k = T.alloc_shared((tile_k, width), HALF)
            staged_v = T.alloc_shared((tile_k, width), HALF)
            T.copy(k[entry, block * tile_k : (block + 1) * tile_k, head, :], k_tile)
            T.copy(v[entry, block * tile_k : (block + 1) * tile_k, head, :], v_tile)
            T.clear(k_sum)
            T.clear(v_sum)
            first = block * tile_k // tile_q if causal else 0
            for turn in T.Pipelined(first, length // tile_q, num_stages=stages):
                T.copy(q[entry, turn * tile_q : (turn + 1) * tile_q, head, :], q_tile)
                T.clear(scores)
                T.gemm(k_tile, q_tile, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(logs[entry, head, turn * tile_q : (turn + 1) * tile_q], log_row)
                for i, j in T.Parallel(tile_k, tile_q):
                    scores[i, j] = T.exp2(scores[i, j] * (scale * LOG2_E) - log_row[j])
                if causal:
                    for i, j in T.Parallel(tile_k, tile_q):
                        scores[i, j] = T.if_then_else(
                            block * tile_k + i <= turn * tile_q + j, scores[i, j], 0
                        )
                T.copy(out_grad[entry, turn * tile_q : (turn + 1) * tile_q, head, :], grad)
                T.clear(slopes)
                T.gemm(v_tile, grad, slopes, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(scores, weights)
                T.gemm(weights, grad, v_sum, policy=T.GemmWarpPolicy.FullRow)
                T.copy(dots[entry, head, turn * tile_q : (turn + 1) * tile_q], dot_row)
                for i, j in T.Parallel(tile_k, tile_q):
                    slopes_half[i, j] = scores[i, j] * (slopes[i, j] - dot_row[j]) * scale
                T.gemm(slopes_half, q_tile, k_sum, policy=T.GemmWarpPolicy.FullRow)
                T.copy(slopes_half, slopes_shared)
                T.clear(q_part)
                T.gemm(slopes_shared, k_tile, q_part, transpose_A=True)
                for i, j in T.Parallel(tile_q, width):
                    T.atomic_add(q_grad[entry, turn * tile_q + i, head, j], q_part[i, j])
            T.copy(k_sum, staged_k)
            T.copy(v_sum, staged_v)
            T.copy(staged_k, k_grad[entry, block * tile_k : (block + 1) * tile_k, head, :])
            T.copy(staged_v, v_grad[entry, block * tile_k : (block + 1) * tile_k, head, :])

    return backward


def latent_decode(stages, *, batches=16, heads=64, length=2048, latent=512, rope=64, tile=64, threads=256):
    """One query a head against one latent row a token, which is both its key and its value."""
    scale = (latent + rope) ** -0.5 * LOG2_E

    @T.prim_func
    def decode(
        q: T.Tensor((batches, heads, latent), BRAIN),
        q_turned: T.Tensor((batches, heads, rope), BRAIN),
        rows: T.Tensor((batches, length, latent), BRAIN),
        rows_turned: T.Tensor((batches, length, rope), BRAIN),
        out: T.Tensor((batches, heads, latent), BRAIN),
    ):
        with T.Kernel(heads // 64, batches, threads=threads) as (block, entry):
            q_tile = T.alloc_shared((64, latent), BRAIN)
            q_side = T.alloc_shared((64, rope), BRAIN)
            kept = T.alloc_shared((tile, latent), BRAIN)
            side = T.alloc_shared((tile, rope), BRAIN)
            weights = T.alloc_shared((64, tile), BRAIN)
            scores = T.alloc_fragment((64, tile), SINGLE)
            total = T.alloc_fragment((64, latent), SINGLE)
            top = T.alloc_fragment((64,), SINGLE)
            before = T.alloc_fragment((64,), SINGLE)
            shrink = T.alloc_fragment((64,), SINGLE)
            part = T.alloc_fragment((64,), SINGLE)
            whole = T.alloc_fragment((64,), SINGLE)
            T.copy(q[entry, block * 64 : (block + 1) * 64, :], q_tile)
            T.copy(q_turned[entry, block * 64 : (block + 1) * 64, :], q_side)
            T.clear(total)
            T.clear(whole)
            T.fill(top, -T.infinity(SINGLE))
            for step in T.Pipelined(length // tile, num_stages=stages):
                T.copy(rows[entry, step * tile : (step + 1) * tile, :], kept)
                T.copy(rows_turned[entry, step * tile : (step + 1) * tile, :], side)
                T.clear(scores)
                T.gemm(q_tile, kept, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullCol)
                T.gemm(q_side, side, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullCol)
                T.copy(top, before)
                T.reduce_max(scores, top, dim=1, clear=False)
                for i in T.Parallel(64):
                    shrink[i] = T.exp2((before[i] - top[i]) * scale)
                for i, j in T.Parallel(64, tile):
                    scores[i, j] = T.exp2((scores[i, j] - top[i]) * scale)
                T.reduce_sum(scores, part, dim=1)
                T.copy(scores, weights)
                for i in T.Parallel(64):
                    whole[i] = whole[i] * shrink[i] + part[i]
                for i, j in T.Parallel(64, latent):
                    total[i, j] = total[i, j] * shrink[i]
                T.gemm(weights, kept, total, policy=T.GemmWarpPolicy.FullCol)
            for i, j in T.Parallel(64, latent):
                total[i, j] = total[i, j] / whole[i]
            T.copy(total, out[entry, block * 64 : (block + 1) * 64, :])

    return decode


def softmax_rows(stages, *, rows=4096, width=4096, tile=1024):
    """Softmax of long rows in two passes over pieces of them."""

    @T.prim_func
    def softmax(x: T.Tensor((rows, width), SINGLE), y: T.Tensor((rows, width), SINGLE)):
        with T.Kernel(rows, threads=128) as row:
            piece = T.alloc_shared((1, tile), SINGLE)
            values = T.alloc_fragment((1, tile), SINGLE)
            top = T.alloc_fragment((1,), SINGLE)
            before = T.alloc_fragment((1,), SINGLE)
            part = T.alloc_fragment((1,), SINGLE)
            whole = T.alloc_fragment((1,), SINGLE)
            T.fill(top, -T.infinity(SINGLE))
            T.clear(whole)
            for step in T.Pipelined(width // tile, num_stages=stages):
                T.copy(x[row, step * tile], piece)
                T.copy(piece, values)
                T.copy(top, before)
                T.reduce_max(values, top, dim=1, clear=False)
                for i, j in T.Parallel(1, tile):
                    values[i, j] = T.exp2((values[i, j] - top[i]) * LOG2_E)
                T.reduce_sum(values, part, dim=1)
                for i in T.Parallel(1):
                    whole[i] = whole[i] * T.exp2((before[i] - top[i]) * LOG2_E) + part[i]
            for step in T.serial(width // tile):
                T.copy(x[row, step * tile], values)
                for i, j in T.Parallel(1, tile):
                    values[i, j] = T.exp2((values[i, j] - top[i]) * LOG2_E) / whole[i]
                T.copy(values, y[row, step * tile])

    return softmax


def layer_norm(*, rows=4096, width=2048, tile=4):
    """Normalise rows that are copied to shared memory and back as whole tiles."""

    @T.prim_func
    def norm(
        x: T.Tensor((rows, width), HALF), weight: T.Tensor((width,), HALF), y: T.Tensor((rows, width), HALF)
    ):
        with T.Kernel(rows // tile, threads=256) as block:
            held = T.alloc_shared((tile, width), HALF)
            values = T.alloc_fragment((tile, width), SINGLE)
            squares = T.alloc_fragment((tile, width), SINGLE)
            mean = T.alloc_fragment((tile,), SINGLE)
            spread = T.alloc_fragment((tile,), SINGLE)
            T.copy(x[block * tile, 0], held)
            T.copy(held, values)
            T.reduce_sum(values, mean, dim=1)
            for i, j in T.Parallel(tile, width):
                values[i, j] = values[i, j] - mean[i] / width
                squares[i, j] = values[i, j] * values[i, j]
            T.reduce_sum(squares, spread, dim=1)
            for i, j in T.Parallel(tile, width):
                values[i, j] = values[i, j] * T.rsqrt(spread[i] / width + 1e-5) * weight[j]
            T.copy(values, held)
            T.copy(held, y[block * tile, 0])

    return norm


def transpose_tiles(*, m=2048, n=2048, tile=64):
    """Tiles go in and out through shared memory, turned around between the two."""

    @T.prim_func
    def turn(x: T.Tensor((m, n), HALF), y: T.Tensor((n, m), HALF)):
        with T.Kernel(n // tile, m // tile, threads=128) as (col, row):
            came = T.alloc_shared((tile, tile), HALF)
            turned = T.alloc_shared((tile, tile), HALF)
            T.copy(x[row * tile, col * tile], came)
            for i, j in T.Parallel(tile, tile):
                turned[j, i] = came[i, j]
            T.copy(turned, y[col * tile, row * tile])

    return turn


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel with the arguments it is made with, and settings of the compiler's passes."""

    name: str
    make: object
    arguments: dict
    targets: tuple
    settings: dict = field(default_factory=dict)

    def unit(self, target):
        return f"{self.name}.{target}"


NO_ROLES = {"tl.disable_warp_specialized": True}
NO_COPIES = {"tl.enable_async_copy": False}
NO_TMA = {"tl.disable_tma_lower": True, **NO_ROLES}

CASES = (
    Case("matmul_1_stage", matmul, {"stages": 1}, HOPPER),
    Case("matmul_2_stages", matmul, {"stages": 2}, HOPPER),
    Case("matmul_3_stages", matmul, {"stages": 3}, ALL),
    Case("matmul_4_stages", matmul, {"stages": 4, "tile": (128, 256, 64), "threads": 256}, HOPPER),
    Case("matmul_no_roles", matmul, {"stages": 3}, TMA, NO_ROLES),
    Case("matmul_no_tma", matmul, {"stages": 3}, HOPPER, NO_TMA),
    Case("matmul_python_lines", matmul, {"stages": 2}, HOPPER, {"tl.emit_line_directives": True}),
    Case("matmul_through_shared", matmul, {"stages": 3, "through_shared": True}, TMA),
    Case("matmul_transposed", matmul, {"stages": 3, "flip_a": True, "flip_b": True}, ("sm_80", *HOPPER)),
    Case(
        "matmul_fp8",
        matmul,
        {"stages": 3, "dtype": BYTE_FLOAT, "out": SINGLE, "flip_b": True, "tile": (128, 128, 128)},
        ("sm_89", *HOPPER),
    ),
    Case(
        "matmul_int8",
        matmul,
        {"stages": 2, "dtype": "int8", "out": "int32", "flip_b": True, "tile": (128, 128, 64)},
        ("sm_80", *HOPPER),
    ),
    Case("matmul_any_size", matmul_any_size, {"stages": 3}, HOPPER),
    Case("matmul_any_size_no_copies", matmul_any_size, {"stages": 2}, ("sm_80",), NO_COPIES),
    Case("matmul_batched", matmul_batched, {"stages": 2}, HOPPER),
    Case("matmul_split_k", matmul_split_k, {"stages": 3}, ("sm_80", *HOPPER)),
    Case("matmul_persistent", matmul_persistent, {"stages": 3}, ("sm_80", *HOPPER)),
    Case("matmul_stream", matmul_stream, {"stages": 2}, ("sm_80",)),
    Case("matmul_stream_no_roles", matmul_stream, {"stages": 2}, HOPPER, NO_ROLES),
    Case("matmul_bias_gelu", matmul_bias_gelu, {"stages": 3}, ("sm_89", *HOPPER)),
    Case("matmul_gated", matmul_gated, {"stages": 2}, ("sm_80", *HOPPER)),
    Case("matmul_four_bits", matmul_four_bits, {"stages": 2}, ("sm_80", *HOPPER)),
    Case("matmul_sparse_blocks", matmul_sparse_blocks, {"stages": 2}, ("sm_80", *HOPPER)),
    Case("matmul_grouped", matmul_grouped, {"stages": 2}, ("sm_80", *HOPPER)),
    Case("matmul_by_hand", matmul_by_hand, {"stages": 3}, HOPPER),
    Case("matmul_multicast.cluster2x1x1", matmul_multicast, {"stages": 2}, HOPPER),
    Case("matmul_tensor_memory", matmul_tensor_memory, {"stages": 2}, BLACKWELL),
    Case("matmul_tensor_memory_no_roles", matmul_tensor_memory, {"stages": 2}, BLACKWELL, NO_ROLES),
    Case("matmul_tensor_memory_roles", matmul_tensor_memory_roles, {"stages": 4}, BLACKWELL),
    Case("attention", attention, {"stages": 2, "causal": False}, ALL),
    Case(
        "attention_two_groups",
        attention,
        {"stages": 2, "causal": False, "tile_q": 128, "tile_k": 128, "threads": 256, "width": 128},
        HOPPER,
    ),
    Case("attention_causal", attention, {"stages": 2, "causal": True}, HOPPER),
    Case("attention_causal_no_copies", attention, {"stages": 1, "causal": True}, ("sm_80",), NO_COPIES),
    Case("attention_no_roles", attention, {"stages": 1, "causal": True}, HOPPER, NO_ROLES),
    Case("attention_backward", attention_backward, {"stages": 2, "causal": False}, ("sm_80", *HOPPER)),
    Case("attention_backward_causal", attention_backward, {"stages": 2, "causal": True}, HOPPER),
    Case("latent_decode", latent_decode, {"stages": 2}, HOPPER),
    Case("softmax_rows", softmax_rows, {"stages": 2}, ("sm_80", *HOPPER)),
    Case("layer_norm", layer_norm, {}, TMA),
    Case("transpose_tiles", transpose_tiles, {}, ("sm_80", *HOPPER)),
)
