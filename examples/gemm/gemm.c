/*
 * C = alpha * A^T * B + beta * C in single precision, on one core.
 *
 * A is K x M, B is K x N, C is M x N, all row-major. M, N, K (sizes) and every
 * tuning parameter (see gemm.toml) are macros given on the command line.
 *
 * The loops are tiled twice. Blocks of MC x KC (A), KC x NC (B) and MC x NC (C)
 * stay in the caches; inside a block, tiles of MR x NR sums stay in registers
 * while the K dimension runs past them:
 *
 *     for each block of M, N, K, nested as ORDER says      gemm
 *         copy the block of A, of B into panels            pack
 *         for each MR x NR tile, nested as TILES says      multiply_block
 *             for each k of the block                      multiply_tile
 *                 sum[MR][NR] += column of A * row of B
 *
 * No size needs a clean-up loop: the constraints make every tile divide what it
 * tiles. Nothing survives a call but the contents of two scratch buffers, which
 * are always written before they are read.
 */
#include <stddef.h>
#include <string.h>

/*
 * Floats in a vector. What is wider than the CPU's registers becomes several vectors here,
 * because gcc would take it apart into single floats.
 */
#if defined(__AVX512F__)
#define WIDEST 16
#elif defined(__AVX__)
#define WIDEST 8
#else
#define WIDEST 4
#endif
#define LANES (VW < WIDEST ? VW : WIDEST)

/* A vector, and the same in memory, where it is only aligned as its floats are. */
typedef float vec __attribute__((vector_size(LANES * sizeof(float))));
typedef float vec_in_memory
    __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));

/* Both compilers unroll the loop that follows by n, or completely if it has no more than n steps. */
#define PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define UNROLLED(n) PRAGMA(clang loop unroll_count(n))
#else
#define UNROLLED(n) PRAGMA(GCC unroll n)
#endif

/* The text of a string parameter: -DORDER=nkm makes TEXT(ORDER) "nkm". */
#define TEXT_OF(word) #word
#define TEXT(word) TEXT_OF(word)

enum {
    VECTORS = NR / LANES, /* vectors in a row of the register tile */

    /* From one k to the next in what a tile reads: a panel row, or a row of the matrix itself. */
    A_NEXT_K = PACK_A ? MR : M,
    B_NEXT_K = PACK_B ? NR : N,

    /* From one column of a block to the next, at multiples of MR or NR: panels hold KC rows each. */
    A_COLUMN = PACK_A ? KC : 1,
    B_COLUMN = PACK_B ? KC : 1,
};

/*
 * One MR x NR tile of C over the KC steps of a block: c = beta * c + alpha * a^T * b.
 * The loops over the tile have constant bounds and are unrolled completely, so that
 * each sum is a register.
 */
static inline void multiply_tile(const float *restrict a, const float *restrict b,
                                 float *restrict c, float alpha, float beta)
{
    vec sum[MR][VECTORS];

    UNROLLED(MR)
    for (size_t i = 0; i < MR; i++)
        UNROLLED(VECTORS)
        for (size_t j = 0; j < VECTORS; j++)
            sum[i][j] = (vec){0};

    UNROLLED(UNROLL)
    for (size_t k = 0; k < KC; k++) {
        const float *column_a = a + k * A_NEXT_K;
        const vec_in_memory *row_b = (const vec_in_memory *)(b + k * B_NEXT_K);

        UNROLLED(MR)
        for (size_t i = 0; i < MR; i++)
            UNROLLED(VECTORS)
            for (size_t j = 0; j < VECTORS; j++)
                sum[i][j] += column_a[i] * row_b[j];
    }

    UNROLLED(MR)
    for (size_t i = 0; i < MR; i++) {
        vec_in_memory *row_c = (vec_in_memory *)(c + i * N);

        UNROLLED(VECTORS)
        for (size_t j = 0; j < VECTORS; j++)
            row_c[j] = beta * row_c[j] + alpha * sum[i][j];
    }
}

/*
 * All tiles of one block. With TILES = "nm" the rows of C change fastest: one panel of B
 * stays in the first-level cache while the panels of A pass by; "mn" is the reverse.
 */
static void multiply_block(const float *a, const float *b, float *c, float alpha, float beta)
{
    const int rows_fastest = TEXT(TILES)[1] == 'm';
    const size_t slow_end = rows_fastest ? NC / NR : MC / MR;
    const size_t fast_end = rows_fastest ? MC / MR : NC / NR;

    for (size_t slow = 0; slow < slow_end; slow++)
        for (size_t fast = 0; fast < fast_end; fast++) {
            size_t m = MR * (rows_fastest ? fast : slow);
            size_t n = NR * (rows_fastest ? slow : fast);
            multiply_tile(a + m * A_COLUMN, b + n * B_COLUMN, c + m * N + n, alpha, beta);
        }
}

/*
 * Copies KC rows of `width` floats, `stride` apart, into panels of `panel` columns. A panel
 * is contiguous, row after row: the exact order in which multiply_tile reads it.
 */
static inline void pack(float *restrict to, const float *restrict from, size_t stride,
                        size_t width, size_t panel)
{
    for (size_t k = 0; k < KC; k++)
        for (size_t column = 0; column < width; column += panel)
            memcpy(&to[column * KC + k * panel], &from[k * stride + column],
                   panel * sizeof(float));
}

/* Dimensions as indices, in the order of the loop nest that the letters of ORDER name. */
enum dimension { DIM_M, DIM_N, DIM_K, DIMENSIONS };

static enum dimension nesting(int level)
{
    char letter = TEXT(ORDER)[level];
    return letter == 'm' ? DIM_M : letter == 'n' ? DIM_N : DIM_K;
}

void gemm(const float *a, const float *b, float *c, float alpha, float beta)
{
    /* Aligned to a cache line, which is also the widest vector. */
    static float panels_a[PACK_A ? MC * KC : 1] __attribute__((aligned(64)));
    static float panels_b[PACK_B ? KC * NC : 1] __attribute__((aligned(64)));
    static const size_t end[DIMENSIONS] = {M, N, K};
    static const size_t step[DIMENSIONS] = {MC, NC, KC};

    const enum dimension x = nesting(0), y = nesting(1), z = nesting(2);
    const float *packed_a = NULL, *packed_b = NULL; /* the blocks now in the panels */
    size_t at[DIMENSIONS];

    for (at[x] = 0; at[x] < end[x]; at[x] += step[x])
        for (at[y] = 0; at[y] < end[y]; at[y] += step[y])
            for (at[z] = 0; at[z] < end[z]; at[z] += step[z]) {
                const float *block_a = a + at[DIM_K] * M + at[DIM_M];
                const float *block_b = b + at[DIM_K] * N + at[DIM_N];
                float *block_c = c + at[DIM_M] * N + at[DIM_N];

                /* Whatever the nesting, a block is copied only when it is another than before. */
                if (PACK_A && packed_a != block_a)
                    pack(panels_a, packed_a = block_a, M, MC, MR);
                if (PACK_B && packed_b != block_b)
                    pack(panels_b, packed_b = block_b, N, NC, NR);

                /* The first block along K scales C by beta, the others add to it. */
                multiply_block(PACK_A ? panels_a : block_a, PACK_B ? panels_b : block_b,
                               block_c, alpha, at[DIM_K] == 0 ? beta : 1.0f);
            }
}
