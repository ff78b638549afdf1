/*
 * C = alpha * A * B + beta * C in single precision, for matrices of any size. A is M x K, B is K x
 * N, C is M x N, all row-major. M, N, K (sizes) and the tuning parameters are macros.
 *
 * A work-item computes OWN_M x OWN_N elements of C; a work-group WG_M times as many rows and WG_N
 * times as many columns. With WG_K > 1 a work-group has as many layers. Each layer sums another
 * part of K, and the first adds up what they found: products whose inner dimension is the long one
 * have work for more work-items than C has elements.
 *
 * Tiles at the edges reach beyond the matrices. There, zeros take the place of what is loaded, and
 * nothing is stored. The sizes are constants, so a size that its tiles divide costs no comparison.
 *
 *   WG_N, WG_M, WG_K   the work-group.
 *   OWN_N, OWN_M       elements of C of a work-item.
 *   VW                 floats in a vector along N: of B, of the sums, of C.
 *   KWG                steps of K that a layer takes at a time.
 *   LOCAL_A, LOCAL_B   1: the layer copies its tile of A (B) into local memory; 0: work-items read
 *                      global memory.
 *   STRIDED            1: the vectors of a work-item lie WG_N vectors apart, so that neighbours
 *                      read neighbouring ones.
 *   UNROLL             unrolling of the loop over KWG.
 */
#include "one_source.h"

typedef VECTOR(float, VW) vec;

typedef union {
    vec vector;
    float each[VW];
} elements;

enum {
    TILE_M = WG_M * OWN_M,
    TILE_N = WG_N * OWN_N,
    LAYER = WG_M * WG_N,     /* work-items of a layer */
    VECTORS = OWN_N / VW,    /* in a row of a work-item */
    ROW = TILE_N / VW,       /* vectors in a row of the tile */
    COLUMN = TILE_M + 1,     /* of A's tile in local memory, padded against bank conflicts */
    STEP = KWG * WG_K,       /* steps of K that the work-group takes at a time */

    /* Whether tiles end with the matrices. */
    WHOLE_M = M % TILE_M == 0,
    WHOLE_N = N % TILE_N == 0,
    WHOLE_K = K % STEP == 0,
};

/* The element of A at row m and column k; what lies outside of A is 0. */
FUNCTION float load_a(__global const float *restrict a, int m, int k)
{
    return (WHOLE_M || m < M) && (WHOLE_K || k < K) ? a[m * K + k] : 0.0f;
}

/* The vector of B that begins at row k and column n; what lies outside of B is 0. */
FUNCTION vec load_b(__global const float *restrict b, int k, int n)
{
    elements loaded;
    if ((WHOLE_K || k < K) && (WHOLE_N || n + VW <= N))
        return N % VW == 0 ? *(__global const vec *)&b[k * N + n] : LOAD(float, VW, 0, &b[k * N + n]);
    #pragma unroll
    for (int e = 0; e < VW; e++)
        loaded.each[e] = k < K && n + e < N ? b[k * N + n + e] : 0.0f;
    return loaded.vector;
}

/* Stores the sums of row m from column n on, as far as C reaches. */
FUNCTION void store_c(__global float *restrict c, int m, int n, vec sums, float alpha, float beta)
{
    __global float *to = &c[m * N + n];
    elements sum;
    if (!WHOLE_M && m >= M)
        return;
    if (WHOLE_N || n + VW <= N) {
        if (N % VW == 0)
            *(__global vec *)to = alpha * sums + beta * *(__global const vec *)to;
        else
            STORE(float, VW, alpha * sums + beta * LOAD(float, VW, 0, to), 0, to);
        return;
    }
    sum.vector = sums;
    #pragma unroll
    for (int e = 0; e < VW; e++)
        if (n + e < N)
            to[e] = alpha * sum.each[e] + beta * to[e];
}

/* The vector of the tile's row that is number `own` of work-item `id`. */
FUNCTION int place(int id, int own)
{
    return STRIDED ? own * WG_N + id : id * VECTORS + own;
}

__kernel WORK_GROUP(WG_N, WG_M, WG_K)
void gemm(__global const float *restrict a, __global const float *restrict b, __global float *restrict c,
          const float alpha, const float beta)
{
    __local float tile_a[LOCAL_A ? STEP * COLUMN : 1];
    __local vec tile_b[LOCAL_B ? STEP * ROW : 1];
    __local vec found[WG_K > 1 ? OWN_M * VECTORS * LAYER : 1];

    const int id_n = get_local_id(0), id_m = get_local_id(1), id_k = get_local_id(2);
    const int id = id_m * WG_N + id_n;
    const int first_n = get_group_id(0) * TILE_N;
    const int first_m = get_group_id(1) * TILE_M;

    vec sum[OWN_M][VECTORS];

    #pragma unroll
    for (int m = 0; m < OWN_M; m++)
        #pragma unroll
        for (int n = 0; n < VECTORS; n++)
            sum[m][n] = SPLAT(float, VW, 0.0f);

    for (int first_k = 0; first_k < K; first_k += STEP) {
        const int own_k = id_k * KWG; /* of the layer, among the STEP steps */

        if (LOCAL_A)
            for (int e = id; e < KWG * TILE_M; e += LAYER)
                tile_a[(own_k + e % KWG) * COLUMN + e / KWG] = load_a(a, first_m + e / KWG, first_k + own_k + e % KWG);
        if (LOCAL_B)
            for (int e = id; e < KWG * ROW; e += LAYER)
                tile_b[(own_k + e / ROW) * ROW + e % ROW] = load_b(b, first_k + own_k + e / ROW, first_n + e % ROW * VW);
        if (LOCAL_A || LOCAL_B)
            barrier(CLK_LOCAL_MEM_FENCE);

        for (int step = 0; step < KWG; step += UNROLL)
            #pragma unroll
            for (int k = own_k + step; k < own_k + step + UNROLL; k++) {
                vec row[VECTORS];

                #pragma unroll
                for (int n = 0; n < VECTORS; n++)
                    row[n] = LOCAL_B ? tile_b[k * ROW + place(id_n, n)]
                                     : load_b(b, first_k + k, first_n + place(id_n, n) * VW);
                #pragma unroll
                for (int m = 0; m < OWN_M; m++) {
                    const int at = id_m * OWN_M + m;
                    const float element = LOCAL_A ? tile_a[k * COLUMN + at] : load_a(a, first_m + at, first_k + k);

                    #pragma unroll
                    for (int n = 0; n < VECTORS; n++)
                        sum[m][n] += element * row[n];
                }
            }
        /* Nobody may overwrite a tile that another still reads. */
        if (LOCAL_A || LOCAL_B)
            barrier(CLK_LOCAL_MEM_FENCE);
    }

    /* The layers hand over their sums in turn. */
    for (int layer = 1; layer < WG_K; layer++) {
        #pragma unroll
        for (int m = 0; m < OWN_M; m++)
            #pragma unroll
            for (int n = 0; n < VECTORS; n++)
                if (id_k == layer)
                    found[(m * VECTORS + n) * LAYER + id] = sum[m][n];
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (int m = 0; m < OWN_M; m++)
            #pragma unroll
            for (int n = 0; n < VECTORS; n++)
                if (id_k == 0)
                    sum[m][n] += found[(m * VECTORS + n) * LAYER + id];
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    if (id_k == 0)
        #pragma unroll
        for (int m = 0; m < OWN_M; m++)
            #pragma unroll
            for (int n = 0; n < VECTORS; n++)
                store_c(c, first_m + id_m * OWN_M + m, first_n + place(id_n, n) * VW, sum[m][n], alpha, beta);
}
