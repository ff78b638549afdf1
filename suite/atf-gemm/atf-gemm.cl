/*
 * C = A * B for row-major matrices: M x N from M x K and K x N. L_1 are the rows, L_2 the columns, R_1 is the inner
 * dimension. `tiling.h` says what the parameters mean.
 *
 * `multiply` computes C, or with NUM_WG_R_1 > 1 one summand of it per work-group along R_1. `add` adds the summands.
 */
#include "tiling.h"

#define FOLDED_WG(order)                                                                                              \
    (FOLDED(L_1, order, NUM_WG_L_1) * FOLDED(L_2, order, NUM_WG_L_2) * FOLDED(R_1, order, NUM_WG_R_1))
#define FOLDED_WI(order)                                                                                              \
    (FOLDED(L_1, order, NUM_WI_L_1) * FOLDED(L_2, order, NUM_WI_L_2) * FOLDED(R_1, order, NUM_WI_R_1))
#define ITEMS (NUM_WI_L_1 * NUM_WI_L_2 * NUM_WI_R_1)

/* Extents of the local and of the private block. */
#define TILE_1 L_CB_SIZE_L_1
#define TILE_2 L_CB_SIZE_L_2
#define TILE_R L_CB_SIZE_R_1
#define PART_1 P_CB_SIZE_L_1
#define PART_2 P_CB_SIZE_L_2
#define PART_R P_CB_SIZE_R_1

/* Work-items along R_1 accumulate apart: summands of C that a group keeps in global memory. */
#define OWN_SUMS (L_CB_RES_DEST_LEVEL == 2 ? NUM_WI_R_1 : 1)
#define SUMMANDS (NUM_WG_R_1 * OWN_SUMS)

/* Floats of private arrays, and of arrays in local memory. Problem files repeat these sums. */
#define PART_APART (P_CB_RES_DEST_LEVEL < L_CB_RES_DEST_LEVEL)
#define PRIVATE_TILE (L_CB_RES_DEST_LEVEL == 0 ? TILE_1 / NUM_WI_L_1 * (TILE_2 / NUM_WI_L_2) : 0)
#define PRIVATE_PART (PART_APART && P_CB_RES_DEST_LEVEL == 0 ? PART_1 * PART_2 : 0)
#define PRIVATE_A (CACHE_P_CB * PART_1 * PART_R)
#define PRIVATE_B (CACHE_P_CB * PART_R * PART_2)
#define PRIVATE (PRIVATE_TILE + PRIVATE_PART + PRIVATE_A + PRIVATE_B)
#define LOCAL_A (CACHE_L_CB * TILE_1 * TILE_R)
#define LOCAL_B (CACHE_L_CB * TILE_R * TILE_2)
#define LOCAL_TILE (L_CB_RES_DEST_LEVEL == 1 ? NUM_WI_R_1 * TILE_1 * TILE_2 : 0)

#if SPILLED
#define ARRAY(name, offset, size) IN_GLOBAL(float, name, offset)
#else
#define ARRAY(name, offset, size) IN_PRIVATE(float, name, size)
#endif

#if PART_1 * PART_2 * PART_R <= 64
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

/* Elements of A and B from the origin of the local block, and from that of the private block. */
#if CACHE_L_CB
#define IN_TILE_A(i, k) local_a[(i) * TILE_R + (k)]
#define IN_TILE_B(k, j) local_b[(k) * TILE_2 + (j)]
#else
#define IN_TILE_A(i, k) a[(row + (i)) * K + inner + (k)]
#define IN_TILE_B(k, j) b[(inner + (k)) * N + column + (j)]
#endif
#if CACHE_P_CB
#define IN_PART_A(p, r) private_a[(p) * PART_R + (r)]
#define IN_PART_B(r, q) private_b[(r) * PART_2 + (q)]
#else
#define IN_PART_A(p, r) IN_TILE_A(i + (p), k + (r))
#define IN_PART_B(r, q) IN_TILE_B(k + (r), j + (q))
#endif

/* The result of the local block at element (p, q) of the private block at (i, j). */
#if L_CB_RES_DEST_LEVEL == 2
#define TILE_RESULT(p, q) sums[(row + i + (p)) * N + column + j + (q)]
#elif L_CB_RES_DEST_LEVEL == 1
#define TILE_RESULT(p, q) local_tile[(ITEM(R_1) * TILE_1 + i + (p)) * TILE_2 + j + (q)]
#else
#define TILE_RESULT(p, q) private_tile[((step_1 * STEPS(L_2) + step_2) * PART_1 + (p)) * PART_2 + (q)]
#endif
#if !PART_APART
#define PART_RESULT(p, q) TILE_RESULT(p, q)
#elif P_CB_RES_DEST_LEVEL == 1
#define PART_RESULT(p, q) local_part[(p) * PART_2 + (q)]
#else
#define PART_RESULT(p, q) private_part[(p) * PART_2 + (q)]
#endif

/* All private blocks of this work-item in the local block, and all elements of one. */
#define EACH_PART                                                                                                     \
    for (int step_1 = 0, i = BEGIN(L_1, 0); step_1 < STEPS(L_1); step_1++, i = BEGIN(L_1, step_1))                    \
        for (int step_2 = 0, j = BEGIN(L_2, 0); step_2 < STEPS(L_2); step_2++, j = BEGIN(L_2, step_2))
#define EACH_ELEMENT                                                                                                  \
    UNROLL for (int p = 0; p < PART_1; p++)                                                                           \
        UNROLL for (int q = 0; q < PART_2; q++)

__kernel void multiply(__global const float *restrict a, __global const float *restrict b, __global float *c,
                       __global float *summands, __global float *spill LOCAL_PARAMETER)
{
    LOCAL_BEGIN
    PRIVATE_BEGIN
    ARRAY(private_tile, 0, PRIVATE_TILE)
    ARRAY(private_part, PRIVATE_TILE, PRIVATE_PART)
    ARRAY(private_a, PRIVATE_TILE + PRIVATE_PART, PRIVATE_A)
    ARRAY(private_b, PRIVATE_TILE + PRIVATE_PART + PRIVATE_A, PRIVATE_B)
    LOCAL_POINTER float *const local_a = local_block;
    LOCAL_POINTER float *const local_b = local_a + LOCAL_A;
    LOCAL_POINTER float *const local_tile = local_b + LOCAL_B;
    LOCAL_POINTER float *const local_part = local_tile + LOCAL_TILE + FLAT_ITEM * PART_1 * PART_2;
    LOCAL_POINTER float *const exchange = local_tile;

    /* Where this work-item accumulates, if in global memory, and where its group's result goes. */
    __global float *const result = NUM_WG_R_1 > 1 ? summands + GROUP(R_1) * OWN_SUMS * M * N : c;
    __global float *const sums = SUMMANDS > 1 ? summands + (GROUP(R_1) * OWN_SUMS + ITEM(R_1)) * M * N : c;

    for (int row = GROUP(L_1) * TILE_1; row < M; row += NUM_WG_L_1 * TILE_1)
        for (int column = GROUP(L_2) * TILE_2; column < N; column += NUM_WG_L_2 * TILE_2)
        {
            EACH_PART EACH_ELEMENT TILE_RESULT(p, q) = 0.0f;
            for (int inner = GROUP(R_1) * TILE_R; inner < K; inner += NUM_WG_R_1 * TILE_R)
            {
#if CACHE_L_CB
                for (int x = FLAT_ITEM; x < LOCAL_A; x += ITEMS)
                    local_a[x] = a[(row + x / TILE_R) * K + inner + x % TILE_R];
                for (int x = FLAT_ITEM; x < LOCAL_B; x += ITEMS)
                    local_b[x] = b[(inner + x / TILE_2) * N + column + x % TILE_2];
                MEET(CLK_LOCAL_MEM_FENCE);
#endif
                EACH_PART
                {
#if PART_APART
                    EACH_ELEMENT PART_RESULT(p, q) = 0.0f;
#endif
                    for (int step_r = 0, k = BEGIN(R_1, 0); step_r < STEPS(R_1); step_r++, k = BEGIN(R_1, step_r))
                    {
#if CACHE_P_CB
                        UNROLL for (int r = 0; r < PART_R; r++)
                        {
                            UNROLL for (int p = 0; p < PART_1; p++) IN_PART_A(p, r) = IN_TILE_A(i + p, k + r);
                            UNROLL for (int q = 0; q < PART_2; q++) IN_PART_B(r, q) = IN_TILE_B(k + r, j + q);
                        }
#endif
                        UNROLL for (int r = 0; r < PART_R; r++)
                            EACH_ELEMENT PART_RESULT(p, q) = mad(IN_PART_A(p, r), IN_PART_B(r, q), PART_RESULT(p, q));
                    }
#if PART_APART
                    EACH_ELEMENT TILE_RESULT(p, q) += PART_RESULT(p, q);
#endif
                }
#if CACHE_L_CB
                MEET(CLK_LOCAL_MEM_FENCE);
#endif
            }

            /* Adds what the work-items along R_1 have, and stores it where it is not yet. */
#if NUM_WI_R_1 > 1
            MEET(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
#if NUM_WI_R_1 > 1 && L_CB_RES_DEST_LEVEL == 0
            EACH_PART for (int p = 0; p < PART_1; p++) for (int q = 0; q < PART_2; q++)
            {
                const int cell = ITEM(L_1) * NUM_WI_L_2 + ITEM(L_2);
                exchange[cell * NUM_WI_R_1 + ITEM(R_1)] = TILE_RESULT(p, q);
                MEET(CLK_LOCAL_MEM_FENCE);
                if (ITEM(R_1) == 0)
                {
                    float sum = 0.0f;
                    for (int other = 0; other < NUM_WI_R_1; other++) sum += exchange[cell * NUM_WI_R_1 + other];
                    result[(row + i + p) * N + column + j + q] = sum;
                }
                MEET(CLK_LOCAL_MEM_FENCE);
            }
#elif NUM_WI_R_1 > 1
            if (ITEM(R_1) == 0)
                EACH_PART EACH_ELEMENT
                {
                    float sum = 0.0f;
                    for (int other = 0; other < NUM_WI_R_1; other++)
#if L_CB_RES_DEST_LEVEL == 2
                        sum += sums[other * M * N + (row + i + p) * N + column + j + q];
#else
                        sum += local_tile[(other * TILE_1 + i + p) * TILE_2 + j + q];
#endif
                    result[(row + i + p) * N + column + j + q] = sum;
                }
            MEET(CLK_LOCAL_MEM_FENCE);
#elif L_CB_RES_DEST_LEVEL < 2
            EACH_PART EACH_ELEMENT result[(row + i + p) * N + column + j + q] = TILE_RESULT(p, q);
#endif
        }
}

__kernel void add(__global const float *restrict summands, __global float *restrict c)
{
#if NUM_WG_R_1 > 1
    for (int x = get_global_id(0); x < M * N; x += get_global_size(0))
    {
        float sum = 0.0f;
        for (int first = 0; first < NUM_WG_R_1; first += TILE_R)
            for (int group = first; group < first + TILE_R; group++) sum += summands[group * OWN_SUMS * M * N + x];
        c[x] = sum;
    }
#endif
}
