// A kernel of a dependent launch waits for its predecessor on the sparse path, and forgets the dense one.
// The twin of `waits_on_one_path.cu`, the other way round.
// ptxcheck: arch sm_90a

__global__ void __launch_bounds__(128) scale(const float *input, const int *index, float *output) {
  if (index != nullptr) {
    asm volatile("griddepcontrol.wait;" ::: "memory");
    output[threadIdx.x] = 2 * input[index[threadIdx.x]];
  } else {
    output[threadIdx.x] = 2 * input[threadIdx.x];  // expect: PT011
  }
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
