// FlashInfer's top-k of rows that fit into one CTA (FP32, no deterministic collect): the kernel alone. See topk.py for how it is built.
#include <flashinfer/sampling.cuh>
#include <flashinfer/topk.cuh>

auto* kept = &flashinfer::sampling::RadixTopKKernel_Unified<1024, 4, true, false, flashinfer::sampling::RadixTopKMode::Basic, float, int32_t>;
