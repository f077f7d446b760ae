// A kernel of a dependent launch reads an array that it adds to, and waits for its predecessor only then.
// ptxcheck: arch sm_90a

__global__ void __launch_bounds__(128) accumulate(float *sums, const float *__restrict__ weights) {
  float weight = weights[threadIdx.x];
  float sum = sums[threadIdx.x];  // expect: PT011
  asm volatile("griddepcontrol.wait;" ::: "memory");
  sums[threadIdx.x] = sum * weight;
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
