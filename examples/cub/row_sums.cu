/*
 * The sum of each row of a matrix with CUB, NVIDIA's library of building blocks for kernels. A block of THREADS threads sums one
 * row. It loads THREADS * ITEMS elements at a time. Sizes and tuning parameters (see row-sums-cuda.toml) are macros, so their names
 * must not occur in CUB's own headers.
 *
 *   ITEMS      elements that a thread loads at a time.
 *   LOADING    how the block loads them: each thread its own, straight or as vectors; or striped over the threads, with or without
 *              an exchange through shared memory afterwards.
 *   REDUCTION  how the block adds the sums of its threads.
 *
 * The headers are those of single blocks. <cub/cub.cuh> also has functions of the host, which NVRTC does not compile.
 */
#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>

template <int Width, int Length, cub::BlockLoadAlgorithm Load, cub::BlockReduceAlgorithm Reduce>
__global__ void __launch_bounds__(Width) row_sums(const float *data, float *sums)
{
    using Loads = cub::BlockLoad<float, Width, Length, Load>;
    using Sums = cub::BlockReduce<float, Width, Reduce>;
    __shared__ union {
        typename Loads::TempStorage load;
        typename Sums::TempStorage reduce;
    } shared;
    const float *row = data + (size_t)blockIdx.x * COLUMNS;
    float sum = 0;

    for (int first = 0; first < COLUMNS; first += Width * Length) {
        float items[Length];

        Loads(shared.load).Load(row + first, items);
#pragma unroll
        for (int i = 0; i < Length; i++)
            sum += items[i];
        __syncthreads(); /* The next load, or the reduction, writes the same memory. */
    }
    sum = Sums(shared.reduce).Sum(sum);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}
