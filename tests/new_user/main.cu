
int main() {
  float *in, *out;
  cudaMalloc(&in, 4096 * 64);
  cudaMalloc(&out, 512);
  ring<<<132, 160>>>(in, out, 64);
  cudaDeviceSynchronize();
}
