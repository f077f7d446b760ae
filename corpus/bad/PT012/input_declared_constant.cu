// A kernel of a dependent launch reads the results of its predecessor through a pointer that is declared constant.
// ptxcheck: arch sm_90a

__global__ void __launch_bounds__(128) scale(const float *__restrict__ input, float *__restrict__ output) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  output[threadIdx.x] = 2 * input[threadIdx.x];  // expect: PT012
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
