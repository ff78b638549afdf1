/*
 * C = alpha * A^T * B + beta * C in single precision: the matrix product of CLTune's case study
 * (Nugteren and Codreanu, "CLTune: A Generic Auto-Tuner for OpenCL Kernels", 2015, section VI).
 *
 * A is K x M and B is K x N, row-major: a step of the sum is one row of each, contiguous in memory.
 * C is column-major, M fastest, so that vectors along M serve both A and C, as in the paper.
 * M, N, K (sizes) and the tuning parameters are macros given on the command line. No size needs a
 * clean-up loop: the constraints of gemm-opencl.toml make every tile divide what it tiles.
 *
 * The numbers are those of the paper's list in section VI-A; its names are in parentheses.
 *
 *   1  MWG, NWG, KWG   (Mwg, Nwg, Kwg) a work-group computes a tile of MWG x NWG elements of C, and
 *                      passes over A and B in steps of KWG.
 *   2  MDIMC, NDIMC    (MdimC, NdimC) shape of the work-group. A work-item keeps MWG / MDIMC x
 *                      NWG / NDIMC sums in registers.
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

/* Vectors of VWM and VWN floats; OpenCL has no vector of one. */
#define JOIN_TEXT(a, b) a##b
#define JOIN(a, b) JOIN_TEXT(a, b)

#if VWM == 1
typedef float float_m;
#else
typedef JOIN(float, VWM) float_m;
#endif

#if VWN == 1
typedef float float_n;
#else
typedef JOIN(float, VWN) float_n;
#endif

/* A vector of B whose elements can be had by number. */
typedef union {
    float_n vector;
    float each[VWN];
} elements_n;

/* Everything from here on counts along M and N in vectors, not in floats. */
enum {
    ROWS = M / VWM, /* vectors in a row of A, and in a column of C */
    COLUMNS = N / VWN,

    TILE_M = MWG / VWM, /* vectors in a row of a work-group's tile */
    TILE_N = NWG / VWN,

    OWN_M = TILE_M / MDIMC, /* vectors in the register tile of a work-item */
    OWN_N = TILE_N / NDIMC,

    KDIMA = MDIMC * NDIMC / MDIMA, /* rows that the work-group copies at a time */
    KDIMB = MDIMC * NDIMC / NDIMB,

    COPIED_M = TILE_M / MDIMA, /* vectors of such a row that a work-item copies */
    COPIED_N = TILE_N / NDIMB,
};

/* Where, among the vectors that `items` work-items share, is number `own` of the `count` of item `id`. */
static int place(int strided, int id, int items, int own, int count)
{
    return strided ? own * items + id : id * count + own;
}

__kernel __attribute__((reqd_work_group_size(MDIMC, NDIMC, 1)))
void gemm(__global const float_m *restrict a, __global const float_n *restrict b,
          __global float_m *restrict c, const float alpha, const float beta)
{
    __local float_m tile_a[SA ? KWG * TILE_M : 1];
    __local float_n tile_b[SB ? KWG * TILE_N : 1];

    const int id_m = get_local_id(0), id_n = get_local_id(1);
    const int id = id_n * MDIMC + id_m;
    const int first_m = get_group_id(0) * TILE_M; /* of the work-group's tile */
    const int first_n = get_group_id(1) * TILE_N;

    float_m sum[OWN_N][VWN][OWN_M];

    #pragma unroll
    for (int n = 0; n < OWN_N; n++)
        #pragma unroll
        for (int e = 0; e < VWN; e++)
            #pragma unroll
            for (int m = 0; m < OWN_M; m++)
                sum[n][e][m] = 0.0f;

    for (int first_k = 0; first_k < K; first_k += KWG) {
        if (SA)
            for (int k = id / MDIMA; k < KWG; k += KDIMA)
                #pragma unroll
                for (int own = 0; own < COPIED_M; own++) {
                    const int m = place(STRM, id % MDIMA, MDIMA, own, COPIED_M);
                    tile_a[k * TILE_M + m] = a[(first_k + k) * ROWS + first_m + m];
                }
        if (SB)
            for (int k = id / NDIMB; k < KWG; k += KDIMB)
                #pragma unroll
                for (int own = 0; own < COPIED_N; own++) {
                    const int n = place(STRN, id % NDIMB, NDIMB, own, COPIED_N);
                    tile_b[k * TILE_N + n] = b[(first_k + k) * COLUMNS + first_n + n];
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
                    own_a[own] = SA ? tile_a[k * TILE_M + m] : a[(first_k + k) * ROWS + first_m + m];
                }
                #pragma unroll
                for (int own = 0; own < OWN_N; own++) {
                    const int n = place(STRN, id_n, NDIMC, own, OWN_N);
                    own_b[own].vector = SB ? tile_b[k * TILE_N + n] : b[(first_k + k) * COLUMNS + first_n + n];
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
        for (int e = 0; e < VWN; e++) {
            const int column = (first_n + place(STRN, id_n, NDIMC, n, OWN_N)) * VWN + e;
            #pragma unroll
            for (int m = 0; m < OWN_M; m++) {
                const int row = first_m + place(STRM, id_m, MDIMC, m, OWN_M);
                const int at = column * ROWS + row;
                c[at] = alpha * sum[n][e][m] + beta * c[at];
            }
        }
}
