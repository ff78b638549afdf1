/* CUB's reductions of a block on the processor, as far as the examples use them (see cuda_on_host.h). */
#pragma once

namespace cub {

enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS
};

template <typename T, int THREADS_OF_BLOCK, BlockReduceAlgorithm ALGORITHM> struct BlockReduce {
    struct TempStorage {
        T of_threads[THREADS_OF_BLOCK];
    };

    TempStorage &storage;

    explicit BlockReduce(TempStorage &storage) : storage(storage) {}

    /* Only the first thread gets the sum of the block, as with CUB. */
    T Sum(T own)
    {
        storage.of_threads[threadIdx.x] = own;
        __syncthreads();
        if (threadIdx.x != 0)
            return own;
        for (int i = 1; i < THREADS_OF_BLOCK; i++)
            own += storage.of_threads[i];
        return own;
    }
};

}
