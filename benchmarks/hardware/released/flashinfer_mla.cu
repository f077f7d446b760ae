// FlashInfer's own host code of paged MLA attention for sm_90 (causal, 512 + 64), with keys and values in FP8 if FP8 is defined and in
// FP16 if not, launching a function that `choose` was given, or its own kernel. See mla.py for how it is built.
#include <cuda_runtime.h>
extern "C" cudaError_t chosen_attribute(const void*, cudaFuncAttribute, int);
extern "C" cudaError_t chosen_launch(const void*, dim3, dim3, void**, size_t, cudaStream_t);
#include <cooperative_groups.h>
#include <flashinfer/exception.h>
#define cudaLaunchCooperativeKernel chosen_launch
#define cudaFuncSetAttribute(kernel, attribute, value) chosen_attribute((const void*)(kernel), attribute, value)
#include <flashinfer/attention/mla_hopper.cuh>
#include <flashinfer/attention/mla_params.cuh>
#undef cudaLaunchCooperativeKernel
#undef cudaFuncSetAttribute
#define LAUNCH cuLaunchCooperativeKernel(chosen, g.x, g.y, g.z, b.x, b.y, b.z, shared, s, args)
#define OWN_LAUNCH cudaLaunchCooperativeKernel
#include "chosen.h"

using namespace flashinfer;
#ifdef FP8
using Query = __nv_bfloat16;
using Cache = __nv_fp8_e4m3;
#else
using Query = half;
using Cache = half;
#endif
using Latent = MLAParams<Query, Cache, Query, int32_t>;

// plan: q_indptr, kv_indptr, partial_indptr, q_len, kv_len, q_start, kv_start, kv_end, work_indptr, and zeros for the merge
extern "C" int run_mla(void* q_nope, void* q_pe, void* ckv, void* kpe, void* o, void* lse, int** plan, int* pages, int heads, int page,
                   int blocks, float scale, void* stream) {
  Latent p{};
  p.q_nope = (Query*)q_nope;
  p.q_pe = (Query*)q_pe;
  p.ckv = (Cache*)ckv;
  p.kpe = (Cache*)kpe;
  p.final_o = (Query*)o;
  p.final_lse = (float*)lse;
  p.q_indptr = plan[0];
  p.kv_indptr = plan[1];
  p.partial_indptr = plan[2];
  p.q_len = plan[3];
  p.kv_len = plan[4];
  p.q_start = plan[5];
  p.kv_start = plan[6];
  p.kv_end = plan[7];
  p.work_indptr = plan[8];
  p.merge_packed_offset_start = p.merge_packed_offset_end = p.merge_partial_packed_offset_start =
      p.merge_partial_packed_offset_end = p.merge_partial_stride = plan[9];
  p.kv_indices = pages;
  p.block_size = uint_fastdiv(page);
  p.num_heads = uint_fastdiv(heads);
  p.q_nope_stride_n = heads * 512;
  p.q_nope_stride_h = 512;
  p.q_pe_stride_n = heads * 64;
  p.q_pe_stride_h = 64;
  p.ckv_stride_page = page * 512;
  p.ckv_stride_n = 512;
  p.kpe_stride_page = page * 64;
  p.kpe_stride_n = 64;
  p.o_stride_n = heads * 512;
  p.o_stride_h = 512;
  p.sm_scale = scale;
  p.return_lse_base_on_e = false;
  return mla::BatchMLAPageAttentionHopper<MaskMode::kCausal, 512, 64, Latent>(p, 1, blocks, (cudaStream_t)stream);
}
