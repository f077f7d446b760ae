// One thread fills a record of clock values, fences the proxies, and has it copied out in bulk.
// The repaired form of HazyResearch/ThunderKittens df3ad2c4.
// ptxcheck: arch sm_90a
#include <cstdint>

__device__ __forceinline__ uint32_t shared_address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void bulk_store(void *to, uint32_t from, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
               ::"l"(to), "r"(from), "r"(bytes) : "memory");
}

__device__ __forceinline__ void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

__device__ __forceinline__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ __forceinline__ void wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

__global__ void __launch_bounds__(128) record_times(long long *out) {
  __shared__ alignas(128) long long times[4];
  if (threadIdx.x == 0) {
    times[0] = clock64();
    __nanosleep(100);
    times[1] = clock64();
    times[2] = blockIdx.x;
    times[3] = 0;
    long long *to = out + 4 * blockIdx.x;
    uint32_t from = shared_address(times);
    fence();
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 32;" ::"l"(to), "r"(from) : "memory");
    commit();
    wait_read();
  }
}
