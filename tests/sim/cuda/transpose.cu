//! kernel transpose grid 3,2 threads 256
//! buffer a u32 40,72 random
//! buffer b u32 72,40 poison
//! param a
//! param b
//! param 40 s32
//! param 72 s32
//! expect b transpose a 40 72

// The classic transpose through a padded tile of shared memory.
extern "C" __global__ void __launch_bounds__(256) transpose(const unsigned *a, unsigned *b, int rows, int columns)
{
    __shared__ unsigned tile[32][33];
    int x = threadIdx.x % 32, y = threadIdx.x / 32;
    int column = blockIdx.x * 32 + x;
    for (int i = y; i < 32; i += 8) {
        int row = blockIdx.y * 32 + i;
        if (row < rows && column < columns) tile[i][x] = a[row * columns + column];
    }
    __syncthreads();
    int row = blockIdx.y * 32 + x;
    for (int i = y; i < 32; i += 8) {
        column = blockIdx.x * 32 + i;
        if (row < rows && column < columns) b[column * rows + row] = tile[x][i];
    }
}
