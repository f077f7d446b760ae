// Do tiled tensor copies deliver the bytes, and put them where, the model says? Needs a GPU of capability 9.0.
//
//     nvcc -arch=sm_90a -o copy copy.cu -lcuda && ./copy
//
// One line a copy: the box, the element strides, the swizzle; whether the barrier completed when it expected the rows
// rounded up or down; the bytes written and how far they reach; how many 16-bit elements lie elsewhere in shared
// memory than the exclusive or predicts, with rows of the box's width and with rows of the swizzle span.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int kSide = 512;
constexpr int kShared = 65536;

__global__ void load(const __grid_constant__ CUtensorMap map, uint32_t expected, uint16_t* out, int* done) {
    extern __shared__ __align__(1024) unsigned char raw[];
    __shared__ alignas(8) uint64_t barrier;
    uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(raw));
    uint32_t pad = (1024 - base % 1024) % 1024;
    uint32_t bar = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
    for (int i = 0; i < kShared / 2; i++) reinterpret_cast<uint16_t*>(raw + pad)[i] = 0xffff;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.proxy.async;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(expected) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
        ::"r"(base + pad), "l"(&map), "r"(0), "r"(0), "r"(bar) : "memory");
    uint32_t ok = 0;
    for (int i = 0; i < 20000 && !ok; i++) {
        asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                     : "=r"(ok) : "r"(bar) : "memory");
        __nanosleep(50);
    }
    *done = ok;
    for (int i = 0; i < kShared / 2; i++) out[i] = reinterpret_cast<uint16_t*>(raw + pad)[i];
}

static uint32_t place(uint32_t address, int swizzle) {
    const uint32_t mask = (1u << swizzle) - 1;  // 32B: 1 bit, 64B: 2, 128B: 3
    return address ^ (((address >> 7) & mask) << 4);
}

int main() {
    std::vector<uint16_t> host(kSide * kSide);
    for (int i = 0; i < kSide * kSide; i++) host[i] = static_cast<uint16_t>((i / kSide) * 128 + i % kSide % 128);
    uint16_t *tensor, *out;
    int* done;
    cudaMalloc(&tensor, host.size() * 2);
    cudaMalloc(&out, kShared);
    cudaMalloc(&done, 4);
    cudaMemcpy(tensor, host.data(), host.size() * 2, cudaMemcpyHostToDevice);
    cudaFuncSetAttribute(load, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared + 1024);
    const uint32_t boxes[][2] = {{8, 64}, {16, 64}, {32, 64}, {64, 64}, {8, 33}, {24, 20}, {40, 7}, {56, 30}};
    const uint32_t steps[][2] = {{1, 1}, {1, 2}, {1, 3}, {1, 7}, {2, 1}, {1, 8}, {3, 5}};
    for (auto& box : boxes)
        for (auto& step : steps)
            for (int swizzle = 0; swizzle < 4; swizzle++) {
                CUtensorMap map;
                cuuint64_t dims[2] = {kSide, kSide}, strides[1] = {kSide * 2};
                CUresult r = cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, tensor, dims, strides, box,
                    step, CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
                if (r) continue;
                // without interleave the first element stride does not thin the box
                uint32_t rows = (box[1] + step[1] - 1) / step[1];
                uint32_t expected[2] = {box[0] * rows * 2, box[0] * (box[1] / step[1]) * 2};
                int finished[2] = {-1, -1};
                std::vector<uint16_t> got(kShared / 2);
                for (int way = 1; way >= 0; way--) {
                    load<<<1, 1, kShared + 1024>>>(map, expected[way], out, done);
                    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
                    cudaMemcpy(&finished[way], done, 4, cudaMemcpyDeviceToHost);
                    cudaMemcpy(got.data(), out, kShared, cudaMemcpyDeviceToHost);
                }
                uint32_t filled = 0, last = 0;
                for (uint32_t i = 0; i < kShared / 2; i++)
                    if (got[i] != 0xffff) filled += 2, last = 2 * i + 2;
                uint32_t span = swizzle ? 16u << swizzle : 0;
                uint32_t pitches[2] = {box[0] * 2, span > box[0] * 2 ? span : box[0] * 2};
                int wrong[2] = {0, 0};
                for (int way = 0; way < 2; way++)
                    for (uint32_t y = 0; y < rows; y++)
                        for (uint32_t x = 0; x < box[0]; x++)
                            wrong[way] += got[place(y * pitches[way] + x * 2, swizzle) / 2] != host[y * step[1] * kSide + x];
                printf("box %u %u steps %u %u swizzle %d: expected up %u %d, down %u %d; wrote %u bytes up to %u; "
                       "misplaced with dense rows %d, with rows of a span %d\n", box[0], box[1], step[0], step[1], swizzle,
                       expected[0], finished[0], expected[1], finished[1], filled, last, wrong[0], wrong[1]);
            }
    return 0;
}
