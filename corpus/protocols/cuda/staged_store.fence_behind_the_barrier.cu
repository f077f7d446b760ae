// The rows are fenced behind the barrier, by the thread that has them copied, too: a fence on the path. Pedantic.
// After jax-ml/jax cdae5fcfc7.
// ptxcheck: launch block=64 cluster=1
// expect-verdict: all holds
// ptxcheck: arch sm_90a
#include <cuda/ptx>

namespace ptx = cuda::ptx;

__global__ void staged_store(int *out, const int *values, unsigned rows) {
  __shared__ alignas(128) int row[2][64];
  for (unsigned r = 0; r < rows; r++) {
    if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>());
    __syncthreads();
    row[r & 1][threadIdx.x] = values[r * 64 + threadIdx.x];
    __syncthreads();
    ptx::fence_proxy_async(ptx::space_shared);
    if (threadIdx.x == 0) {
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + r * 64, row[r & 1], sizeof(row[0]));
      ptx::cp_async_bulk_commit_group();
    }
  }
  if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}
