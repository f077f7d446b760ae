"""Group `cutlass`: examples and CuTe tutorials of the `nvidia-cutlass` wheel, cheap ones first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .environments import packages
from .store import Cache, Row
from .toolchain import build_unit, extra_headers

GROUP = "cutlass"


@dataclass(frozen=True, slots=True)
class Unit:
    """One translation unit of the examples."""

    name: str
    target: str
    source: str
    flags: tuple[str, ...] = ()


UNITS: tuple[Unit, ...] = (
    Unit("cute_wgmma_sm90", "sm_90a", "cute/tutorial/hopper/wgmma_sm90.cu"),
    Unit("cute_wgmma_tma_sm90", "sm_90a", "cute/tutorial/hopper/wgmma_tma_sm90.cu"),
    Unit("cute_01_mma_sm100", "sm_100a", "cute/tutorial/blackwell/01_mma_sm100.cu"),
    Unit("cute_02_mma_tma_sm100", "sm_100a", "cute/tutorial/blackwell/02_mma_tma_sm100.cu"),
    Unit("cute_03_multicast_sm100", "sm_100a", "cute/tutorial/blackwell/03_mma_tma_multicast_sm100.cu"),
    Unit("cute_04_2sm_sm100", "sm_100a", "cute/tutorial/blackwell/04_mma_tma_2sm_sm100.cu"),
    Unit("cute_05_epilogue_sm100", "sm_100a", "cute/tutorial/blackwell/05_mma_tma_epi_sm100.cu"),
    Unit("cute_sgemm_sm80", "sm_80", "cute/tutorial/sgemm_sm80.cu"),
    Unit("48_gemm", "sm_90a", "48_hopper_warp_specialized_gemm/48_hopper_warp_specialized_gemm.cu"),
    Unit(
        "54_fp8_gemm", "sm_90a", "54_hopper_fp8_warp_specialized_gemm/54_hopper_fp8_warp_specialized_gemm.cu"
    ),
    Unit("62_sparse_gemm", "sm_90a", "62_hopper_sparse_gemm/62_hopper_sparse_gemm.cu"),
    Unit("70_fp16_gemm", "sm_100a", "70_blackwell_gemm/70_blackwell_fp16_gemm.cu"),
    Unit("70_fp8_gemm", "sm_100a", "70_blackwell_gemm/70_blackwell_fp8_gemm.cu"),
    Unit(
        "72a_nvfp4_gemm",
        "sm_100a",
        "72_blackwell_narrow_precision_gemm/72a_blackwell_nvfp4_bf16_gemm.cu",
    ),
    Unit("57_grouped_gemm", "sm_90a", "57_hopper_grouped_gemm/57_hopper_grouped_gemm.cu"),
    Unit("75_grouped_gemm", "sm_100a", "75_blackwell_grouped_gemm/75_blackwell_grouped_gemm.cu"),
    Unit("55_int4_fp8_gemm", "sm_90a", "55_hopper_mixed_dtype_gemm/55_hopper_int4_fp8_gemm.cu"),
    Unit("55_mixed_dtype_gemm", "sm_90a", "55_hopper_mixed_dtype_gemm/55_hopper_mixed_dtype_gemm.cu"),
    Unit(
        "49_collective_builder", "sm_90a", "49_hopper_gemm_with_collective_builder/49_collective_builder.cu"
    ),
    Unit("79a_geforce_gemm", "sm_120a", "79_blackwell_geforce_gemm/79a_blackwell_geforce_nvfp4_bf16_gemm.cu"),
    Unit("89_sm103_fp4_gemm", "sm_103a", "89_sm103_fp4_ultra_gemm/89_sm103_fp4_ultra_gemm.cu"),
    Unit("76_conv_fprop", "sm_100a", "76_blackwell_conv/76_blackwell_conv_fprop.cu"),
    Unit("74_streamk", "sm_100a", "74_blackwell_gemm_streamk/blackwell_gemm_streamk.cu"),
    Unit("81_groupwise", "sm_100a", "81_blackwell_gemm_blockwise/81_blackwell_gemm_groupwise.cu"),
    Unit("77_mla_fp8", "sm_100a", "77_blackwell_fmha/77_blackwell_mla.cu", ("--use_fast_math", "-DFP8")),
    Unit(
        "77_mla_cpasync_fp16",
        "sm_100a",
        "77_blackwell_fmha/77_blackwell_mla.cu",
        ("--use_fast_math", "-DFP16", "-DCPASYNC"),
    ),
    Unit(
        "77_fmha_gen_fp16",
        "sm_100a",
        "77_blackwell_fmha/77_blackwell_fmha_gen.cu",
        ("--use_fast_math", "-DFP16"),
    ),
    Unit("88_fmha_fp16", "sm_90a", "88_hopper_fmha/88_hopper_fmha.cu", ("--use_fast_math",)),
    Unit("77_fmha_fp16", "sm_100a", "77_blackwell_fmha/77_blackwell_fmha.cu", ("--use_fast_math", "-DFP16")),
    Unit(
        "77_fmha_bwd_fp16",
        "sm_100a",
        "77_blackwell_fmha/77_blackwell_fmha_bwd.cu",
        ("--use_fast_math", "-DFP16"),
    ),
)


def build(cache: Cache, wanted: frozenset[str]) -> Iterator[Row]:
    """Build the units, or those named in `wanted`; one row as each is done."""
    root = packages(cache, "sources") / "cutlass_library" / "source"
    for unit in UNITS:
        if wanted and unit.name not in wanted:
            continue
        yield _build_one(cache, root, unit)


def _build_one(cache: Cache, root: Path, unit: Unit) -> Row:
    source = root / "examples" / unit.source
    includes = (
        root / "include",
        root / "tools" / "util" / "include",
        root / "examples" / "common",
        source.parent,
        extra_headers(cache),
    )
    flags = [f"-I{folder}" for folder in includes]
    flags += ["-DNDEBUG", *unit.flags]
    return build_unit(cache, GROUP, unit.name, unit.target, source, flags)


def names() -> list[str]:
    return [unit.name for unit in UNITS]
