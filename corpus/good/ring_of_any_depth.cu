// A single-CTA ring of bulk copies with 1 to 8 stages: one producer thread, four consumer warps.
// ptxcheck: arch sm_90a
#include <cstdint>

__device__ __forceinline__ void init(uint32_t bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}
__device__ __forceinline__ void arrive(uint32_t bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
__device__ __forceinline__ void wait(uint32_t bar, uint32_t parity) {
  asm volatile(
      "{\n .reg .pred p;\nAGAIN:\n mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n @!p bra AGAIN;\n}" ::"r"(bar),
      "r"(parity)
      : "memory");
}
__device__ __forceinline__ void load(uint32_t dst, const char *src, uint32_t bytes, uint32_t bar) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(dst), "l"(src),
      "r"(bytes), "r"(bar)
      : "memory");
}

template <int stages>
__global__ void __launch_bounds__(160) ring(const char *source, int *out, int tiles) {
  constexpr int bytes = 4096;
  __shared__ alignas(128) char data[stages][bytes];
  __shared__ alignas(8) uint64_t full[stages], empty[stages];
  uint32_t first = static_cast<uint32_t>(__cvta_generic_to_shared(full));
  uint32_t second = static_cast<uint32_t>(__cvta_generic_to_shared(empty));
  uint32_t buffer = static_cast<uint32_t>(__cvta_generic_to_shared(data));
  if (threadIdx.x == 0) {
    for (int n = 0; n < stages; n++) {
      init(first + 8 * n, 1);
      init(second + 8 * n, 128);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  int stage = 0;
  uint32_t parity = 0;
  if (threadIdx.x >= 128) {
    if (threadIdx.x == 128)
      for (int n = 0; n < tiles; n++) {
        wait(second + 8 * stage, parity ^ 1);
        load(buffer + bytes * stage, source + static_cast<size_t>(bytes) * n, bytes, first + 8 * stage);
        if (++stage == stages) stage = 0, parity ^= 1;
      }
    return;
  }
  int sum = 0;
  for (int n = 0; n < tiles; n++) {
    wait(first + 8 * stage, parity);
    sum += reinterpret_cast<int *>(data[stage])[threadIdx.x];
    arrive(second + 8 * stage);
    if (++stage == stages) stage = 0, parity ^= 1;
  }
  out[128 * blockIdx.x + threadIdx.x] = sum;
}

template __global__ void ring<1>(const char *, int *, int);
template __global__ void ring<2>(const char *, int *, int);
template __global__ void ring<3>(const char *, int *, int);
template __global__ void ring<4>(const char *, int *, int);
template __global__ void ring<8>(const char *, int *, int);
