// A launch of the function that `choose` was given, in place of the library's own.
#pragma once
#include <cuda.h>

static CUfunction chosen = nullptr;

extern "C" void choose(void* function) { chosen = (CUfunction)function; }

extern "C" cudaError_t chosen_attribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  if (!chosen) return cudaFuncSetAttribute(kernel, attribute, value);
  auto failed = cuFuncSetAttribute(chosen, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, value);
  return failed ? cudaErrorUnknown : cudaSuccess;
}

extern "C" cudaError_t chosen_launch(const void* kernel, dim3 g, dim3 b, void** args, size_t shared, cudaStream_t s) {
  if (!chosen) return OWN_LAUNCH(kernel, g, b, args, shared, s);
  return LAUNCH ? cudaErrorUnknown : cudaSuccess;
}
