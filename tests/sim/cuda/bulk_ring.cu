//! kernel bulk_ring grid 2 threads 160
//! buffer a u32 8192 random
//! buffer b u32 8192 poison
//! param a
//! param b
//! param 8 s32
//! expect b affine a 7 3

// A ring of four 2 KB stages: one warp loads, four warps compute. Written with cuda::ptx.
#include <cstdint>
#include <cuda/ptx>

namespace ptx = cuda::ptx;
constexpr int STAGES = 4, WORDS = 512, CONSUMERS = 128;

extern "C" __global__ void __launch_bounds__(CONSUMERS + 32) bulk_ring(const uint32_t *a, uint32_t *b, int chunks)
{
    __shared__ alignas(128) uint32_t stage[STAGES][WORDS];
    __shared__ alignas(8) uint64_t full[STAGES], empty[STAGES];
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            ptx::mbarrier_init(&full[i], 1);
            ptx::mbarrier_init(&empty[i], CONSUMERS);
        }
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    const uint32_t *from = a + (size_t)blockIdx.x * chunks * WORDS;
    uint32_t *to = b + (size_t)blockIdx.x * chunks * WORDS;
    if (threadIdx.x >= CONSUMERS) { // producer
        if (threadIdx.x != CONSUMERS) return;
        for (int i = 0; i < chunks; i++) {
            int s = i % STAGES;
            while (!ptx::mbarrier_try_wait_parity(&empty[s], (i / STAGES & 1) ^ 1)) {}
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s],
                                           (uint32_t)sizeof stage[s]);
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, stage[s], from + i * WORDS,
                               (uint32_t)sizeof stage[s], &full[s]);
        }
        return;
    }
    for (int i = 0; i < chunks; i++) {
        int s = i % STAGES;
        while (!ptx::mbarrier_try_wait_parity(&full[s], i / STAGES & 1)) {}
        for (int k = threadIdx.x; k < WORDS; k += CONSUMERS) to[i * WORDS + k] = stage[s][k] * 7 + 3;
        ptx::mbarrier_arrive(&empty[s]);
    }
}
