// What a bulk store wrote is read back after a wait for the whole store.
// The repaired form of Dao-AILab/flash-attention #2510, with the reader in the same thread.
// ptxcheck: arch sm_90a
#include <cstdint>

__device__ __forceinline__ uint32_t shared_address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__global__ void __launch_bounds__(1) round_trip(volatile float *out) {
  __shared__ alignas(128) float tile[4];
  tile[0] = 1;
  fence();
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;" ::"l"(out), "r"(shared_address(tile))
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  out[8] = out[1];
}
