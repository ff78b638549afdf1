/*
 * C = alpha * A^T * B + beta * C in single precision: the matrix product of CLTune's case study
 * (Nugteren and Codreanu, "CLTune: A Generic Auto-Tuner for OpenCL Kernels", 2015, section VI), for
 * matrices of any size.
 *
 * A is K x M and B is K x N, row-major: a step of the sum is one row of each, contiguous in memory.
 * C is column-major, M fastest, so that vectors along M serve both A and C, as in the paper. M, N,
 * K (sizes) and the tuning parameters are macros.
 *
 * Tiles at the edges reach beyond the matrices. There, zeros take the place of what is loaded, and
 * nothing is stored. The sizes are constants, so a size that its tiles divide costs no comparison.
 *
 * The numbers are those of the paper's list in section VI-A; its names are in parentheses.
 *
 *   1  MWG, NWG, KWG   (Mwg, Nwg, Kwg) a work-group computes a tile of MWG x NWG elements of C, and
 *                      passes over A and B in steps of KWG.
 *   2  MDIMC, NDIMC    (MdimC, NdimC) shape of the work-group. A work-item keeps MWG / MDIMC x NWG
 *                      / NDIMC sums in registers.
 *   3  SA, SB          (L$A, L$B) 1: the work-group copies its tile of A (B) into local memory and
 *                      reads it there; 0: every work-item reads global memory.
 *   4  MDIMA, NDIMB    (MdimA, NdimB) shape of the work-group while it copies: MDIMA items along M
 *                      and what is left along K for A, NDIMB along N and the rest along K for B.
 *   5  STRM, STRN      (Mstride, Nstride) 1: the vectors of one work-item lie a work-group's width
 *                      apart, so that neighbours read neighbouring ones; 0: they are contiguous.
 *                      STRM is for A and C, STRN for B.
 *   6  VWM, VWN        (Mvec, Nvec) floats in a vector: VWM for A and C, VWN for B.
 *   7  KWI             (Kwi) unrolling of the loop over the KWG steps of a tile.
 */
#include "one_source.h"

typedef VECTOR(float, VWM) float_m;
typedef VECTOR(float, VWN) float_n;

/* Vectors whose elements can be had by number. */
typedef union {
    float_m vector;
    float each[VWM];
} elements_m;

typedef union {
    float_n vector;
    float each[VWN];
} elements_n;

enum {
    /* Whether tiles end with the matrices. */
    WHOLE_M = M % MWG == 0,
    WHOLE_N = N % NWG == 0,
    WHOLE_K = K % KWG == 0,

    /*
     * A tile of the work-group, the register tile of a work-item, and its part of a copied row, in
     * vectors.
     */
    TILE_M = MWG / VWM,
    TILE_N = NWG / VWN,
    OWN_M = TILE_M / MDIMC,
    OWN_N = TILE_N / NDIMC,
    COPIED_M = TILE_M / MDIMA,
    COPIED_N = TILE_N / NDIMB,

    KDIMA = MDIMC * NDIMC / MDIMA, /* rows that the work-group copies at a time */
    KDIMB = MDIMC * NDIMC / NDIMB,
};

/*
 * Where, among the vectors that `items` work-items share, is number `own` of the `count` of item
 * `id`.
 */
FUNCTION int place(int strided, int id, int items, int own, int count)
{
    return strided ? own * items + id : id * count + own;
}

/* The vector of A that begins at row k and column m; what lies outside of A is 0. */
FUNCTION float_m load_a(__global const float *restrict a, int k, int m)
{
    elements_m loaded;
    if ((WHOLE_K || k < K) && (WHOLE_M || m + VWM <= M))
        return M % VWM == 0 ? *(__global const float_m *)&a[k * M + m] : LOAD(float, VWM, 0, &a[k * M + m]);
    #pragma unroll
    for (int e = 0; e < VWM; e++)
        loaded.each[e] = k < K && m + e < M ? a[k * M + m + e] : 0.0f;
    return loaded.vector;
}

/* The same of B, at row k and column n. */
FUNCTION float_n load_b(__global const float *restrict b, int k, int n)
{
    elements_n loaded;
    if ((WHOLE_K || k < K) && (WHOLE_N || n + VWN <= N))
        return N % VWN == 0 ? *(__global const float_n *)&b[k * N + n] : LOAD(float, VWN, 0, &b[k * N + n]);
    #pragma unroll
    for (int e = 0; e < VWN; e++)
        loaded.each[e] = k < K && n + e < N ? b[k * N + n + e] : 0.0f;
    return loaded.vector;
}

/* Stores the sums of rows m to m + VWM - 1 of column n of C, as far as C reaches. */
FUNCTION void store_c(__global float *restrict c, int n, int m, float_m sums, float alpha, float beta)
{
    __global float *to = &c[n * M + m];
    elements_m sum;
    if (!WHOLE_N && n >= N)
        return;
    if (WHOLE_M || m + VWM <= M) {
        if (M % VWM == 0)
            *(__global float_m *)to = alpha * sums + beta * *(__global const float_m *)to;
        else
            STORE(float, VWM, alpha * sums + beta * LOAD(float, VWM, 0, to), 0, to);
        return;
    }
    sum.vector = sums;
    #pragma unroll
    for (int e = 0; e < VWM; e++)
        if (m + e < M)
            to[e] = alpha * sum.each[e] + beta * to[e];
}

__kernel WORK_GROUP(MDIMC, NDIMC, 1)
void gemm(__global const float *restrict a, __global const float *restrict b, __global float *restrict c,
          const float alpha, const float beta)
{
    __local float_m tile_a[SA ? KWG * TILE_M : 1];
    __local float_n tile_b[SB ? KWG * TILE_N : 1];

    const int id_m = get_local_id(0), id_n = get_local_id(1);
    const int id = id_n * MDIMC + id_m;
    const int first_m = get_group_id(0) * MWG; /* of the work-group's tile */
    const int first_n = get_group_id(1) * NWG;

    float_m sum[OWN_N][VWN][OWN_M];

    #pragma unroll
    for (int n = 0; n < OWN_N; n++)
        #pragma unroll
        for (int e = 0; e < VWN; e++)
            #pragma unroll
            for (int m = 0; m < OWN_M; m++)
                sum[n][e][m] = SPLAT(float, VWM, 0.0f);

    for (int first_k = 0; first_k < K; first_k += KWG) {
        if (SA)
            for (int k = id / MDIMA; k < KWG; k += KDIMA)
                #pragma unroll
                for (int own = 0; own < COPIED_M; own++) {
                    const int m = place(STRM, id % MDIMA, MDIMA, own, COPIED_M);
                    tile_a[k * TILE_M + m] = load_a(a, first_k + k, first_m + m * VWM);
                }
        if (SB)
            for (int k = id / NDIMB; k < KWG; k += KDIMB)
                #pragma unroll
                for (int own = 0; own < COPIED_N; own++) {
                    const int n = place(STRN, id % NDIMB, NDIMB, own, COPIED_N);
                    tile_b[k * TILE_N + n] = load_b(b, first_k + k, first_n + n * VWN);
                }
        if (SA || SB)
            barrier(CLK_LOCAL_MEM_FENCE);

        for (int step = 0; step < KWG; step += KWI)
            #pragma unroll
            for (int k = step; k < step + KWI; k++) {
                float_m own_a[OWN_M];
                elements_n own_b[OWN_N];

                #pragma unroll
                for (int own = 0; own < OWN_M; own++) {
                    const int m = place(STRM, id_m, MDIMC, own, OWN_M);
                    own_a[own] = SA ? tile_a[k * TILE_M + m] : load_a(a, first_k + k, first_m + m * VWM);
                }
                #pragma unroll
                for (int own = 0; own < OWN_N; own++) {
                    const int n = place(STRN, id_n, NDIMC, own, OWN_N);
                    own_b[own].vector = SB ? tile_b[k * TILE_N + n] : load_b(b, first_k + k, first_n + n * VWN);
                }

                #pragma unroll
                for (int n = 0; n < OWN_N; n++)
                    #pragma unroll
                    for (int e = 0; e < VWN; e++)
                        #pragma unroll
                        for (int m = 0; m < OWN_M; m++)
                            sum[n][e][m] += own_a[m] * own_b[n].each[e];
            }
        /* Nobody may overwrite a tile that another still reads. */
        if (SA || SB)
            barrier(CLK_LOCAL_MEM_FENCE);
    }

    #pragma unroll
    for (int n = 0; n < OWN_N; n++)
        #pragma unroll
        for (int e = 0; e < VWN; e++)
            #pragma unroll
            for (int m = 0; m < OWN_M; m++)
                store_c(c, first_n + place(STRN, id_n, NDIMC, n, OWN_N) * VWN + e,
                        first_m + place(STRM, id_m, MDIMC, m, OWN_M) * VWM, sum[n][e][m], alpha, beta);
}
