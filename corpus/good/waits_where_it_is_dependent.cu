// A kernel waits for its predecessor where the host says that it is launched as a dependent; one warp waits for all.
// ptxcheck: arch sm_90a

struct Arguments {
  const float *input;
  const int *count;
  float *output;
};

__global__ void __launch_bounds__(128) scale(Arguments arguments, bool is_dependent) {
  if (is_dependent) asm volatile("griddepcontrol.wait;" ::: "memory");
  if (threadIdx.x < *arguments.count) arguments.output[threadIdx.x] = 2 * arguments.input[threadIdx.x];
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

__global__ void __launch_bounds__(128) one_warp_waits(float *data) {
  if (threadIdx.x < 32) asm volatile("griddepcontrol.wait;" ::: "memory");
  __syncthreads();
  data[threadIdx.x] = 2 * data[threadIdx.x];
}
