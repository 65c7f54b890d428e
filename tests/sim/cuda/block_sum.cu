//! kernel block_sum grid 4 threads 256
//! buffer a f32 3000 range -50 50
//! buffer sum f32 1 range -50 50
//! buffer most s32 1 range -50 50
//! buffer done u32 1 zero
//! param a
//! param sum
//! param most
//! param done
//! param 3000 s32
//! expect sum reduce add a
//! expect most fill 77
//! expect done fill 4

// Shuffles within warps, shared memory between them, atomics between blocks; the last block to finish (it knows by a
// ticket, after a fence) checks in.
__shared__ float parts[8];

extern "C" __global__ void __launch_bounds__(256) block_sum(const float *a, float *sum, int *most, unsigned *done, int n)
{
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += a[i];
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    v = threadIdx.x < 8 ? parts[threadIdx.x] : 0;
    for (int d = 4; d; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    if (threadIdx.x != 0) return;
    atomicAdd(sum, v);
    __threadfence();
    if (atomicAdd(done, 1) == gridDim.x - 1) *most = 77;
}
