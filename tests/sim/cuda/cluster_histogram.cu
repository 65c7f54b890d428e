//! kernel cluster_histogram grid 4 threads 64 cluster 2
//! buffer a u8 3000 random
//! buffer bins u32 128 zero
//! param a
//! param bins
//! param 3000 s32
//! expect bins histogram a

// Counts modulo 128 in the shared memory of a pair of blocks: each holds 64 of the counters, all add to both.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(64)
    cluster_histogram(const unsigned char *a, unsigned *bins, int n)
{
    __shared__ unsigned counts[64];
    cg::cluster_group cluster = cg::this_cluster();
    counts[threadIdx.x] = 0;
    cluster.sync();
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) {
        unsigned bin = a[i] % 128;
        atomicAdd(cluster.map_shared_rank(&counts[bin % 64], bin / 64), 1);
    }
    cluster.sync();
    atomicAdd(&bins[cluster.block_rank() * 64 + threadIdx.x], counts[threadIdx.x]);
}
