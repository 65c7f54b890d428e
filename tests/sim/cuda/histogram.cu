//! kernel histogram grid 3 threads 64
//! buffer a u8 5000 random
//! buffer bins u32 64 zero
//! param a
//! param bins
//! param 5000 s32
//! expect bins histogram a

// Counts values modulo 64: in shared memory per block, then in global memory.
extern "C" __global__ void __launch_bounds__(64) histogram(const unsigned char *a, unsigned *bins, int n)
{
    __shared__ unsigned counts[64];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) atomicAdd(&counts[a[i] % 64], 1);
    __syncthreads();
    if (counts[threadIdx.x]) atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
