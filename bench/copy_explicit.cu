// The kernel of examples/copy_explicit.tile as CUDA C++ with inline PTX: the peer of bench/compile_bench.
struct alignas(64) TensorMap {
    unsigned long long opaque[16];
};

extern "C" __global__ void __launch_bounds__(32) copy(const __grid_constant__ TensorMap in, const __grid_constant__ TensorMap out)
{
    extern __shared__ __align__(1024) unsigned char tile[];
    __shared__ __align__(8) unsigned long long full;
    if (threadIdx.x != 0) return;
    unsigned dst = (unsigned)__cvta_generic_to_shared(tile), bar = (unsigned)__cvta_generic_to_shared(&full);
    int row = (int)blockIdx.y * 64, col = (int)blockIdx.x * 256;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(64 * 256 * 2) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(dst), "l"(&in), "r"(col), "r"(row), "r"(bar)
                 : "memory");
    asm volatile("{\n .reg .pred p;\nwait:\n mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n @!p bra wait;\n}" ::"r"(bar)
                 : "memory");
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&out), "r"(col),
                 "r"(row), "r"(dst)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
