// A structure of kernel parameters holds a tensor map behind 32 bytes, without alignas(64).
// After the class of launch faults that CUTLASS's alignas(64) on CUtensorMap prevents.
// ptxcheck: arch sm_90a
#include <cstdint>

struct alignas(32) Map {
  unsigned char bytes[128];
};
struct Arguments {
  alignas(32) int sizes[8];
  Map map;
};

__global__ void __launch_bounds__(1) copy(const __grid_constant__ Arguments arguments, int *out) {
  __shared__ alignas(128) int tile[32];
  __shared__ alignas(8) uint64_t barrier;
  uint32_t bar = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  uint32_t dst = static_cast<uint32_t>(__cvta_generic_to_shared(tile)), done = 0;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(bar) : "memory");
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3}], [%2];" ::"r"(dst),
      "l"(&arguments.map), "r"(bar), "r"(0) : "memory");  // expect: PT009
  while (!done)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done) : "r"(bar) : "memory");
  out[0] = tile[arguments.sizes[0] & 31];
}
