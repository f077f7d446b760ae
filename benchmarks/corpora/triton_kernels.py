"""Small Triton kernels of many kinds; compiled with no GPU by `triton_worker`, in Triton's environment."""
# ruff: noqa: N803
# mypy: ignore-errors

import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from benchmarks.corpora.cases import Case

ALL = (80, 90, 100, 120)
TMA = (90, 100, 120)
DATACENTER = (90, 100)


@triton.jit
def swizzle_tile(tile, tiles_m, tiles_n, GROUP: tl.constexpr):
    """Walk the output in bands of GROUP row tiles, so that neighbours share operands in the L2 cache."""
    band = tile // (GROUP * tiles_n)
    height = tl.minimum(tiles_m - band * GROUP, GROUP)
    inside = tile % (GROUP * tiles_n)
    return band * GROUP + inside % height, inside // height


@triton.jit
def matmul_pointers(
    a_ptr, b_ptr, c_ptr, m, n, k, lda, ldb, ldc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """C = A B with masked pointer loads, pipelined by the compiler."""
    row, col = swizzle_tile(tl.program_id(0), tl.cdiv(m, BM), tl.cdiv(n, BN), 8)
    rows = row * BM + tl.arange(0, BM)
    cols = col * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a_tile = a_ptr + rows[:, None] * lda + depth[None, :]
    b_tile = b_ptr + depth[:, None] * ldb + cols[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        left = k - start
        a = tl.load(a_tile, mask=(rows[:, None] < m) & (depth[None, :] < left), other=0.0)
        b = tl.load(b_tile, mask=(depth[:, None] < left) & (cols[None, :] < n), other=0.0)
        total = tl.dot(a, b, total)
        a_tile += BK
        b_tile += BK * ldb
    c_tile = c_ptr + rows[:, None] * ldc + cols[None, :]
    tl.store(c_tile, total.to(c_ptr.dtype.element_ty), mask=(rows[:, None] < m) & (cols[None, :] < n))


@triton.jit
def matmul_int8(
    a_ptr, b_ptr, c_ptr, scale_ptr, k, lda, ldb, ldc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """Integer product with a scale per column."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.int32)
    for start in range(0, k, BK):
        a = tl.load(a_ptr + rows[:, None] * lda + (start + depth)[None, :])
        b = tl.load(b_ptr + (start + depth)[:, None] + cols[None, :] * ldb)
        total += tl.dot(a, b)
    scale = tl.load(scale_ptr + cols)
    tl.store(c_ptr + rows[:, None] * ldc + cols[None, :], (total * scale[None, :]).to(tl.float16))


@triton.jit
def matmul_host_descriptors(a_map, b_map, c_map, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C = A B^T through tensor descriptors that the host made."""
    row = tl.program_id(0) * BM
    col = tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        a = a_map.load([row, start])
        b = b_map.load([col, start])
        total = tl.dot(a, b.T, total)
    c_map.store([row, col], total.to(c_map.dtype))


@triton.jit
def matmul_device_descriptors(
    a_ptr, b_ptr, c_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """The same with descriptors that the kernel makes in its workspace."""
    a_map = tl.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [BM, BK])
    b_map = tl.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [BK, BN])
    c_map = tl.make_tensor_descriptor(c_ptr, [m, n], [n, 1], [BM, BN])
    row, col = swizzle_tile(tl.program_id(0), tl.cdiv(m, BM), tl.cdiv(n, BN), 4)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        total = tl.dot(a_map.load([row * BM, start]), b_map.load([start, col * BN]), total)
    c_map.store([row * BM, col * BN], total.to(tl.float16))


@triton.jit
def matmul_persistent(
    a_map,
    b_map,
    c_map,
    m,
    n,
    k,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    PROGRAMS: tl.constexpr,
    FLATTEN: tl.constexpr,
    SPECIALISE: tl.constexpr,
    HALVES: tl.constexpr,
):
    """A fixed number of programs share all tiles; optionally warp-specialised, with a split epilogue."""
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    steps = tl.cdiv(k, BK)
    tiles = tiles_m * tiles_n
    for tile in tl.range(tl.program_id(0), tiles, PROGRAMS, flatten=FLATTEN, warp_specialize=SPECIALISE):
        row, col = swizzle_tile(tile, tiles_m, tiles_n, 8)
        total = tl.zeros((BM, BN), tl.float32)
        for step in range(steps):
            a = a_map.load([row * BM, step * BK])
            b = b_map.load([col * BN, step * BK])
            total = tl.dot(a, b.T, total)
        if HALVES:
            parts = tl.permute(tl.reshape(total, (BM, 2, BN // 2)), (0, 2, 1))
            first, second = tl.split(parts)
            c_map.store([row * BM, col * BN], first.to(c_map.dtype))
            c_map.store([row * BM, col * BN + BN // 2], second.to(c_map.dtype))
        else:
            c_map.store([row * BM, col * BN], total.to(c_map.dtype))


@triton.jit
def matmul_split_k(
    a_ptr,
    b_ptr,
    c_ptr,
    k,
    lda,
    ldb,
    ldc,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    SPLITS: tl.constexpr,
):
    """Each program sums a part of K and adds it to C atomically."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.program_id(2) * BK + tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK * SPLITS):
        a = tl.load(a_ptr + rows[:, None] * lda + (start + depth)[None, :])
        b = tl.load(b_ptr + (start + depth)[:, None] * ldb + cols[None, :])
        total = tl.dot(a, b, total)
    tl.atomic_add(c_ptr + rows[:, None] * ldc + cols[None, :], total, sem="relaxed")


@triton.jit
def grouped_gemm(a_list, b_list, c_list, sizes, groups, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Products of many sizes in one launch; each program rebuilds descriptors as the group changes."""
    tile = tl.program_id(0)
    first = 0
    for group in range(groups):
        m = tl.load(sizes + 3 * group)
        n = tl.load(sizes + 3 * group + 1)
        k = tl.load(sizes + 3 * group + 2)
        tiles_n = tl.cdiv(n, BN)
        count = tl.cdiv(m, BM) * tiles_n
        if tile < first + count:
            a = tl.load(a_list + group).to(tl.pointer_type(tl.float16))
            b = tl.load(b_list + group).to(tl.pointer_type(tl.float16))
            c = tl.load(c_list + group).to(tl.pointer_type(tl.float16))
            a_map = tl.make_tensor_descriptor(a, [m, k], [k, 1], [BM, BK])
            b_map = tl.make_tensor_descriptor(b, [n, k], [k, 1], [BN, BK])
            c_map = tl.make_tensor_descriptor(c, [m, n], [n, 1], [BM, BN])
            while tile < first + count:
                row = (tile - first) // tiles_n * BM
                col = (tile - first) % tiles_n * BN
                total = tl.zeros((BM, BN), tl.float32)
                for start in range(0, k, BK):
                    total = tl.dot(a_map.load([row, start]), b_map.load([col, start]).T, total)
                c_map.store([row, col], total.to(tl.float16))
                tile += tl.num_programs(0)
        first += count


@triton.jit
def matmul_bias_gelu(
    a_ptr, b_ptr, bias_ptr, c_ptr, k, batch_stride, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """Batched product with a bias and a tanh GELU in the epilogue."""
    batch = tl.program_id(2).to(tl.int64) * batch_stride
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        a = tl.load(a_ptr + batch + rows[:, None] * k + (start + depth)[None, :])
        b = tl.load(b_ptr + (start + depth)[:, None] * BN + cols[None, :])
        total = tl.dot(a, b, total)
    total += tl.load(bias_ptr + cols)[None, :]
    inner = 0.79788456 * (total + 0.044715 * total * total * total)
    total = 0.5 * total * (1 + libdevice.tanh(inner))
    tl.store(c_ptr + batch + rows[:, None] * BN + cols[None, :], total.to(tl.bfloat16))


@triton.jit
def matmul_block_scaled(
    a_map,
    b_map,
    c_map,
    a_scale_ptr,
    b_scale_ptr,
    k,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    VECTOR: tl.constexpr,
    FORMAT: tl.constexpr,
    PACK: tl.constexpr,
):
    """Product of narrow numbers with one scale for every VECTOR elements of K."""
    row = tl.program_id(0) * BM
    col = tl.program_id(1) * BN
    rows = row + tl.arange(0, BM)
    cols = col + tl.arange(0, BN)
    scales = tl.arange(0, BK // VECTOR)
    scale_pitch = k // VECTOR
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        a = a_map.load([row, start // PACK])
        b = b_map.load([col, start // PACK])
        a_scale = tl.load(a_scale_ptr + rows[:, None] * scale_pitch + (start // VECTOR + scales)[None, :])
        b_scale = tl.load(b_scale_ptr + cols[:, None] * scale_pitch + (start // VECTOR + scales)[None, :])
        total = tl.dot_scaled(a, a_scale, FORMAT, b.T, b_scale, FORMAT, total)
    c_map.store([row, col], total.to(c_map.dtype))


@triton.jit
def matmul_int4_weights(
    a_ptr, packed_ptr, scale_ptr, c_ptr, k, n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """Weights of four bits, two in a byte, unpacked and scaled in registers."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        a = tl.load(a_ptr + rows[:, None] * k + (start + tl.arange(0, BK))[None, :])
        half = start // 2 + tl.arange(0, BK // 2)
        packed = tl.load(packed_ptr + half[:, None] * n + cols[None, :])
        low = ((packed & 15) - 8).to(tl.float16)
        high = ((packed >> 4) & 15).to(tl.float16) - 8
        weights = tl.reshape(tl.permute(tl.join(low, high), (0, 2, 1)), (BK, BN))
        scale = tl.load(scale_ptr + (start // BK) * n + cols)
        total += tl.dot(a, weights * scale[None, :])
    tl.store(c_ptr + rows[:, None] * n + cols[None, :], total.to(tl.float16))


@triton.jit
def matmul_block_sparse(
    a_ptr, b_ptr, c_ptr, starts, columns, n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """A is block-sparse in compressed rows; the trip count comes from memory."""
    row = tl.program_id(0)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BM)[:, None] * BK + tl.arange(0, BK)[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for block in range(tl.load(starts + row), tl.load(starts + row + 1)):
        a = tl.load(a_ptr + block * BM * BK + inner)
        depth = tl.load(columns + block) * BK + tl.arange(0, BK)
        total = tl.dot(a, tl.load(b_ptr + depth[:, None] * n + cols[None, :]), total)
    rows = row * BM + tl.arange(0, BM)
    tl.store(c_ptr + rows[:, None] * n + cols[None, :], total.to(tl.float16))


@triton.jit
def attention_pointers(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    lse_ptr,
    length,
    scale,
    BM: tl.constexpr,
    BN: tl.constexpr,
    D: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """Attention forward with online softmax and pointer loads."""
    head = tl.program_id(1).to(tl.int64) * length * D
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    dims = tl.arange(0, D)
    inside = rows[:, None] < length
    q = tl.load(q_ptr + head + rows[:, None] * D + dims[None, :], mask=inside, other=0.0)
    peak = tl.full((BM,), float("-inf"), tl.float32)
    norm = tl.zeros((BM,), tl.float32)
    out = tl.zeros((BM, D), tl.float32)
    stop = tl.minimum((tl.program_id(0) + 1) * BM, length) if CAUSAL else length
    for start in range(0, stop, BN):
        keys = start + tl.arange(0, BN)
        k = tl.load(k_ptr + head + keys[None, :] * D + dims[:, None], mask=keys[None, :] < length, other=0.0)
        scores = tl.dot(q, k) * scale
        visible = keys[None, :] < length
        if CAUSAL:
            visible = visible & (rows[:, None] >= keys[None, :])
        scores = tl.where(visible, scores, float("-inf"))
        higher = tl.maximum(peak, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(peak - higher)
        norm = norm * shrink + tl.sum(weights, 1)
        v = tl.load(v_ptr + head + keys[:, None] * D + dims[None, :], mask=keys[:, None] < length, other=0.0)
        out = tl.dot(weights.to(v.dtype), v, out * shrink[:, None])
        peak = higher
    out = out / norm[:, None]
    tl.store(out_ptr + head + rows[:, None] * D + dims[None, :], out.to(tl.float16), mask=inside)
    tl.store(lse_ptr + tl.program_id(1) * length + rows, peak + tl.log2(norm), mask=rows < length)


@triton.jit
def attention_descriptors(
    q_map,
    k_map,
    v_map,
    out_map,
    lse_ptr,
    length,
    scale,
    BM: tl.constexpr,
    BN: tl.constexpr,
    D: tl.constexpr,
    SPECIALISE: tl.constexpr,
):
    """Attention forward with tensor descriptors; optionally the loop is warp-specialised."""
    base = tl.program_id(1) * length
    first = base + tl.program_id(0) * BM
    q = q_map.load([first, 0])
    peak = tl.full((BM,), float("-inf"), tl.float32)
    norm = tl.full((BM,), 1.0, tl.float32)
    out = tl.zeros((BM, D), tl.float32)
    for start in tl.range(0, length, BN, warp_specialize=SPECIALISE):
        k = k_map.load([base + start, 0])
        scores = tl.dot(q, k.T)
        higher = tl.maximum(peak, tl.max(scores, 1) * scale)
        weights = tl.exp2(scores * scale - higher[:, None])
        shrink = tl.exp2(peak - higher)
        total = tl.sum(weights, 1)
        v = v_map.load([base + start, 0])
        out = out * shrink[:, None]
        out = tl.dot(weights.to(v.dtype), v, out)
        norm = norm * shrink + total
        peak = higher
    tl.store(lse_ptr + first + tl.arange(0, BM), peak + tl.log2(norm))
    out_map.store([first, 0], (out / norm[:, None]).to(out_map.dtype))


@triton.jit
def attention_backward_keys(
    q_ptr,
    k_ptr,
    v_ptr,
    grad_ptr,
    lse_ptr,
    delta_ptr,
    dk_ptr,
    dv_ptr,
    length,
    scale,
    BM: tl.constexpr,
    BN: tl.constexpr,
    D: tl.constexpr,
):
    """Gradients of keys and values: one program owns a block of keys and walks the queries."""
    head = tl.program_id(1).to(tl.int64) * length
    keys = tl.program_id(0) * BN + tl.arange(0, BN)
    dims = tl.arange(0, D)
    k = tl.load(k_ptr + (head + keys[:, None]) * D + dims[None, :])
    v = tl.load(v_ptr + (head + keys[:, None]) * D + dims[None, :])
    dk = tl.zeros((BN, D), tl.float32)
    dv = tl.zeros((BN, D), tl.float32)
    for start in range(tl.program_id(0) * BN, length, BM):
        rows = start + tl.arange(0, BM)
        q = tl.load(q_ptr + (head + rows[:, None]) * D + dims[None, :])
        grad = tl.load(grad_ptr + (head + rows[:, None]) * D + dims[None, :])
        weights = tl.exp2(tl.dot(k, tl.trans(q)) * scale - tl.load(lse_ptr + head + rows)[None, :])
        weights = tl.where(rows[None, :] >= keys[:, None], weights, 0.0)
        dv = tl.dot(weights.to(tl.float16), grad, dv)
        slope = tl.dot(v, tl.trans(grad)) - tl.load(delta_ptr + head + rows)[None, :]
        dk = tl.dot((weights * slope).to(tl.float16), q, dk)
    tl.store(dk_ptr + (head + keys[:, None]) * D + dims[None, :], (dk * scale).to(tl.float16))
    tl.store(dv_ptr + (head + keys[:, None]) * D + dims[None, :], dv.to(tl.float16))


@triton.jit
def paged_decode(
    q_ptr, cache_ptr, pages_ptr, lengths_ptr, out_ptr, max_pages, scale, PAGE: tl.constexpr, D: tl.constexpr
):
    """One query row per program against a paged cache; page numbers are loaded."""
    sequence = tl.program_id(0)
    dims = tl.arange(0, D)
    slots = tl.arange(0, PAGE)
    length = tl.load(lengths_ptr + sequence)
    q = tl.load(q_ptr + sequence * D + dims).to(tl.float32)
    peak = float("-inf")
    norm = 0.0
    out = tl.zeros((D,), tl.float32)
    for page in range(tl.cdiv(length, PAGE)):
        where = tl.load(pages_ptr + sequence * max_pages + page).to(tl.int64) * 2 * PAGE * D
        valid = page * PAGE + slots < length
        k = tl.load(cache_ptr + where + slots[:, None] * D + dims[None, :], mask=valid[:, None], other=0.0)
        scores = tl.where(valid, tl.sum(k.to(tl.float32) * q[None, :], 1) * scale, float("-inf"))
        higher = tl.maximum(peak, tl.max(scores, 0))
        weights = tl.exp(scores - higher)
        shrink = tl.exp(peak - higher)
        v = tl.load(
            cache_ptr + where + (PAGE + slots[:, None]) * D + dims[None, :], mask=valid[:, None], other=0.0
        )
        out = out * shrink + tl.sum(weights[:, None] * v.to(tl.float32), 0)
        norm = norm * shrink + tl.sum(weights, 0)
        peak = higher
    tl.store(out_ptr + sequence * D + dims, (out / norm).to(tl.float16))


@triton.jit
def softmax_row(x_ptr, y_ptr, pitch, width, BLOCK: tl.constexpr):
    """A row at a time, many rows a program."""
    cols = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), pitch, tl.num_programs(0), num_stages=3):
        x = tl.load(x_ptr + row * pitch + cols, mask=cols < width, other=float("-inf"))
        e = tl.exp(x - tl.max(x, 0))
        tl.store(y_ptr + row * pitch + cols, e / tl.sum(e, 0), mask=cols < width)


@triton.jit
def softmax_online(x_ptr, y_ptr, width, BLOCK: tl.constexpr):
    """Rows longer than a block: running maximum and sum, then a second pass."""
    base = tl.program_id(0).to(tl.int64) * width
    peak = float("-inf")
    norm = 0.0
    for start in range(0, width, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + cols, mask=cols < width, other=float("-inf")).to(tl.float32)
        higher = tl.maximum(peak, tl.max(x, 0))
        norm = norm * tl.exp(peak - higher) + tl.sum(tl.exp(x - higher), 0)
        peak = higher
    for start in range(0, width, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + cols, mask=cols < width, other=0.0, eviction_policy="evict_first")
        tl.store(y_ptr + base + cols, (tl.exp(x.to(tl.float32) - peak) / norm).to(x.dtype), mask=cols < width)


@triton.jit
def layer_norm(x_ptr, w_ptr, b_ptr, y_ptr, mean_ptr, rstd_ptr, width, eps, BLOCK: tl.constexpr):
    """Layer norm forward in one pass over a row."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < width
    x = tl.load(x_ptr + row * width + cols, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(x, 0) / width
    centred = tl.where(inside, x - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(centred * centred, 0) / width + eps)
    w = tl.load(w_ptr + cols, mask=inside)
    b = tl.load(b_ptr + cols, mask=inside)
    tl.store(y_ptr + row * width + cols, (centred * rstd * w + b).to(tl.float16), mask=inside)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


@triton.jit
def layer_norm_weight_gradient(
    x_ptr, grad_ptr, mean_ptr, rstd_ptr, locks_ptr, dw_ptr, width, GROUPS: tl.constexpr, BLOCK: tl.constexpr
):
    """Partial gradients gathered under a spin lock for each group of rows."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < width
    x = tl.load(x_ptr + row * width + cols, mask=inside, other=0.0).to(tl.float32)
    grad = tl.load(grad_ptr + row * width + cols, mask=inside, other=0.0).to(tl.float32)
    part = grad * (x - tl.load(mean_ptr + row)) * tl.load(rstd_ptr + row)
    group = row % GROUPS
    while tl.atomic_cas(locks_ptr + group, 0, 1) == 1:
        pass
    place = dw_ptr + group * width + cols
    tl.store(place, part + tl.load(place, mask=inside), mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(locks_ptr + group, 0)


@triton.jit
def rms_norm_quantise(x_ptr, w_ptr, y_ptr, scale_ptr, width, eps, BLOCK: tl.constexpr):
    """RMS norm, then quantisation of the row to 8-bit floats with its own scale."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    inside = cols < width
    x = tl.load(x_ptr + row * width + cols, mask=inside, other=0.0).to(tl.float32)
    y = x * tl.rsqrt(tl.sum(x * x, 0) / width + eps) * tl.load(w_ptr + cols, mask=inside, other=0.0)
    scale = tl.maximum(tl.max(tl.abs(y), 0), 1e-6) / 448.0
    tl.store(y_ptr + row * width + cols, (y / scale).to(tl.float8e4nv), mask=inside)
    tl.store(scale_ptr + row, scale)


@triton.jit
def dropout(x_ptr, y_ptr, count, chance, seed, BLOCK: tl.constexpr):
    """Seeded dropout with the counter-based generator."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < count)
    kept = tl.rand(seed, at) > chance
    tl.store(y_ptr + at, tl.where(kept, x / (1 - chance), 0.0), mask=at < count)


@triton.jit
def random_normals(y_ptr, seed, BLOCK: tl.constexpr):
    """Four streams of the generator, as normal numbers."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, at)
    tl.store(y_ptr + at, tl.randn(seed, at) + (a ^ b ^ c ^ d).to(tl.float32))


@triton.jit
def welford_step(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    delta = mean_b - mean_a
    n = n_a + n_b
    share = tl.where(n == 0.0, 0.0, n_b / n)
    return mean_a + delta * share, m2_a + m2_b + delta * delta * n_a * share, n


@triton.jit
def row_statistics(x_ptr, mean_ptr, var_ptr, best_ptr, width, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Welford mean and variance by a custom reduction, and the place of the largest element."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + rows[:, None] * width + cols[None, :])
    mean, m2, n = tl.reduce((x, tl.zeros_like(x), tl.full(x.shape, 1.0, x.dtype)), 1, welford_step)
    tl.store(mean_ptr + rows, mean)
    tl.store(var_ptr + rows, m2 / n)
    tl.store(best_ptr + rows, tl.argmax(x, 1))


@triton.jit
def column_sum(x_ptr, y_ptr, height, width, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Sum down the columns in a loop, with one atomic per column at the end."""
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(tl.program_id(1) * ROWS, height, tl.num_programs(1) * ROWS):
        rows = start + tl.arange(0, ROWS)
        total += tl.load(
            x_ptr + rows[:, None] * width + cols[None, :], mask=rows[:, None] < height, other=0.0
        )
    tl.atomic_add(y_ptr + cols, tl.sum(total, 0))


@triton.jit
def gate_step(decay_a, value_a, decay_b, value_b):
    return decay_a * decay_b, decay_b * value_a + value_b


@triton.jit
def gated_scan(decay_ptr, x_ptr, y_ptr, length, BLOCK: tl.constexpr, D: tl.constexpr):
    """A linear recurrence along the sequence as an associative scan, chunk after chunk."""
    dims = tl.program_id(0) * D + tl.arange(0, D)
    state = tl.zeros((D,), tl.float32)
    for start in range(0, length, BLOCK):
        at = (start + tl.arange(0, BLOCK))[:, None] * 1024 + dims[None, :]
        decay = tl.load(decay_ptr + at)
        x = tl.load(x_ptr + at)
        product, partial = tl.associative_scan((decay, x), 0, gate_step)
        y = partial + product * state[None, :]
        tl.store(y_ptr + at, y)
        last = (tl.arange(0, BLOCK) == BLOCK - 1)[:, None]
        state = tl.sum(tl.where(last, y, 0.0), 0)


@triton.jit
def running_sums(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    """Inclusive sums both ways, and products."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, tl.cumsum(x, 0, reverse=True))
    tl.store(z_ptr + at, tl.cumprod(x, 0))


@triton.jit
def histogram(x_ptr, bins_ptr, count, BINS: tl.constexpr, BLOCK: tl.constexpr):
    """Histogram of a block, added to the global one."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < count, other=0)
    tl.atomic_add(bins_ptr + tl.arange(0, BINS), tl.histogram(x, BINS, mask=at < count), sem="relaxed")


@triton.jit
def sort_rows(x_ptr, y_ptr, top_ptr, ROWS: tl.constexpr, BLOCK: tl.constexpr, K: tl.constexpr):
    """Bitonic sort of a row, and its largest K."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    x = tl.load(x_ptr + rows[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :])
    tl.store(y_ptr + rows[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :], tl.sort(x, 1, descending=True))
    tl.store(top_ptr + rows[:, None] * K + tl.arange(0, K)[None, :], tl.topk(x, K, 1))


@triton.jit
def atomics(f32_ptr, f16_ptr, i32_ptr, u32_ptr, i64_ptr, out_ptr, BLOCK: tl.constexpr):
    """Every atomic operation, with several orders and scopes."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    f = tl.load(f32_ptr + at)
    i = tl.load(i32_ptr + at)
    old = tl.atomic_add(f32_ptr + at, f, mask=f > 0, sem="acq_rel", scope="gpu")
    tl.atomic_add(f16_ptr + at, f.to(tl.float16), sem="relaxed", scope="sys")
    tl.atomic_max(f32_ptr + at, f)
    tl.atomic_min(f32_ptr + at, -f, sem="release")
    tl.atomic_max(i32_ptr + at, i, sem="acquire", scope="cta")
    tl.atomic_min(u32_ptr + at, i.to(tl.uint32))
    tl.atomic_and(i32_ptr + at, i)
    tl.atomic_or(i32_ptr + at, i)
    tl.atomic_xor(i32_ptr + at, i)
    wide = tl.atomic_cas(i64_ptr + at, i.to(tl.int64), old.to(tl.int64))
    tl.store(out_ptr + at, tl.atomic_xchg(i32_ptr + at, i) + wide.to(tl.int32))


@triton.jit
def ticket_barrier(counter_ptr, x_ptr, y_ptr, BLOCK: tl.constexpr):
    """All programs meet at a counter in global memory, then read each other's results."""
    at = tl.arange(0, BLOCK)
    me = tl.program_id(0)
    tl.store(y_ptr + me * BLOCK + at, tl.load(x_ptr + me * BLOCK + at) * 2)
    tl.debug_barrier()
    tl.atomic_add(counter_ptr, 1, sem="release")
    while tl.atomic_add(counter_ptr, 0, sem="acquire") < tl.num_programs(0):
        pass
    other = (me + 1) % tl.num_programs(0)
    tl.store(x_ptr + me * BLOCK + at, tl.load(y_ptr + other * BLOCK + at, cache_modifier=".cg"))


@triton.jit
def gather_scatter_rows(x_map, y_map, index_ptr, width, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Rows picked by number through a descriptor, written to other rows."""
    rows = tl.load(index_ptr + tl.program_id(0) * ROWS + tl.arange(0, ROWS))
    for start in range(0, width, BLOCK):
        block = x_map.gather(rows, start)
        y_map.scatter(block, rows, start)


@triton.jit
def descriptor_reduce(x_map, y_map, z_map, steps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Tiles added, and their maximum taken, in global memory by the copy engine."""
    row = tl.program_id(0) * ROWS
    for step in range(steps):
        x = x_map.load([row, step * BLOCK])
        y_map.atomic_add([row, 0], x)
        z_map.atomic_max([row, 0], x.to(tl.int32))


@triton.jit
def copy_3d(x_map, y_map, depth, B0: tl.constexpr, B1: tl.constexpr, B2: tl.constexpr):
    """A tile of three dimensions, transposed within."""
    for plane in range(depth):
        x = x_map.load([plane, tl.program_id(0) * B1, tl.program_id(1) * B2])
        y_map.store([plane, tl.program_id(1) * B2, tl.program_id(0) * B1], tl.permute(x, (0, 2, 1)))


@triton.jit
def convolution(
    x_ptr,
    w_ptr,
    y_ptr,
    height,
    width,
    channels,
    R: tl.constexpr,
    S: tl.constexpr,
    BP: tl.constexpr,
    BN: tl.constexpr,
    BC: tl.constexpr,
):
    """Two-dimensional convolution as a product over (r, s, channel), with a halo of zeros."""
    pixels = tl.program_id(0) * BP + tl.arange(0, BP)
    outs = tl.program_id(1) * BN + tl.arange(0, BN)
    py = pixels // width
    px = pixels % width
    total = tl.zeros((BP, BN), tl.float32)
    for r in tl.static_range(R):
        for s in tl.static_range(S):
            y = py + r - R // 2
            x = px + s - S // 2
            inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
            for start in range(0, channels, BC):
                c = start + tl.arange(0, BC)
                image = tl.load(
                    x_ptr + ((y * width + x) * channels)[:, None] + c[None, :],
                    mask=inside[:, None],
                    other=0.0,
                )
                taps = tl.load(w_ptr + ((r * S + s) * channels + c)[:, None] * 256 + outs[None, :])
                total = tl.dot(image, taps, total)
    tl.store(y_ptr + pixels[:, None] * 256 + outs[None, :], total.to(tl.float16))


@triton.jit
def depthwise_convolution(x_ptr, w_ptr, y_ptr, length, TAPS: tl.constexpr, BLOCK: tl.constexpr):
    """Causal one-dimensional convolution of each channel, then SiLU."""
    channel = tl.program_id(1)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for tap in tl.static_range(TAPS):
        source = at - (TAPS - 1) + tap
        x = tl.load(x_ptr + channel * length + source, mask=(source >= 0) & (source < length), other=0.0)
        total += x * tl.load(w_ptr + channel * TAPS + tap)
    tl.store(y_ptr + channel * length + at, total * tl.sigmoid(total), mask=at < length)


@triton.jit
def cross_entropy(logits_ptr, labels_ptr, loss_ptr, grad_ptr, width, BLOCK: tl.constexpr):
    """Loss and gradient of one row; rows with a negative label return early."""
    row = tl.program_id(0).to(tl.int64)
    label = tl.load(labels_ptr + row)
    if label < 0:
        tl.store(loss_ptr + row, 0.0)
        return
    cols = tl.arange(0, BLOCK)
    inside = cols < width
    x = tl.load(logits_ptr + row * width + cols, mask=inside, other=float("-inf")).to(tl.float32)
    peak = tl.max(x, 0)
    e = tl.exp(x - peak)
    norm = tl.sum(e, 0)
    tl.store(loss_ptr + row, tl.log(norm) + peak - tl.load(logits_ptr + row * width + label).to(tl.float32))
    hit = tl.where(cols == label, 1.0, 0.0)
    tl.store(grad_ptr + row * width + cols, (e / norm - hit).to(tl.bfloat16), mask=inside)


@triton.jit
def rotary(x_ptr, angle_ptr, position_ptr, HEADS: tl.constexpr, D: tl.constexpr):
    """Rotary embedding in place, pairs interleaved in memory."""
    token = tl.program_id(0).to(tl.int64)
    heads = tl.arange(0, HEADS)
    dims = tl.arange(0, D)
    x = tl.load(x_ptr + token * HEADS * D + heads[:, None] * D + dims[None, :]).to(tl.float32)
    even, odd = tl.split(tl.reshape(x, (HEADS, D // 2, 2)))
    angle = tl.load(angle_ptr + tl.arange(0, D // 2)) * tl.load(position_ptr + token).to(tl.float32)
    c, s = tl.cos(angle)[None, :], tl.sin(angle)[None, :]
    y = tl.reshape(tl.join(even * c - odd * s, even * s + odd * c), (HEADS, D))
    tl.store(x_ptr + token * HEADS * D + heads[:, None] * D + dims[None, :], y.to(tl.bfloat16))


@triton.jit
def embedding(table_ptr, index_ptr, y_ptr, vocabulary, width, BLOCK: tl.constexpr):
    """Table rows picked by number, with a check of the bounds in the kernel."""
    token = tl.program_id(0)
    index = tl.load(index_ptr + token)
    tl.device_assert(index < vocabulary, "index out of range")
    for start in range(0, width, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(table_ptr + index * width + cols, mask=cols < width, eviction_policy="evict_last")
        tl.store(y_ptr + token * width + cols, x, mask=cols < width, cache_modifier=".cs")


@triton.jit
def transpose(x_ptr, y_ptr, height, width, B: tl.constexpr):
    """A tile through shared memory."""
    rows = tl.program_id(0) * B + tl.arange(0, B)
    cols = tl.program_id(1) * B + tl.arange(0, B)
    x = tl.load(x_ptr + rows[:, None] * width + cols[None, :])
    tl.store(y_ptr + cols[:, None] * height + rows[None, :], tl.trans(x))


@triton.jit
def gather_columns(x_ptr, index_ptr, y_ptr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Elements of a row permuted by an index tensor, within the program."""
    at = tl.arange(0, ROWS)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, tl.gather(x, tl.load(index_ptr + at), 1))


@triton.jit
def special_functions(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    """Functions of the device library, with their subroutines and slow paths."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    y = libdevice.lgamma(x) + libdevice.erfinv(x) + libdevice.j0(x) + libdevice.cbrt(x)
    y += tl.sin(x * 1e6) + libdevice.pow(x, 3.7) + tl.erf(x) + tl.floor(x) + libdevice.fmod(x, 2.5)
    tl.store(y_ptr + at, y)
    z = tl.load(z_ptr + at)
    tl.store(z_ptr + at, libdevice.exp(z) / tl.sqrt(z) + libdevice.atan2(z, z + 1))


@triton.jit
def inline_assembly(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """Two results of four packed bytes each from hand-written assembly with its own registers."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    low, high = tl.inline_asm_elementwise(
        asm="""{
        .reg .b32 t;
        .reg .pred p;
        setp.ne.b32 p, $1, 0;
        @p shr.b32 t, $2, 3;
        @!p mov.b32 t, 0x0f0f0f0f;
        lop3.b32 $0, t, $2, 0x33333333, 0xEA;
        prmt.b32 $1, t, $2, 0x5140;
        }""",
        constraints="=r,=r,r",
        args=[x],
        dtype=(tl.int8, tl.int8),
        is_pure=True,
        pack=4,
    )
    tl.store(y_ptr + at, low + high)


@triton.jit
def dependent_launch(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    """Waits for the grid before it, and lets the next one start early."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gdc_wait()
    x = tl.load(x_ptr + at, mask=at < count)
    gdc_launch_dependents()
    tl.store(y_ptr + at, x + 1, mask=at < count)


@triton.jit(noinline=True)
def soft_clip(x, limit):
    """A scalar function with a branch, really called."""
    if x > limit:
        return limit + tl.log(1.0 + x - limit)
    return x


@triton.jit
def separate_function(x_ptr, y_ptr, limit, steps):
    """A device function that is called twice in a loop."""
    row = tl.program_id(0) * steps
    for step in range(steps):
        x = tl.load(x_ptr + row + step)
        tl.store(y_ptr + row + step, soft_clip(soft_clip(x, limit) * x, limit))


@triton.jit
def print_extremes(x_ptr, BLOCK: tl.constexpr):
    """Formatted output from the device."""
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.device_print("largest", tl.max(x, 0))


@triton.jit
def narrow_conversions(x_ptr, e5_ptr, e4_ptr, bf_ptr, BLOCK: tl.constexpr):
    """Between 32, 16 and 8-bit floats, with rounding to nearest and towards zero."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(e5_ptr + at, x.to(tl.float8e5, fp_downcast_rounding="rtne"))
    tl.store(bf_ptr + at, x.to(tl.bfloat16, fp_downcast_rounding="rtz"))
    tl.store(x_ptr + at, tl.load(e4_ptr + at).to(tl.float16).to(tl.float32) + x)


@triton.jit
def matmul_device_descriptors_stated(
    a_ptr, b_ptr, c_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """The same, and the kernel says which sizes it is for."""
    tl.assume(m > 0)
    tl.assume(n > 0)
    tl.assume(k > 0)
    matmul_device_descriptors(a_ptr, b_ptr, c_ptr, m, n, k, BM, BN, BK)


@triton.jit
def matmul_persistent_device_descriptors(
    a_ptr,
    b_ptr,
    c_ptr,
    m,
    n,
    k,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    PROGRAMS: tl.constexpr,
    STATED: tl.constexpr,
):
    """A fixed number of programs share all tiles, with descriptors that each makes for itself."""
    if STATED:
        tl.assume(m > 0)
        tl.assume(n > 0)
        tl.assume(k > 0)
    a_map = tl.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [BM, BK])
    b_map = tl.make_tensor_descriptor(b_ptr, [n, k], [k, 1], [BN, BK])
    c_map = tl.make_tensor_descriptor(c_ptr, [m, n], [n, 1], [BM, BN])
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, PROGRAMS):
        row, col = swizzle_tile(tile, tiles_m, tiles_n, 8)
        total = tl.zeros((BM, BN), tl.float32)
        for start in range(0, k, BK):
            total = tl.dot(a_map.load([row * BM, start]), b_map.load([col * BN, start]).T, total)
        c_map.store([row * BM, col * BN], total.to(tl.float16))


@triton.jit
def attention_device_descriptors(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    length,
    pitch,
    scale,
    BM: tl.constexpr,
    BN: tl.constexpr,
    D: tl.constexpr,
    STATED: tl.constexpr,
):
    """Attention forward of one head of each program, with descriptors of the rows of that head."""
    if STATED:
        tl.assume(length > 0)
        tl.assume(pitch > 0)
    head = tl.program_id(1).to(tl.int64) * length * pitch
    q_map = tl.make_tensor_descriptor(q_ptr + head, [length, D], [pitch, 1], [BM, D])
    k_map = tl.make_tensor_descriptor(k_ptr + head, [length, D], [pitch, 1], [BN, D])
    v_map = tl.make_tensor_descriptor(v_ptr + head, [length, D], [pitch, 1], [BN, D])
    out_map = tl.make_tensor_descriptor(out_ptr + head, [length, D], [pitch, 1], [BM, D])
    first = tl.program_id(0) * BM
    q = q_map.load([first, 0])
    peak = tl.full((BM,), float("-inf"), tl.float32)
    norm = tl.full((BM,), 1.0, tl.float32)
    out = tl.zeros((BM, D), tl.float32)
    for start in range(0, length, BN):
        scores = tl.dot(q, k_map.load([start, 0]).T)
        scores = tl.where((start + tl.arange(0, BN) < length)[None, :], scores, float("-inf"))
        higher = tl.maximum(peak, tl.max(scores, 1) * scale)
        weights = tl.exp2(scores * scale - higher[:, None])
        shrink = tl.exp2(peak - higher)
        out = out * shrink[:, None]
        out = tl.dot(weights.to(tl.float16), v_map.load([start, 0]), out)
        norm = norm * shrink + tl.sum(weights, 1)
        peak = higher
    out_map.store([first, 0], (out / norm[:, None]).to(tl.float16))


TILE = {"BM": 128, "BN": 128, "BK": 64}
SMALL = {"BM": 64, "BN": 64, "BK": 32}
MATMUL = "i32 i32 i32 i32:16 i32:16 i32:16"
HALF_MAPS = "map<fp16[128,64]> map<fp16[128,64]> map<fp16[128,128]>"
PERSISTENT = {**TILE, "PROGRAMS": 132, "FLATTEN": True, "SPECIALISE": False, "HALVES": False}
FLASH = {"BM": 128, "BN": 64, "D": 64}
SCALED = {"BM": 128, "BN": 128, "BK": 128, "VECTOR": 32, "FORMAT": "e4m3", "PACK": 1}
FP4 = {**SCALED, "BK": 256, "FORMAT": "e2m1", "PACK": 2}

CASES = (
    Case("matmul_fp16", matmul_pointers, f"*fp16 *fp16 *fp16 {MATMUL}", TILE, ALL, warps=4),
    Case(
        "matmul_fp16_8warps",
        matmul_pointers,
        f"*fp16 *fp16 *fp16 {MATMUL}",
        {**TILE, "BN": 256},
        ALL,
        warps=8,
    ),
    Case("matmul_bf16_2stages", matmul_pointers, f"*bf16 *bf16 *fp32 {MATMUL}", SMALL, ALL, stages=2),
    Case("matmul_tf32", matmul_pointers, f"*fp32 *fp32 *fp32 {MATMUL}", {**SMALL, "BM": 128}, (80, 90, 100)),
    Case("matmul_fp64", matmul_pointers, f"*fp16 *fp16 *fp64 {MATMUL}", SMALL, (80,)),
    Case("matmul_fp8", matmul_pointers, f"*fp8e4nv *fp8e4nv *fp16 {MATMUL}", {**TILE, "BK": 128}, TMA),
    Case("matmul_cluster", matmul_pointers, f"*fp16 *fp16 *fp16 {MATMUL}", TILE, (90,), ctas=2),
    Case("matmul_int8", matmul_int8, "*i8 *i8 *fp16 *fp32 i32 i32:16 i32:16 i32:16", SMALL, (80, 90, 120)),
    Case("matmul_host_descriptors", matmul_host_descriptors, f"{HALF_MAPS} i32", TILE, TMA, warps=8),
    Case(
        "matmul_host_descriptors_fp8",
        matmul_host_descriptors,
        "map<fp8e4nv[128,128]> map<fp8e4nv[128,128]> map<bf16[128,128]> i32",
        {**TILE, "BK": 128},
        TMA,
        warps=4,
    ),
    Case(
        "matmul_host_descriptors_4stages",
        matmul_host_descriptors,
        f"{HALF_MAPS} i32",
        TILE,
        DATACENTER,
        stages=4,
    ),
    Case("matmul_cluster_descriptors", matmul_host_descriptors, f"{HALF_MAPS} i32", TILE, DATACENTER, ctas=2),
    Case(
        "matmul_device_descriptors",
        matmul_device_descriptors,
        "*fp16 *fp16 *fp16 i32 i32:16 i32:16",
        TILE,
        DATACENTER,
        warps=8,
    ),
    Case(
        "matmul_device_descriptors_stated",
        matmul_device_descriptors_stated,
        "*fp16 *fp16 *fp16 i32 i32:16 i32:16",
        TILE,
        DATACENTER,
        warps=8,
    ),
    Case(
        "matmul_persistent_device_descriptors",
        matmul_persistent_device_descriptors,
        "*fp16 *fp16 *fp16 i32 i32:16 i32:16",
        {**TILE, "PROGRAMS": 132, "STATED": False},
        DATACENTER,
        warps=8,
    ),
    Case(
        "matmul_persistent_device_descriptors_stated",
        matmul_persistent_device_descriptors,
        "*fp16 *fp16 *fp16 i32 i32:16 i32:16",
        {**TILE, "PROGRAMS": 132, "STATED": True},
        DATACENTER,
        warps=8,
    ),
    Case("matmul_persistent", matmul_persistent, f"{HALF_MAPS} i32 i32 i32", PERSISTENT, TMA, warps=8),
    Case(
        "matmul_persistent_halves",
        matmul_persistent,
        "map<fp16[128,64]> map<fp16[128,64]> map<fp16[128,64]> i32 i32 i32",
        {**PERSISTENT, "HALVES": True},
        DATACENTER,
        warps=4,
        stages=4,
    ),
    Case(
        "matmul_specialised",
        matmul_persistent,
        f"{HALF_MAPS} i32 i32 i32",
        {**PERSISTENT, "SPECIALISE": True},
        DATACENTER,
        warps=4,
    ),
    Case(
        "matmul_specialised_nested",
        matmul_persistent,
        "map<fp16[128,64]> map<fp16[128,64]> map<fp16[128,64]> i32 i32 i32",
        {**PERSISTENT, "SPECIALISE": True, "FLATTEN": False, "HALVES": True},
        DATACENTER,
        warps=8,
        stages=4,
    ),
    Case(
        "matmul_split_k",
        matmul_split_k,
        "*fp16 *fp16 *fp32 i32 i32:16 i32:16 i32:16",
        {**TILE, "SPLITS": 4},
        ALL,
    ),
    Case("grouped_gemm", grouped_gemm, "*u64 *u64 *u64 *i32 i32", TILE, DATACENTER, warps=8),
    Case(
        "matmul_bias_gelu", matmul_bias_gelu, "*bf16 *bf16 *fp32 *bf16 i32:16 i64:16", {**TILE, "BK": 32}, ALL
    ),
    Case(
        "matmul_mxfp8",
        matmul_block_scaled,
        "map<fp8e4nv[128,128]> map<fp8e4nv[128,128]> map<fp16[128,128]> *u8 *u8 i32:16",
        SCALED,
        (100, 120),
    ),
    Case(
        "matmul_mxfp4",
        matmul_block_scaled,
        "map<u8[128,128]> map<u8[128,128]> map<fp16[128,128]> *u8 *u8 i32:16",
        FP4,
        (100, 120),
    ),
    Case(
        "matmul_nvfp4",
        matmul_block_scaled,
        "map<u8[128,128]> map<u8[128,128]> map<fp16[128,128]> *fp8e4nv *fp8e4nv i32:16",
        {**FP4, "VECTOR": 16},
        (100,),
    ),
    Case("matmul_int4_weights", matmul_int4_weights, "*fp16 *i8 *fp16 *fp16 i32:16 i32:16", TILE, ALL),
    Case("matmul_block_sparse", matmul_block_sparse, "*fp16 *fp16 *fp16 *i32 *i32 i32:16", SMALL, ALL),
    Case(
        "attention",
        attention_pointers,
        "*fp16 *fp16 *fp16 *fp16 *fp32 i32 fp32",
        {**FLASH, "CAUSAL": False},
        ALL,
    ),
    Case(
        "attention_causal",
        attention_pointers,
        "*fp16 *fp16 *fp16 *fp16 *fp32 i32:16 fp32",
        {**FLASH, "D": 128, "CAUSAL": True},
        ALL,
        warps=8,
    ),
    Case(
        "attention_descriptors",
        attention_descriptors,
        "map<fp16[128,64]> map<fp16[64,64]> map<fp16[64,64]> map<fp16[128,64]> *fp32 i32 fp32",
        {**FLASH, "SPECIALISE": False},
        TMA,
    ),
    Case(
        "attention_device_descriptors",
        attention_device_descriptors,
        "*fp16 *fp16 *fp16 *fp16 i32 i32:16 fp32",
        {**FLASH, "STATED": False},
        DATACENTER,
    ),
    Case(
        "attention_device_descriptors_stated",
        attention_device_descriptors,
        "*fp16 *fp16 *fp16 *fp16 i32 i32:16 fp32",
        {**FLASH, "STATED": True},
        DATACENTER,
    ),
    Case(
        "attention_specialised",
        attention_descriptors,
        "map<fp16[128,128]> map<fp16[64,128]> map<fp16[64,128]> map<fp16[128,128]> *fp32 i32 fp32",
        {**FLASH, "D": 128, "SPECIALISE": True},
        (100,),
    ),
    Case(
        "attention_specialised_64",
        attention_descriptors,
        "map<bf16[128,64]> map<bf16[128,64]> map<bf16[128,64]> map<bf16[128,64]> *fp32 i32 fp32",
        {**FLASH, "BN": 128, "SPECIALISE": True},
        (100,),
    ),
    Case(
        "attention_specialised_hopper",
        attention_descriptors,
        "map<bf16[64,64]> map<bf16[128,64]> map<bf16[128,64]> map<bf16[64,64]> *fp32 i32 fp32",
        {"BM": 64, "BN": 128, "D": 64, "SPECIALISE": True},
        (90,),
    ),
    Case(
        "attention_specialised_hopper_2stages",
        attention_descriptors,
        "map<fp16[64,128]> map<fp16[64,128]> map<fp16[64,128]> map<fp16[64,128]> *fp32 i32 fp32",
        {"BM": 64, "BN": 64, "D": 128, "SPECIALISE": True},
        (90,),
        stages=2,
    ),
    Case(
        "matmul_specialised_hopper",
        matmul_persistent,
        "map<fp16[64,64]> map<fp16[128,64]> map<fp16[64,128]> i32 i32 i32",
        {**PERSISTENT, "BM": 64, "SPECIALISE": True, "FLATTEN": False},
        (90,),
    ),
    Case(
        "attention_backward_keys",
        attention_backward_keys,
        "*fp16 *fp16 *fp16 *fp16 *fp32 *fp32 *fp16 *fp16 i32:16 fp32",
        {"BM": 64, "BN": 64, "D": 64},
        ALL,
    ),
    Case(
        "paged_decode", paged_decode, "*fp16 *fp16 *i32 *i32 *fp16 i32 fp32", {"PAGE": 16, "D": 128}, (80, 90)
    ),
    Case("softmax_row", softmax_row, "*fp32 *fp32 i32 i32", {"BLOCK": 2048}, (80, 90)),
    Case("softmax_online", softmax_online, "*bf16 *bf16 i32", {"BLOCK": 4096}, (80, 100), warps=8),
    Case(
        "layer_norm",
        layer_norm,
        "*fp16 *fp16 *fp16 *fp16 *fp32 *fp32 i32 fp32",
        {"BLOCK": 4096},
        ALL,
        warps=8,
    ),
    Case(
        "layer_norm_weight_gradient",
        layer_norm_weight_gradient,
        "*fp16 *fp16 *fp32 *fp32 *i32 *fp32 i32",
        {"GROUPS": 64, "BLOCK": 1024},
        (80, 90),
    ),
    Case("rms_norm_quantise", rms_norm_quantise, "*bf16 *bf16 *fp8e4nv *fp32 i32 fp32", {"BLOCK": 4096}, TMA),
    Case("dropout", dropout, "*fp32 *fp32 i32 fp32 i32", {"BLOCK": 1024}, (80, 90)),
    Case("random_normals", random_normals, "*fp32 i32", {"BLOCK": 1024}, (90,)),
    Case(
        "row_statistics",
        row_statistics,
        "*fp32 *fp32 *fp32 *i32 i32",
        {"ROWS": 4, "BLOCK": 1024},
        (80, 90, 100),
    ),
    Case("column_sum", column_sum, "*fp16 *fp32 i32 i32:16", {"ROWS": 32, "BLOCK": 128}, (80, 90)),
    Case("gated_scan", gated_scan, "*fp32 *fp32 *fp32 i32", {"BLOCK": 64, "D": 32}, (80, 90)),
    Case("running_sums", running_sums, "*fp32 *fp32 *fp32", {"BLOCK": 2048}, (90,)),
    Case("histogram", histogram, "*i32 *i32 i32", {"BINS": 256, "BLOCK": 2048}, (80, 90)),
    Case("sort_rows", sort_rows, "*fp32 *fp32 *fp32", {"ROWS": 2, "BLOCK": 256, "K": 16}, (80, 90)),
    Case("atomics", atomics, "*fp32 *fp16 *i32 *u32 *i64 *i32", {"BLOCK": 256}, ALL),
    Case("ticket_barrier", ticket_barrier, "*i32 *fp32 *fp32", {"BLOCK": 256}, (80, 90)),
    Case(
        "gather_scatter_rows",
        gather_scatter_rows,
        "map<fp16[1,64]> map<fp16[1,64]> *i32 i32",
        {"ROWS": 32, "BLOCK": 64},
        (100,),
    ),
    Case(
        "descriptor_reduce",
        descriptor_reduce,
        "map<fp32[64,64]> map<fp32[64,64]> map<i32[64,64]> i32",
        {"ROWS": 64, "BLOCK": 64},
        TMA,
    ),
    Case(
        "copy_3d",
        copy_3d,
        "map<fp16[1,64,64]> map<fp16[1,64,64]> i32",
        {"B0": 1, "B1": 64, "B2": 64},
        TMA,
    ),
    Case(
        "convolution",
        convolution,
        "*fp16 *fp16 *fp16 i32 i32 i32:16",
        {"R": 3, "S": 3, "BP": 128, "BN": 64, "BC": 32},
        ALL,
    ),
    Case(
        "depthwise_convolution",
        depthwise_convolution,
        "*fp32 *fp32 *fp32 i32",
        {"TAPS": 4, "BLOCK": 512},
        (80, 90),
    ),
    Case("cross_entropy", cross_entropy, "*bf16 *i64 *fp32 *bf16 i32", {"BLOCK": 8192}, (80, 90), warps=16),
    Case("rotary", rotary, "*bf16 *fp32 *i32", {"HEADS": 8, "D": 128}, (80, 90)),
    Case("embedding", embedding, "*fp16 *i64 *fp16 i32 i32", {"BLOCK": 1024}, (80, 90), debug=True),
    Case("transpose", transpose, "*fp32 *fp32 i32:16 i32:16", {"B": 64}, (80, 90)),
    Case("gather_columns", gather_columns, "*fp32 *i32 *fp32", {"ROWS": 16, "BLOCK": 128}, (80, 90)),
    Case("special_functions", special_functions, "*fp32 *fp32 *fp64", {"BLOCK": 256}, (80, 100)),
    Case("inline_assembly", inline_assembly, "*i8 *i8", {"BLOCK": 1024}, (80, 90)),
    Case("dependent_launch", dependent_launch, "*fp32 *fp32 i32", {"BLOCK": 1024}, (90, 100)),
    Case("separate_function", separate_function, "*fp32 *fp32 fp32 i32", {}, (80, 90)),
    Case("print_extremes", print_extremes, "*fp32", {"BLOCK": 256}, (80,)),
    Case("narrow_conversions", narrow_conversions, "*fp32 *fp8e5 *fp8e4nv *bf16", {"BLOCK": 1024}, TMA),
)
