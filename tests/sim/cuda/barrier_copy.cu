//! kernel barrier_copy grid 2 threads 128
//! buffer a s32 2048 random
//! buffer b s32 2048 poison
//! param a
//! param b
//! expect b affine a -1 5

// cuda::barrier with its own arrivals, waits and bulk copies.
#include <cuda/barrier>

using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;

extern "C" __global__ void __launch_bounds__(128) barrier_copy(const int *a, int *b)
{
    __shared__ alignas(128) int data[1024];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_global_to_shared(data, a + blockIdx.x * 1024, sizeof data, bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof data);
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    for (int i = threadIdx.x; i < 1024; i += 128) data[i] = 5 - data[i];
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_shared_to_global(b + blockIdx.x * 1024, data, sizeof data);
        cde::cp_async_bulk_commit_group();
        cde::cp_async_bulk_wait_group_read<0>();
    }
}
