/*
 * C = alpha * A^T * B + beta * C in single precision on the ordinary arithmetic units (no tensor cores, no TF32).
 *
 * A is K x M and B is K x N, row-major, as in gemm.c: a step of the sum is one row of each, contiguous in memory. C is
 * M x N, row-major. M, N, K (sizes) and the tuning parameters are macros. No size needs a clean-up loop: the constraints of
 * gemm-cuda.toml make every tile divide what it tiles.
 *
 *   MWG, NWG, KWG   a block computes a tile of MWG x NWG elements of C, and passes over A and B in steps of KWG, whose tiles
 *                   it keeps in shared memory.
 *   TM, TN          a thread computes TM x TN elements: groups of four by four, since shared memory is read in vectors of
 *                   four. The groups of a thread lie apart by what its warp computes of one group, so that a warp's reads are
 *                   contiguous.
 *   WARP_M          threads of a warp along M; the other 32 / WARP_M lie along N.
 *   STAGES          tiles of A and B in shared memory at a time: one is computed on while the others are on their way.
 *   ASYNC           how they come there: 1 by asynchronous copies, 0 through registers (two stages).
 *   UNROLL          unrolling of the loop over the KWG steps of a tile.
 *   GROUP           rows of tiles that blocks of consecutive numbers share, so that they find B in the cache.
 *   MIN_BLOCKS      blocks that a multiprocessor must be able to hold: limits the registers.
 */
#include "async_copy.cuh"

enum {
    THREADS_M = MWG / TM,
    THREADS_N = NWG / TN,
    THREADS = THREADS_M * THREADS_N,

    WARP_N = 32 / WARP_M,
    WARPS_M = THREADS_M / WARP_M, /* warps of a block along M */

    A_VECTORS = KWG * MWG / 4 / THREADS, /* vectors of a tile of A that a thread copies */
    B_VECTORS = KWG * NWG / 4 / THREADS,
    A_TILE = KWG * MWG,
    TILES = A_TILE + KWG * NWG, /* floats of one stage */
    STEPS = K / KWG,
};

/* The vectors of a tile of WIDTH columns that a thread copies: number `own` of thread `thread`. */
template <int WIDTH> struct Place {
    int row, column;

    __device__ __forceinline__ Place(int thread, int own)
    {
        const int vector = own * THREADS + thread;
        row = vector / (WIDTH / 4);
        column = vector % (WIDTH / 4) * 4;
    }
};

/* Starts copying the tiles of step `step` into a stage. */
__device__ __forceinline__ void fetch(float *stage, const float *a, const float *b, int step)
{
    const int thread = threadIdx.x;

#pragma unroll
    for (int own = 0; own < A_VECTORS; own++) {
        const Place<MWG> at(thread, own);
        copy_async(&stage[at.row * MWG + at.column], &a[(step * KWG + at.row) * M + at.column]);
    }
#pragma unroll
    for (int own = 0; own < B_VECTORS; own++) {
        const Place<NWG> at(thread, own);
        copy_async(&stage[A_TILE + at.row * NWG + at.column], &b[(step * KWG + at.row) * N + at.column]);
    }
}

/* A thread's part of the tiles of one step, on its way through registers. */
struct Parcel {
    float4 a[A_VECTORS], b[B_VECTORS];

    __device__ __forceinline__ void load(const float *from_a, const float *from_b, int step)
    {
#pragma unroll
        for (int own = 0; own < A_VECTORS; own++) {
            const Place<MWG> at(threadIdx.x, own);
            a[own] = *(const float4 *)&from_a[(step * KWG + at.row) * M + at.column];
        }
#pragma unroll
        for (int own = 0; own < B_VECTORS; own++) {
            const Place<NWG> at(threadIdx.x, own);
            b[own] = *(const float4 *)&from_b[(step * KWG + at.row) * N + at.column];
        }
    }

    __device__ __forceinline__ void store(float *stage) const
    {
#pragma unroll
        for (int own = 0; own < A_VECTORS; own++) {
            const Place<MWG> at(threadIdx.x, own);
            *(float4 *)&stage[at.row * MWG + at.column] = a[own];
        }
#pragma unroll
        for (int own = 0; own < B_VECTORS; own++) {
            const Place<NWG> at(threadIdx.x, own);
            *(float4 *)&stage[A_TILE + at.row * NWG + at.column] = b[own];
        }
    }
};

/* The sums of a thread: TM x TN elements of C. */
struct Sums {
    float of[TM][TN];
    int m, n; /* of the first element, within the block's tile */

    __device__ __forceinline__ Sums()
    {
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

        m = warp % WARPS_M * (WARP_M * TM) + lane % WARP_M * 4;
        n = warp / WARPS_M * (WARP_N * TN) + lane / WARP_M * 4;
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j++)
                of[i][j] = 0.0f;
    }

    /* Where the group with element i or j begins, counted from the first element. */
    static __device__ __forceinline__ int along_m(int i)
    {
        return i / 4 * (WARP_M * 4);
    }

    static __device__ __forceinline__ int along_n(int j)
    {
        return j / 4 * (WARP_N * 4);
    }

    /* Adds the products of all steps of a stage. */
    __device__ __forceinline__ void add(const float *stage)
    {
#pragma unroll UNROLL
        for (int k = 0; k < KWG; k++) {
            float a[TM], b[TN];

#pragma unroll
            for (int i = 0; i < TM; i += 4)
                *(float4 *)&a[i] = *(const float4 *)&stage[k * MWG + m + along_m(i)];
#pragma unroll
            for (int j = 0; j < TN; j += 4)
                *(float4 *)&b[j] = *(const float4 *)&stage[A_TILE + k * NWG + n + along_n(j)];
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++)
                    of[i][j] += a[i] * b[j];
        }
    }

    /* Writes them to the block's tile of C. */
    __device__ __forceinline__ void store(float *c, float alpha, float beta) const
    {
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j += 4) {
                float4 *to = (float4 *)&c[(m + along_m(i) + i % 4) * N + n + along_n(j)];
                const float4 old = *to;
                *to = make_float4(alpha * of[i][j] + beta * old.x, alpha * of[i][j + 1] + beta * old.y,
                                  alpha * of[i][j + 2] + beta * old.z, alpha * of[i][j + 3] + beta * old.w);
            }
    }
};

/* The tile of a block: GROUP rows of tiles are passed over column by column. */
__device__ __forceinline__ void tile_of_block(int &tile_m, int &tile_n)
{
    const int tiles_m = M / MWG, tiles_n = N / NWG;
    const int in_group = GROUP * tiles_n;
    const int first = blockIdx.x / in_group * GROUP;
    const int rows = tiles_m - first < GROUP ? tiles_m - first : GROUP;

    tile_m = first + blockIdx.x % in_group % rows;
    tile_n = blockIdx.x % in_group / rows;
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
gemm(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, float alpha, float beta)
{
    extern __shared__ float4 shared[];
    float *stages = (float *)shared;
    int tile_m, tile_n;

    tile_of_block(tile_m, tile_n);
    a += tile_m * MWG;
    b += tile_n * NWG;
    c += tile_m * MWG * N + tile_n * NWG;

    Sums sums;

#if ASYNC
    for (int step = 0; step < STAGES - 1; step++) {
        if (step < STEPS)
            fetch(&stages[step * TILES], a, b, step);
        end_of_copies();
    }
    for (int step = 0; step < STEPS; step++) {
        wait_for_copies<STAGES - 2>();
        /* Everybody's copies have come, and nobody reads the stage any more that is filled next. */
        __syncthreads();
        const int next = step + STAGES - 1;
        if (next < STEPS)
            fetch(&stages[next % STAGES * TILES], a, b, next);
        end_of_copies();
        sums.add(&stages[step % STAGES * TILES]);
    }
#else
    Parcel parcel;

    parcel.load(a, b, 0);
    parcel.store(stages);
    __syncthreads();
    for (int step = 0; step < STEPS; step++) {
        if (step + 1 < STEPS)
            parcel.load(a, b, step + 1);
        sums.add(&stages[step % 2 * TILES]);
        if (step + 1 < STEPS)
            parcel.store(&stages[(step + 1) % 2 * TILES]);
        __syncthreads();
    }
#endif
    sums.store(c, alpha, beta);
}
