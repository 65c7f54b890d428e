//! kernel last_block grid 5 threads 64
//! buffer a f32 2000 range -20 20
//! buffer parts f32 5 poison
//! buffer done u32 1 zero
//! buffer sum f32 1 zero
//! param a
//! param parts
//! param done
//! param sum
//! param 2000 s32
//! expect parts stride a 64 5
//! expect done fill 5
//! expect sum reduce add a

// The block that finishes last adds up the parts of all: a fence on either side of the counter orders plain accesses.
extern "C" __global__ void __launch_bounds__(64) last_block(const float *a, float *parts, unsigned *done, float *sum, int n)
{
    __shared__ float words[64];
    __shared__ bool last;
    float v = 0;
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) v += a[i];
    words[threadIdx.x] = v;
    for (int d = 32; d; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d) words[threadIdx.x] += words[threadIdx.x + d];
    }
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = words[0];
        __threadfence();
        last = atomicAdd(done, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float all = 0;
        for (unsigned i = 0; i < gridDim.x; i++) all += parts[i];
        *sum = all;
    }
}
