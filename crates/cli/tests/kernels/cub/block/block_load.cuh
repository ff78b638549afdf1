/* CUB's loads of a block on the processor, as far as the examples use them (see cuda_on_host.h). */
#pragma once

namespace cub {

enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE
};

template <typename T, int THREADS_OF_BLOCK, int ITEMS_OF_THREAD, BlockLoadAlgorithm ALGORITHM> struct BlockLoad {
    struct TempStorage {};

    explicit BlockLoad(TempStorage &) {}

    void Load(const T *from, T (&items)[ITEMS_OF_THREAD])
    {
        const bool striped = ALGORITHM == BLOCK_LOAD_STRIPED;

        for (int i = 0; i < ITEMS_OF_THREAD; i++)
            items[i] = from[striped ? i * THREADS_OF_BLOCK + threadIdx.x : threadIdx.x * ITEMS_OF_THREAD + i];
    }
};

}
