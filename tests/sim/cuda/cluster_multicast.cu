//! kernel cluster_multicast grid 4 threads 64 cluster 2
//! buffer a u32 1024 random
//! buffer b u32 2048 poison
//! param a
//! param b
//! expect b copy a 0 0 512
//! expect b copy a 0 512 512
//! expect b copy a 512 1024 512
//! expect b copy a 512 1536 512

// Each CTA of a pair loads half of 2 KB and multicasts it; both write all of it out.
#include <cooperative_groups.h>
#include <cstdint>
#include <cuda/ptx>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(64)
    cluster_multicast(const uint32_t *a, uint32_t *b)
{
    __shared__ alignas(128) uint32_t data[512];
    __shared__ alignas(8) uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, (uint32_t)sizeof data);
    }
    cluster.sync();
    if (threadIdx.x == 0)
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, data + rank * 256, a + blockIdx.x / 2 * 512 + rank * 256,
                           1024u, &full, (uint16_t)3);
    while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
    for (int i = threadIdx.x; i < 512; i += 64) b[blockIdx.x * 512 + i] = data[i];
}
