// Two groups of 128 threads take turns at two named barriers; each count is that of both sides.
// ptxcheck: arch sm_90a

// ptxcheck: launch block=256
__global__ void __launch_bounds__(256) ping_pong(float *values, int rounds) {
  __shared__ float tile[128];
  const bool first = threadIdx.x < 128;
  const int lane = threadIdx.x % 128;
  if (first) asm volatile("bar.arrive 2, 256;" ::: "memory");
  for (int i = 0; i < rounds; i++) {
    if (first) {
      asm volatile("bar.sync 1, 256;" ::: "memory");
      values[lane] += tile[127 - lane];
      asm volatile("bar.arrive 2, 256;" ::: "memory");
    } else {
      asm volatile("bar.sync 2, 256;" ::: "memory");
      tile[lane] = values[128 + lane];
      asm volatile("bar.arrive 1, 256;" ::: "memory");
    }
  }
  if (!first) asm volatile("bar.sync 2, 256;" ::: "memory");
}
