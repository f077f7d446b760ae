"""What of the CuTe DSL is compiled: kernels of QuACK, and CUTLASS' examples.

Nothing of the DSL is imported before a case is made.
"""
# mypy: ignore-errors

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

VERSIONS = "nvidia-cutlass-dsl 4.8.1, quack-kernels 0.6.5"
"""Part of each digest: other packages, other PTX."""


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel for one target, with the cluster that its host code launches."""

    name: str
    target: str
    make: Callable[[], object]
    cluster: tuple[int, int, int] = (1, 1, 1)

    @property
    def unit(self) -> str:
        shape = "x".join(map(str, self.cluster))
        return f"{self.name}.cluster{shape}.{self.target}"


def _quack_gemm(
    tile=(128, 192), cluster=(2, 1), *, arch=(9, 0), pingpong=False, persistent=True, dynamic=False, c=False,
    varlen_m=False, varlen_k=False, gather=False, tma_gather=False, split_k=1, mode="SERIAL", rowvec=False,
    out="BFloat16",
):  # fmt: skip
    import cutlass
    from quack.gemm import _compile_gemm
    from quack.gemm_config import SplitKMode
    from quack.rounding import RoundingMode

    half = cutlass.BFloat16
    return _compile_gemm(
        a_dtype=half, b_dtype=half, d_dtype=getattr(cutlass, out), c_dtype=half if c else None,
        a_major="m" if varlen_k else "k", b_major="n" if varlen_k else "k", d_major="n",
        c_major="n" if c else None, tile_shape_mn=tile, cluster_shape_mnk=(*cluster, 1), pingpong=pingpong,
        persistent=persistent, is_dynamic_persistent=dynamic,
        rowvec_dtype=cutlass.Float32 if rowvec else None, colvec_dtype=None, colvec_ndim=0,
        alpha_mode=0, beta_mode=1 if c else 0, add_to_output=False, concat_layout=(), varlen_m=varlen_m,
        varlen_k=varlen_k, gather_A=gather, use_tma_gather=tma_gather, has_batch_idx_permute=False,
        device_capacity=arch, rounding_mode=RoundingMode.RN, sr_seed_mode=0, num_warps=None, split_k=split_k,
        split_k_mode=SplitKMode[mode],
    )  # fmt: skip


def _quack_softmax(columns, backward=False):
    import cutlass
    from quack.softmax import Softmax, SoftmaxBackward

    half = cutlass.BFloat16
    if backward:
        return SoftmaxBackward.compile(half, half, half, columns)
    return Softmax.compile(half, half, columns)


def _quack_cross_entropy(columns, dx=False):
    import cutlass
    from quack.cross_entropy import CrossEntropy

    return CrossEntropy.compile(cutlass.BFloat16, cutlass.Int64, None, columns, True, dx, None, 1)


def _quack_rmsnorm(columns, backward=False):
    import cutlass
    from quack.rmsnorm import _compile_rmsnorm_bwd, _compile_rmsnorm_fwd

    half, single = cutlass.BFloat16, cutlass.Float32
    if backward:
        return _compile_rmsnorm_bwd(columns, half, half, half, single, False, half, half, True)
    return _compile_rmsnorm_fwd(half, half, half, single, None, half, columns, True, False, False, False)


def _example(path):
    """A module of CUTLASS' examples of the DSL, which come with FlashInfer's wheel."""
    folder = Path(os.environ["CUTE_DSL_EXAMPLES"])
    file = folder / f"{path}.py"
    sys.path[:0] = [str(folder), str(file.parent)]
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


def _matrix(kind, *, leading=1):
    """A batch of matrices of any size, with the mode `leading` contiguous."""
    import cutlass.cute as cute

    strides = [cute.sym_int64(divisibility=16) for _ in range(3)]
    strides[leading] = 1
    shape = tuple(cute.sym_int() for _ in range(3))
    return cute.runtime.make_fake_tensor(kind, shape, stride=tuple(strides), assumed_align=16)


def _stream():
    import cutlass.cute as cute

    return cute.runtime.make_fake_stream()


def _example_gemm(path, kernel, *how, persistent=False, operand="Float16", result="Float16"):
    """`how` is what the class takes behind the type of the accumulator."""
    import cutlass
    import cutlass.cute as cute

    gemm = getattr(_example(path), kernel)(cutlass.Float32, *how)
    operands = [_matrix(getattr(cutlass, operand)) for _ in range(2)]
    more = (1,) if persistent else ()
    return cute.compile(gemm, *operands, _matrix(getattr(cutlass, result)), *more, _stream())


def _hopper_attention(causal, persistent):
    import cutlass
    import cutlass.cute as cute

    module = _example("hopper/fmha")
    masks = module.fmha_utils.MaskEnum
    mask = masks.WINDOW_MASK if causal else masks.RESIDUAL_MASK
    kernel = module.HopperFusedMultiHeadAttentionForward(
        cutlass.Float32, cutlass.Float32, (64, 128, 128), persistent, mask
    )
    half, single = cutlass.Float16, cutlass.Float32
    queries, keys, depth, repeats, heads, batch = 0, 1, 2, 3, 4, 5
    sizes = [cute.sym_int() for _ in range(6)]
    sizes[depth] = 128

    def tensor(kind, rows, columns, groups):
        shape = (sizes[rows], columns, groups, sizes[heads], sizes[batch])
        strides = [cute.sym_int64(divisibility=16) for _ in shape]
        strides[1] = 1
        return cute.runtime.make_fake_tensor(kind, shape, stride=tuple(strides), assumed_align=16)

    q, o = (tensor(half, queries, sizes[depth], sizes[repeats]) for _ in range(2))
    k, v = (tensor(half, keys, sizes[depth], 1) for _ in range(2))
    lse = tensor(single, queries, 1, sizes[repeats])
    right = cutlass.Int32(0) if causal else None
    return cute.compile(kernel, q, k, v, o, lse, *[single(1.0)] * 3, None, right, _stream())


def _gemm(name, target, cluster=(2, 1), **how):
    arch = (9, 0) if target == "sm_90a" else (10, 0)
    return Case(
        f"quack_gemm_{name}", target, partial(_quack_gemm, cluster=cluster, arch=arch, **how), (*cluster, 1)
    )


CASES = (
    Case("quack_softmax_16384", "sm_90a", partial(_quack_softmax, 16384)),
    Case("quack_softmax_131072", "sm_90a", partial(_quack_softmax, 131072), (1, 8, 1)),
    Case("quack_softmax_bwd_131072", "sm_90a", partial(_quack_softmax, 131072, True), (1, 8, 1)),
    Case("quack_cross_entropy_131072", "sm_90a", partial(_quack_cross_entropy, 131072), (1, 8, 1)),
    Case("quack_cross_entropy_dx_131072", "sm_90a", partial(_quack_cross_entropy, 131072, True), (1, 8, 1)),
    Case("quack_rmsnorm_65536", "sm_90a", partial(_quack_rmsnorm, 65536), (1, 4, 1)),
    Case("quack_rmsnorm_bwd_32768", "sm_90a", partial(_quack_rmsnorm, 32768, True), (1, 4, 1)),
    Case("quack_softmax_131072", "sm_100a", partial(_quack_softmax, 131072), (1, 8, 1)),
    _gemm("static", "sm_90a", tile=(128, 192), persistent=False),
    _gemm("persistent", "sm_90a", tile=(256, 160), cluster=(1, 2)),
    _gemm("pingpong", "sm_90a", tile=(128, 192), pingpong=True),
    _gemm("pingpong_single", "sm_90a", tile=(192, 128), cluster=(1, 1), pingpong=True, c=True),
    _gemm("dynamic", "sm_90a", tile=(256, 128), dynamic=True),
    _gemm("bias", "sm_90a", tile=(128, 256), c=True, rowvec=True),
    _gemm("varlen_m", "sm_90a", tile=(128, 160), pingpong=True, varlen_m=True),
    _gemm("varlen_k", "sm_90a", tile=(256, 128), varlen_k=True),
    _gemm("gather", "sm_90a", tile=(128, 128), pingpong=True, varlen_m=True, gather=True),
    _gemm("split_k", "sm_90a", tile=(128, 256), split_k=2),
    _gemm("split_k_parallel", "sm_90a", tile=(128, 128), pingpong=True, split_k=4, mode="PARALLEL"),
    _gemm("one_cta", "sm_100a", tile=(128, 128), cluster=(1, 1)),
    _gemm("multicast", "sm_100a", tile=(128, 192), cluster=(1, 2)),
    _gemm("two_cta", "sm_100a", tile=(256, 256)),
    _gemm("two_cta_wide", "sm_100a", tile=(256, 512)),
    _gemm("clc", "sm_100a", tile=(256, 224), cluster=(2, 2), dynamic=True),
    _gemm("clc_bias", "sm_100a", tile=(128, 64), dynamic=True, c=True, rowvec=True),
    _gemm("varlen_m", "sm_100a", tile=(256, 128), dynamic=True, varlen_m=True),
    _gemm("varlen_k", "sm_100a", tile=(256, 192), varlen_k=True),
    _gemm("gather", "sm_100a", tile=(256, 128), varlen_m=True, gather=True),
    _gemm("tma_gather", "sm_100a", tile=(256, 128), varlen_m=True, gather=True, tma_gather=True),
    _gemm("split_k", "sm_100a", tile=(256, 256), split_k=2),
    *(
        Case(f"cutlass_hopper_{name}", "sm_90a", partial(_example_gemm, *how, **options), (*how[3], 1))
        for name, options, how in (
            ("dense", {}, ("hopper/dense_gemm", "HopperWgmmaGemmKernel", (128, 256), (2, 1))),
            ("dense_cta", {}, ("hopper/dense_gemm", "HopperWgmmaGemmKernel", (64, 128), (1, 1))),
            (
                "persistent",
                {"persistent": True},
                (
                    "hopper/dense_gemm_persistent",
                    "HopperWgmmaGemmPersistentKernel",
                    (128, 256),
                    (2, 1),
                    1,
                    True,
                ),
            ),
            (
                "persistent_fp8",
                {"persistent": True, "operand": "Float8E4M3FN"},
                (
                    "hopper/dense_gemm_persistent",
                    "HopperWgmmaGemmPersistentKernel",
                    (128, 128),
                    (1, 2),
                    2,
                    False,
                ),
            ),
        )
    ),
    *(
        Case(f"cutlass_blackwell_{name}", "sm_100a", partial(_example_gemm, *how, **options), (*how[4], 1))
        for name, options, how in (
            ("dense", {}, ("blackwell/dense_gemm", "DenseGemmKernel", False, (128, 128), (1, 1), True)),
            ("dense_2sm", {}, ("blackwell/dense_gemm", "DenseGemmKernel", True, (256, 256), (2, 1), True)),
            ("dense_store", {}, ("blackwell/dense_gemm", "DenseGemmKernel", True, (256, 128), (2, 2), False)),
            (
                "pipelined",
                {},
                ("blackwell/dense_gemm_software_pipeline", "DenseGemmKernel", True, (256, 128), (2, 1), True),
            ),
            (
                "persistent",
                {"persistent": True},
                (
                    "blackwell/dense_gemm_persistent",
                    "PersistentDenseGemmKernel",
                    True,
                    (256, 256),
                    (2, 1),
                    True,
                ),
            ),
            (
                "persistent_store",
                {"persistent": True},
                (
                    "blackwell/dense_gemm_persistent",
                    "PersistentDenseGemmKernel",
                    False,
                    (128, 128),
                    (1, 2),
                    False,
                ),
            ),
        )
    ),
    Case("cutlass_hopper_attention", "sm_90a", partial(_hopper_attention, False, False)),
    Case("cutlass_hopper_attention_causal", "sm_90a", partial(_hopper_attention, True, True)),
)
