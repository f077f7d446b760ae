// The values are stored and the other warps told, with no wait in between or later.
// After Dao-AILab/flash-attention e540fc1b.
// ptxcheck: arch sm_100a
#include <cstdint>

__device__ uint32_t shared_address(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ void allocate(uint32_t *slot, uint32_t columns) {
  uint32_t address = shared_address(slot);
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(address), "r"(columns)
               : "memory");
}
__device__ void release(uint32_t address, uint32_t columns) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), "r"(columns)  // expect: TM040
               : "memory");
}
__device__ void keep(uint32_t address, uint32_t value) {
  asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(address), "r"(value) : "memory");  // expect: TM009
}
__device__ uint32_t take(uint32_t address) {
  uint32_t value;
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(value) : "r"(address) : "memory");
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
  return value;
}
__device__ void stored() { asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory"); }

__global__ void __launch_bounds__(128) kernel(uint32_t *out, int empty) {
  __shared__ uint32_t slot;
  uint32_t warp = threadIdx.x / 32;
  if (warp == 0) allocate(&slot, 64);
  __syncthreads();
  uint32_t mine = slot + (warp << 21);
  keep(mine, threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = 1;
  __syncthreads();
  if (warp == 0) release(slot, 64);
}
