// FlashInfer's own host code of the single prefill for sm_90 (causal, head dimension 128, FP16), launching a function that
// `choose` was given, or its own kernel. See prefill.py for how it is built.
#include <cuda_runtime.h>
extern "C" cudaError_t chosen_attribute(const void*, cudaFuncAttribute, int);
extern "C" cudaError_t chosen_launch(const void*, dim3, dim3, void**, size_t, cudaStream_t);
#include <flashinfer/exception.h>
#define cudaLaunchKernel chosen_launch
#define cudaFuncSetAttribute chosen_attribute
#include <flashinfer/attention/hopper/default_params.cuh>
#include <flashinfer/attention/hopper/prefill_sm90.cuh>
#include <flashinfer/attention/hopper/variants.cuh>
#undef cudaLaunchKernel
#undef cudaFuncSetAttribute
#define LAUNCH cuLaunchKernel(chosen, g.x, g.y, g.z, b.x, b.y, b.z, shared, s, args, nullptr)
#define OWN_LAUNCH cudaLaunchKernel
#include "chosen.h"

using namespace flashinfer;
using Single = SinglePrefillParams<cutlass::half_t, cutlass::half_t, cutlass::half_t, int32_t>;

extern "C" int prefill(void* q, void* k, void* v, void* o, void* lse, int queries, int keys, int heads, int kv_heads, void* stream) {
  constexpr int kWidth = 128;
  Single p{};
  p.q_ptr = (cutlass::half_t*)q;
  p.k_ptr = (cutlass::half_t*)k;
  p.v_ptr = (cutlass::half_t*)v;
  p.o_ptr = (cutlass::half_t*)o;
  p.lse_ptr = (float*)lse;
  p.additional_params.sm_scale = 0.08838834764831845f;
  p.q_stride_n = p.o_stride_n = int64_t(heads) * kWidth;
  p.k_stride_n = p.v_stride_n = int64_t(kv_heads) * kWidth;
  p.q_stride_h = p.k_stride_h = p.v_stride_h = p.o_stride_h = kWidth;
  p.qo_len = queries;
  p.kv_len = keys;
  p.num_qo_heads = heads;
  p.num_kv_heads = kv_heads;
  p.group_size = heads / kv_heads;
  p.window_left = -1;
  p.causal = true;
  return SinglePrefillWithKVCacheDispatched<kWidth, kWidth, MaskMode::kCausal, false, StandardAttention>(p, (cudaStream_t)stream);
}
