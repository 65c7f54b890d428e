//! kernel tile_copy grid 3,2 threads 128
//! buffer a f32 60,80 random
//! buffer b f32 60,80 poison
//! map from of a box 32,32
//! map to of b box 32,32
//! param from
//! param to
//! expect b copy a

// A tile comes in through one tensor map and leaves through another; the whole block waits for it.
struct alignas(128) TensorMap {
    unsigned long long opaque[16];
};

__device__ static unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

extern "C" __global__ void __launch_bounds__(128)
    tile_copy(const __grid_constant__ TensorMap from, const __grid_constant__ TensorMap to)
{
    __shared__ alignas(128) float tile[32][32];
    __shared__ alignas(8) unsigned long long full;
    const unsigned bar = shared_address(&full), data = shared_address(tile);
    const int x = blockIdx.x * 32, y = blockIdx.y * 32;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(128) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3}], [%4];" ::"r"(data), "l"(&from), "r"(x), "r"(y), "r"(bar) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "n"(sizeof tile) : "memory");
    } else {
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
    }
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}" ::"r"(bar), "r"(0) : "memory");
    volatile float *own = &tile[threadIdx.x / 32][threadIdx.x % 32];
    *own = *own; // a plain write of what is there already
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to),
                     "r"(x), "r"(y), "r"(data) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}
