// A kernel of a dependent launch reads an input that nothing declares to be constant before it waits.
// ptxcheck: arch sm_90a

__global__ void __launch_bounds__(128) scale(const float *input, float *output) {
  float value = input[threadIdx.x];  // expect: PT011
  asm volatile("griddepcontrol.wait;" ::: "memory");
  output[threadIdx.x] = 2 * value;
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
