"""Group `flashinfer`: kernels of the `flashinfer-python` wheel.

Three sorts: templates instantiated by a few lines that this script writes, sources of the wheel that compile
as they are, and the PTX files that the wheel ships.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .environments import packages
from .store import Cache, Row
from .toolchain import build_unit, extra_headers

GROUP = "flashinfer"
PACKAGE_FLAGS = (
    "-DNDEBUG",
    "-DFLASHINFER_ENABLE_FP8_E8M0",
    "-DFLASHINFER_ENABLE_FP4_E2M1",
    "-DFLASHINFER_ENABLE_F16",
    "-DFLASHINFER_ENABLE_BF16",
    "-DFLASHINFER_ENABLE_FP8_E4M3",
    "-DFLASHINFER_ENABLE_FP8_E5M2",
    "-DCUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED",
    "--expt-extended-lambda",
    "-use_fast_math",
)


@dataclass(frozen=True, slots=True)
class Instance:
    """Functions whose addresses are taken, so that the compiler makes their kernels."""

    name: str
    target: str
    headers: tuple[str, ...]
    functions: tuple[str, ...] = ()
    prologue: str = ""
    flags: tuple[str, ...] = ()

    def source(self) -> str:
        lines = [f"#include <{header}>" for header in self.headers]
        lines += ["using namespace flashinfer;", self.prologue]
        lines += [f"auto* keep_{i} = &{function};" for i, function in enumerate(self.functions)]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class Source:
    """A file of the wheel's `csrc` folder."""

    name: str
    target: str
    path: str
    flags: tuple[str, ...] = ()


HOPPER_PREFILL = ("flashinfer/attention/hopper/prefill_sm90.cuh",)
HOPPER_TYPES = """#include <flashinfer/attention/hopper/default_params.cuh>
#include <flashinfer/attention/hopper/variants.cuh>
using Standard = StandardAttention;
using Single = SinglePrefillParams<cutlass::half_t, cutlass::half_t, cutlass::half_t, int32_t>;
using Brain = cutlass::bfloat16_t;
using Ragged = BatchPrefillRaggedParams<Brain, Brain, Brain, int32_t>;
using Paged = BatchPrefillPagedParams<cutlass::half_t, cutlass::half_t, cutlass::half_t, int32_t>;"""
DECODE_TYPES = """#include <flashinfer/attention/default_decode_params.cuh>
#include <flashinfer/attention/variants.cuh>
using One = SingleDecodeParams<half, half, half>;
using Many = BatchDecodeParams<nv_bfloat16, nv_bfloat16, nv_bfloat16, int32_t>;
using Variant = DefaultAttention<false, false, false, false>;"""
FMHA_TYPES = """using namespace cute;
using TileOfScores = Shape<_256, _128, _128>;
using TileOfOutput = Shape<_256, _128, _128>;
using Mask = cutlass::fmha::collective::CausalMask;"""

INSTANCES: tuple[Instance, ...] = (
    Instance(
        "norm",
        "sm_90a",
        ("flashinfer/norm.cuh",),
        (
            "norm::RMSNorm<half>",
            "norm::FusedAddRMSNorm<nv_bfloat16>",
            "norm::QKRMSNorm<half>",
        ),
    ),
    Instance("norm_sm100", "sm_100a", ("flashinfer/norm.cuh",), ("norm::RMSNormQuant<half, __nv_fp8_e4m3>",)),
    Instance(
        "page_append",
        "sm_90a",
        ("flashinfer/page.cuh",),
        ("AppendPagedKVCache<half, int32_t>", "AppendPagedKVCacheDecode<nv_bfloat16, int32_t>"),
    ),
    Instance(
        "sampling",
        "sm_90a",
        ("flashinfer/sampling.cuh",),
        (
            "sampling::TopKTopPSamplingFromProb<float, int32_t>",
            "sampling::TopPRenormProb<float>",
        ),
    ),
    Instance(
        "topk",
        "sm_100a",
        ("flashinfer/sampling.cuh", "flashinfer/topk.cuh"),
        ("sampling::TopKDispatch<float, int32_t>",),
    ),
    Instance(
        "cascade",
        "sm_80",
        ("flashinfer/attention/cascade.cuh",),
        ("MergeStates<half, half>", "VariableLengthMergeStates<half, half, int32_t>"),
    ),
    Instance(
        "decode",
        "sm_90a",
        ("flashinfer/attention/decode.cuh",),
        (
            "SingleDecodeWithKVCacheDispatched<128, PosEncodingMode::kNone, Variant, One>",
            "BatchDecodeWithPagedKVCacheDispatched<128, PosEncodingMode::kNone, Variant, Many>",
        ),
        DECODE_TYPES,
    ),
    Instance(
        "prefill_single_sm90",
        "sm_90a",
        HOPPER_PREFILL,
        ("SinglePrefillWithKVCacheDispatched<128, 128, MaskMode::kCausal, false, Standard, Single>",),
        HOPPER_TYPES,
    ),
    Instance(
        "prefill_ragged_sm90",
        "sm_90a",
        HOPPER_PREFILL,
        ("BatchPrefillWithRaggedKVCacheDispatched<64, 64, MaskMode::kNone, true, false, Standard, Ragged>",),
        HOPPER_TYPES,
    ),
    Instance(
        "prefill_paged_sm90",
        "sm_90a",
        HOPPER_PREFILL,
        (
            "BatchPrefillWithPagedKVCacheDispatched<128, 128, MaskMode::kCausal, false, true, "
            "Standard, Paged>",
        ),
        HOPPER_TYPES,
    ),
    Instance(
        "mla_sm90",
        "sm_90a",
        ("flashinfer/attention/mla_hopper.cuh", "flashinfer/attention/mla_params.cuh"),
        ("mla::BatchMLAPageAttentionHopper<MaskMode::kCausal, 512, 64, Latent>",),
        "using Latent = MLAParams<half, half, half, int32_t>;",
    ),
    Instance(
        "mla_fp8_sm90",
        "sm_90a",
        ("flashinfer/attention/mla_hopper.cuh", "flashinfer/attention/mla_params.cuh"),
        ("mla::BatchMLAPageAttentionHopper<MaskMode::kCausal, 512, 64, Latent>",),
        "using Latent = MLAParams<nv_bfloat16, __nv_fp8_e4m3, nv_bfloat16, int32_t>;",
    ),
    Instance(
        "group_gemm_sm90",
        "sm_90a",
        ("flashinfer/gemm/group_gemm_sm90.cuh",),
        ("group_gemm::CutlassSegmentGEMMSM90Run<cutlass::half_t, cutlass::half_t>",),
    ),
    Instance(
        "gemm_groupwise_sm100",
        "sm_100a",
        ("flashinfer/gemm/gemm_groupwise_sm100.cuh",),
        (
            "gemm::CutlassGroupwiseScaledGEMMSM100<1, 128, 128, true, 1, cutlass::float_e4m3_t, "
            "cutlass::bfloat16_t>",
        ),
    ),
    Instance(
        "group_gemm_groupwise_sm100",
        "sm_100a",
        ("flashinfer/gemm/group_gemm_fp8_groupwise_sm100.cuh",),
        (
            "group_gemm::CutlassFP8GroupwiseScaledGroupGEMMSM100<1, 128, 128, true, 2, "
            "cutlass::float_e4m3_t, cutlass::bfloat16_t>",
        ),
    ),
    Instance(
        "gemm_groupwise_sm120",
        "sm_120a",
        ("flashinfer/gemm/gemm_groupwise_sm120.cuh",),
        (
            "gemm::CutlassGroupwiseScaledGEMMSM120<1, 128, 128, true, cutlass::float_e4m3_t, "
            "cutlass::bfloat16_t>",
        ),
    ),
    Instance(
        "gemm_bf16_sm100",
        "sm_100a",
        ("flashinfer/gemm/bf16_gemm_template_sm100.h",),
        (),
        "namespace flashinfer::gemm {\n"
        "INSTANCE_BF16_GEMM_TEMPLATE_SM100(__nv_bfloat16, 128, 128, 128, 1, 2, 1, _1SM);\n"
        "INSTANCE_BF16_GEMM_TEMPLATE_SM100(__nv_bfloat16, 128, 128, 128, 2, 1, 1, _2SM);\n}",
        ("-DENABLE_BF16",),
    ),
    Instance(
        "gemm_mxfp8_sm100",
        "sm_100a",
        ("flashinfer/gemm/mxfp8_gemm_cutlass_template.h", "flashinfer/gemm/mxfp8_gemm_template_sm100.h"),
        (),
        "namespace flashinfer::gemm {\n"
        "INSTANTIATE_MXFP8_GEMM_KERNEL_LAUNCHER(__nv_bfloat16, 128, 128, 256, 2, 1, 1, _2SM)\n}",
        ("-DENABLE_BF16",),
    ),
    Instance(
        "gemm_low_latency_sm100",
        "sm_100a",
        ("flashinfer/gemm/tgv_gemm_template.h",),
        (),
        "namespace flashinfer::gemm {\nINSTANTIATE_TGV_GEMM_HOST_BF16_BF16(64, 8, 8);\n}",
    ),
    Instance(
        "mla_sm100",
        "sm_100a",
        ("flashinfer/attention/cutlass_mla.cuh",),
        ("attention::runMla<cutlass::bfloat16_t>",),
    ),
    Instance(
        "fmha_sm100",
        "sm_100a",
        ("flashinfer/attention/blackwell/fmha_cutlass_sm100.cuh",),
        ("run_fmha_fwd<cutlass::half_t, cutlass::half_t, int, TileOfScores, TileOfOutput, Mask>",),
        FMHA_TYPES,
    ),
)

SOURCES: tuple[Source, ...] = (
    Source("softmax_rowwise", "sm_100a", "cake_blackwell_softmax_rowwise.cu"),
    Source("softmax_cached_cluster", "sm_100a", "cake_blackwell_softmax_cached_cluster.cu"),
    Source("vsa_longseq", "sm_100a", "cake_vsa/cake_vsa_longseq.cu"),
    Source("vsa_blk64_persistent", "sm_100a", "cake_vsa/cake_vsa_blk64_persistent.cu"),
    Source("vsa_fp16_direct", "sm_100a", "cake_vsa/cake_vsa_fp16_direct.cu"),
    Source("msa_0d5f", "sm_100a", "blackwell_msa/cake_blackwell_msa_0d5fbce2e49609a4d0f4_kernel.cu"),
    Source("msa_637c", "sm_100a", "blackwell_msa/cake_blackwell_msa_637c7e445617b377499f_kernel.cu"),
    Source("kda_fused_m128", "sm_100a", "kda/flashkda_bf16_fused_m128.cu"),
    Source("kda_fused_m64", "sm_100a", "kda/flashkda_bf16_fused_m64.cu"),
    Source("kda_chain_m64", "sm_100a", "kda/cake_flashkda_bf16_bt16_chain_m64.cu"),
    Source("kda_decode_split4", "sm_100a", "kda/flashkda_decode_d128_t2_precomputed_split4.cu"),
    Source("kda_packed_cpasync", "sm_100a", "kda/cake_kda_packed_t1_cpasync_tile64.cu"),
    Source("tinygemm2", "sm_90a", "tinygemm2.cu"),
    Source("tinygemm2_sm100", "sm_100a", "tinygemm2_sm100.cu"),
    Source("moe_sm100", "sm_100a", "alphamoe_sm100.cu"),
    Source("msa_decode_nvfp4", "sm_100a", "msa_decode_nvfp4_specialized.cu"),
    Source("eagle_verify_sm90", "sm_90a", "eagle_verify_fp8kv_sm90.cu"),
)


def build(cache: Cache, wanted: frozenset[str]) -> Iterator[Row]:
    """Build all units, or those named in `wanted`; one row as each is done."""
    site = packages(cache, "sources")
    data = site / "flashinfer" / "data"
    for shipped in sorted((data / "csrc").rglob("*.ptx")):
        name = f"shipped_{shipped.stem}"
        if not wanted or name in wanted:
            yield _copy(cache, name, shipped)
    flags = [*PACKAGE_FLAGS, *include_flags(cache)]
    for source in SOURCES:
        if not wanted or source.name in wanted:
            path = data / "csrc" / source.path
            yield build_unit(cache, GROUP, source.name, source.target, path, [*flags, *source.flags])
    for instance in INSTANCES:
        if not wanted or instance.name in wanted:
            path = cache.sources(GROUP) / f"{instance.name}.cu"
            path.write_text(instance.source(), encoding="utf-8")
            yield build_unit(cache, GROUP, instance.name, instance.target, path, [*flags, *instance.flags])


def include_flags(cache: Cache) -> list[str]:
    """The folders that the wheel's sources are compiled with."""
    site = packages(cache, "sources")
    data = site / "flashinfer" / "data"
    folders = (
        data / "cccl" / "cub",
        data / "cccl" / "libcudacxx" / "include",
        data / "cccl" / "thrust",
        data / "include",
        data / "csrc",
        data / "cutlass" / "include",
        data / "cutlass" / "tools" / "util" / "include",
        data / "spdlog" / "include",
        site / "tvm_ffi" / "include",
        data / "csrc" / "nv_internal",
        data / "csrc" / "nv_internal" / "include",
        data / "csrc" / "nv_internal" / "tensorrt_llm" / "cutlass_extensions" / "include",
        extra_headers(cache),
    )
    return [f"-I{folder}" for folder in folders]


def _copy(cache: Cache, name: str, shipped: Path) -> Row:
    output = cache.ptx(GROUP, name)
    shutil.copyfile(shipped, output)
    text = shipped.read_text(encoding="utf-8", errors="replace")
    target = next((line.split()[1] for line in text.splitlines() if line.startswith(".target")), "")
    row = Row(
        group=GROUP,
        name=name,
        target=target.rstrip(","),
        built=True,
        how=f"shipped in flashinfer-python as {shipped.name}",
        tool="shipped",
        bytes=output.stat().st_size,
    )
    cache.record(row)
    return row
