//! kernel cluster_sum grid 8 threads 128 cluster 4
//! buffer a s32 4096 range -1000 1000
//! buffer sums s32 2 poison
//! param a
//! param sums
//! expect sums rows add a 2048

// A sum over the CTAs of a cluster: each leaves its own in its shared memory, the first one reads them all.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(128) cluster_sum(const int *a, int *sums)
{
    __shared__ int part;
    cg::cluster_group cluster = cg::this_cluster();
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    if (threadIdx.x == 0) part = 0;
    block.sync();
    int v = 0;
    for (int i = threadIdx.x; i < 512; i += 128) v += a[blockIdx.x * 512 + i];
    v = cg::reduce(warp, v, cg::plus<int>());
    if (warp.thread_rank() == 0) atomicAdd(&part, v);
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        int sum = 0;
        for (unsigned r = 0; r < cluster.num_blocks(); r++) sum += *cluster.map_shared_rank(&part, r);
        sums[blockIdx.x / 4] = sum;
    }
    cluster.sync();
}
