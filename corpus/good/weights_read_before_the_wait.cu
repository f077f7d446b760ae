// A kernel of a dependent launch reads its weights, which are constant, and polls a flag before it waits for the rest.
// ptxcheck: arch sm_90a

__global__ void __launch_bounds__(128)
    scale(const float *input, const float *__restrict__ weights, volatile int *stop, float *output) {
  float weight = weights[threadIdx.x];
  if (*stop) return;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  output[threadIdx.x] = weight * input[threadIdx.x];
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
