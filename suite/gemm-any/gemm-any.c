/*
 * C = alpha * A * B + beta * C in single precision on one core, for matrices of any size.
 *
 * A is M x K, B is K x N, C is M x N, all row-major. M, N, K (sizes) and the tuning parameters (see
 * gemm-any-c.toml) are macros, so every extent below is a constant.
 *
 * One dimension of C is computed in vectors: its columns, or its rows with ALONG_M. It is called V
 * here, the other one R. A register tile is MR elements along R times NV vectors along V. Its sums
 * stay in registers while K runs past them:
 *
 *     for each block of V, of K, of R                        gemm
 *         copy the block of the V operand, of R, to panels   pack_v, pack_r
 *         for each register tile, nested as R_FIRST says     multiply_block
 *             for each k of the block                        multiply_tile
 *                 sum[MR][NV] += one element of R * a vector of V
 *
 * Edges cost little: tiles at the end of R have as many rows as are left, and tiles at the end of V
 * as many vectors. Only the last vector reaches beyond the matrix. It is padded with zeros, in the
 * panel or when it is loaded, and of C it touches what exists.
 */
#include <stddef.h>
#include <string.h>
#ifdef __AVX512VL__
#include <immintrin.h>
#endif

/* Floats in a vector; gcc would take what is wider than the registers apart into single floats. */
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
typedef float vec_in_memory __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));

/*
 * Both compilers unroll the loop that follows by n, or completely if it has no more than n steps.
 */
#define PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define UNROLLED(n) PRAGMA(clang loop unroll_count(n))
#else
#define UNROLLED(n) PRAGMA(GCC unroll n)
#endif
#define INLINED static inline __attribute__((always_inline))

#define CEILDIV(a, b) (((a) + (b) - 1) / (b))
#define LEAST(a, b) ((a) < (b) ? (a) : (b))

enum {
    /*
     * The extents of V and R, and where the next element of each operand is, along its dimension
     * and along K.
     */
    V = ALONG_M ? M : N,
    R = ALONG_M ? N : M,
    V_NEXT = ALONG_M ? K : 1,
    V_NEXT_K = ALONG_M ? 1 : N,
    R_NEXT = ALONG_M ? 1 : K,
    R_NEXT_K = ALONG_M ? N : 1,
    C_NEXT_V = ALONG_M ? N : 1,
    C_NEXT_R = ALONG_M ? 1 : N,

    NR = NV * LANES, /* elements of V in a register tile */

    /* Blocks, no larger than the matrices in whole register tiles. */
    BLOCK_V = LEAST(TILES_V, CEILDIV(V, NR)) * NR,
    BLOCK_R = LEAST(TILES_R, CEILDIV(R, MR)) * MR,
    BLOCK_K = LEAST(KC, K),

    /* What the last tiles have: elements of R; of V; in vectors; in the last of these. */
    LAST_R = R % MR,
    LAST_V = V % NR,
    LAST_VECTORS = CEILDIV(LAST_V, LANES),
    LAST_LANES = LAST_V % LANES == 0 ? LANES : LAST_V % LANES,
};

/* From one k to the next, and from one element along R to the next, in what a tile reads. */
#define TILE_R_NEXT (PACK_R ? 1 : (size_t)R_NEXT)
#define TILE_R_NEXT_K (PACK_R ? (size_t)MR : (size_t)R_NEXT_K)
#define TILE_V_NEXT_K (PACK_V ? (size_t)NR : (size_t)V_NEXT_K)

/* Parts of a vector. With AVX-512, masks make them as cheap as whole ones. */
#if defined(__AVX512VL__) && LANES == 16
#define LOAD_PART(from, lanes) ((vec)_mm512_maskz_loadu_ps((1u << (lanes)) - 1, from))
#define STORE_PART(to, stored, lanes) _mm512_mask_storeu_ps(to, (1u << (lanes)) - 1, (__m512)(stored))
#elif defined(__AVX512VL__) && LANES == 8
#define LOAD_PART(from, lanes) ((vec)_mm256_maskz_loadu_ps((1u << (lanes)) - 1, from))
#define STORE_PART(to, stored, lanes) _mm256_mask_storeu_ps(to, (1u << (lanes)) - 1, (__m256)(stored))
#elif defined(__AVX512VL__) && LANES == 4
#define LOAD_PART(from, lanes) ((vec)_mm_maskz_loadu_ps((1u << (lanes)) - 1, from))
#define STORE_PART(to, stored, lanes) _mm_mask_storeu_ps(to, (1u << (lanes)) - 1, (__m128)(stored))
#else
INLINED vec LOAD_PART(const float *from, size_t lanes)
{
    vec loaded = {0};
    memcpy(&loaded, from, lanes * sizeof(float));
    return loaded;
}

INLINED void STORE_PART(float *to, vec stored, size_t lanes)
{
    memcpy(to, &stored, lanes * sizeof(float));
}
#endif

/* Loads the first `lanes` floats at `from`; the other lanes are 0. */
INLINED vec load_some(const float *from, size_t lanes)
{
    return lanes == LANES ? (vec) * (const vec_in_memory *)from : LOAD_PART(from, lanes);
}

INLINED void store_some(float *to, vec stored, size_t lanes)
{
    if (lanes == LANES)
        *(vec_in_memory *)to = stored;
    else
        STORE_PART(to, stored, lanes);
}

/* c = beta * c + alpha * sum for `lanes` elements along V that are not contiguous. */
INLINED void scatter(float *restrict c, vec sum, size_t lanes, float alpha, float beta)
{
    UNROLLED(LANES)
    for (size_t e = 0; e < lanes; e++)
        c[e * C_NEXT_V] = beta * c[e * C_NEXT_V] + alpha * sum[e];
}

/*
 * One register tile of C over `steps` of K. `rows`, `vectors` and `last`, the lanes of the last
 * vector, are constants where this is called: the loops over the tile are unrolled completely, so
 * that each sum is a register.
 */
INLINED void multiply_tile(const float *restrict r, const float *restrict v, float *restrict c, size_t steps, size_t rows,
                           size_t vectors, size_t last, float alpha, float beta)
{
    vec sum[MR][NV];

    UNROLLED(MR)
    for (size_t i = 0; i < rows; i++)
        UNROLLED(NV)
        for (size_t j = 0; j < vectors; j++)
            sum[i][j] = (vec){0};

    UNROLLED(UNROLL)
    for (size_t k = 0; k < steps; k++) {
        const float *elements = r + k * TILE_R_NEXT_K;
        vec row[NV];

        /* Panels are padded: there the last vector is whole. */
        UNROLLED(NV)
        for (size_t j = 0; j < vectors; j++)
            row[j] = load_some(v + k * TILE_V_NEXT_K + j * LANES, PACK_V || j + 1 < vectors ? LANES : last);

        UNROLLED(MR)
        for (size_t i = 0; i < rows; i++)
            UNROLLED(NV)
            for (size_t j = 0; j < vectors; j++)
                sum[i][j] += elements[i * TILE_R_NEXT] * row[j];
    }

    if (ALONG_M) {
        UNROLLED(MR)
        for (size_t i = 0; i < rows; i++)
            UNROLLED(NV)
            for (size_t j = 0; j < vectors; j++)
                scatter(c + i * C_NEXT_R + j * LANES * C_NEXT_V, sum[i][j], j + 1 == vectors ? last : LANES, alpha, beta);
        return;
    }
    /*
     * All loads before all stores: a load that overlaps the masked end of a store before it would
     * wait for that store.
     */
    UNROLLED(MR)
    for (size_t i = 0; i < rows; i++)
        UNROLLED(NV)
        for (size_t j = 0; j < vectors; j++)
            sum[i][j] = beta * load_some(c + i * C_NEXT_R + j * LANES, j + 1 == vectors ? last : LANES) + alpha * sum[i][j];
    UNROLLED(MR)
    for (size_t i = 0; i < rows; i++)
        UNROLLED(NV)
        for (size_t j = 0; j < vectors; j++)
            store_some(c + i * C_NEXT_R + j * LANES, sum[i][j], j + 1 == vectors ? last : LANES);
}

/* Panels of the block at hand, and where its operands begin. */
struct block {
    const float *r, *v; /* panels, or the matrices */
    float *c;
    size_t steps, end_r, end_v; /* extents in K, R and V, as far as the matrices reach */
    float alpha, beta;
};

/* The tile whose first element along R is `i` and along V is `j`. */
INLINED void multiply_tile_at(const struct block *at, size_t i, size_t j)
{
    const float *r = at->r + (PACK_R ? i * at->steps : i * R_NEXT);
    const float *v = at->v + (PACK_V ? j * at->steps : j * V_NEXT);
    float *c = at->c + i * C_NEXT_R + j * C_NEXT_V;
    const int whole_v = LAST_V == 0 || j + NR <= at->end_v, whole_r = LAST_R == 0 || i + MR <= at->end_r;

    if (whole_v && whole_r)
        multiply_tile(r, v, c, at->steps, MR, NV, LANES, at->alpha, at->beta);
    else if (whole_v)
        multiply_tile(r, v, c, at->steps, LAST_R, NV, LANES, at->alpha, at->beta);
    else if (whole_r)
        multiply_tile(r, v, c, at->steps, MR, LAST_VECTORS, LAST_LANES, at->alpha, at->beta);
    else
        multiply_tile(r, v, c, at->steps, LAST_R, LAST_VECTORS, LAST_LANES, at->alpha, at->beta);
}

/*
 * All tiles of a block. With R_FIRST those along R change fastest: one panel of V stays in the
 * first-level cache.
 */
INLINED void multiply_block(const struct block *at)
{
    if (R_FIRST)
        for (size_t j = 0; j < at->end_v; j += NR)
            for (size_t i = 0; i < at->end_r; i += MR)
                multiply_tile_at(at, i, j);
    else
        for (size_t i = 0; i < at->end_r; i += MR)
            for (size_t j = 0; j < at->end_v; j += NR)
                multiply_tile_at(at, i, j);
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HAS_SHUFFLE 1
#endif
#endif

/* Copies 4 rows, `stride` apart, of 4 floats to 4 columns, `next` apart. */
INLINED void transpose_4(float *restrict to, size_t next, const float *restrict from, size_t stride)
{
#ifdef HAS_SHUFFLE
    typedef float quad __attribute__((vector_size(16)));
    typedef float quad_in_memory __attribute__((vector_size(16), aligned(4), may_alias));
    const quad a = *(const quad_in_memory *)from, b = *(const quad_in_memory *)(from + stride);
    const quad c = *(const quad_in_memory *)(from + 2 * stride), d = *(const quad_in_memory *)(from + 3 * stride);
    const quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const quad ef = __builtin_shufflevector(a, b, 2, 6, 3, 7), gh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *(quad_in_memory *)to = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    *(quad_in_memory *)(to + next) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    *(quad_in_memory *)(to + 2 * next) = __builtin_shufflevector(ef, gh, 0, 1, 4, 5);
    *(quad_in_memory *)(to + 3 * next) = __builtin_shufflevector(ef, gh, 2, 3, 6, 7);
#else
    for (size_t k = 0; k < 4; k++)
        for (size_t i = 0; i < 4; i++)
            to[k * next + i] = from[i * stride + k];
#endif
}

/*
 * Copies `width` columns of `steps` rows into one panel, row after row of `panel` floats: the order
 * in which multiply_tile reads it. Element e of row k is at from[k * next_k + e * next]; one of the
 * two strides is 1.
 */
INLINED void pack_panel(float *restrict to, size_t panel, const float *restrict from, size_t next, size_t next_k,
                        size_t steps, size_t width)
{
    if (next == 1) {
        for (size_t k = 0; k < steps; k++) {
            memcpy(to + k * panel, from + k * next_k, width * sizeof(float));
            for (size_t e = width; e < panel; e++)
                to[k * panel + e] = 0.0f;
        }
        return;
    }
    const size_t fours = width / 4 * 4, steps_4 = steps / 4 * 4;
    for (size_t k = 0; k < steps_4; k += 4) {
        for (size_t e = 0; e < fours; e += 4)
            transpose_4(to + k * panel + e, panel, from + e * next + k, next);
        for (size_t e = fours; e < panel; e++)
            for (size_t s = k; s < k + 4; s++)
                to[s * panel + e] = e < width ? from[e * next + s] : 0.0f;
    }
    for (size_t k = steps_4; k < steps; k++)
        for (size_t e = 0; e < panel; e++)
            to[k * panel + e] = e < width ? from[e * next + k] : 0.0f;
}

/* Copies a block of the V operand. */
static void pack_v(float *restrict to, const float *from, size_t end, size_t steps)
{
    const size_t whole = end / NR * NR;
    for (size_t j = 0; j < whole; j += NR)
        pack_panel(to + j * steps, NR, from + j * V_NEXT, V_NEXT, V_NEXT_K, steps, NR);
    if (LAST_V != 0 && whole < end)
        pack_panel(to + whole * steps, NR, from + whole * V_NEXT, V_NEXT, V_NEXT_K, steps, LAST_V);
}

/* Copies a block of the R operand. */
static void pack_r(float *restrict to, const float *from, size_t end, size_t steps)
{
    const size_t whole = end / MR * MR;
    for (size_t i = 0; i < whole; i += MR)
        pack_panel(to + i * steps, MR, from + i * R_NEXT, R_NEXT, R_NEXT_K, steps, MR);
    if (LAST_R != 0 && whole < end)
        pack_panel(to + whole * steps, MR, from + whole * R_NEXT, R_NEXT, R_NEXT_K, steps, LAST_R);
}

void gemm(const float *restrict a, const float *restrict b, float *restrict c, float alpha, float beta)
{
    /* Aligned to a cache line, which is also the widest vector. */
    static float panels_v[PACK_V ? BLOCK_V * BLOCK_K : 1] __attribute__((aligned(64)));
    static float panels_r[PACK_R ? BLOCK_R * BLOCK_K : 1] __attribute__((aligned(64)));
    const float *all_v = ALONG_M ? a : b, *all_r = ALONG_M ? b : a;

    for (size_t v = 0; v < V; v += BLOCK_V)
        for (size_t k = 0; k < K; k += BLOCK_K) {
            struct block at = {.alpha = alpha, .beta = k == 0 ? beta : 1.0f};
            at.steps = LEAST((size_t)BLOCK_K, K - k);
            at.end_v = LEAST((size_t)BLOCK_V, V - v);
            at.v = all_v + k * V_NEXT_K + v * V_NEXT;
            if (PACK_V) {
                pack_v(panels_v, at.v, at.end_v, at.steps);
                at.v = panels_v;
            }

            for (size_t r = 0; r < R; r += BLOCK_R) {
                at.end_r = LEAST((size_t)BLOCK_R, R - r);
                at.r = all_r + k * R_NEXT_K + r * R_NEXT;
                if (PACK_R) {
                    pack_r(panels_r, at.r, at.end_r, at.steps);
                    at.r = panels_r;
                }
                at.c = c + v * C_NEXT_V + r * C_NEXT_R;
                multiply_block(&at);
            }
        }
}
