/*
 * The contraction abcdef = sum over g of gebc * dfga, of coupled cluster with triples, CCSD(T). L_1 to L_6 are a to
 * f, R_1 is g. `tiling.h` says what the parameters mean.
 *
 * `contract` computes the result, or with NUM_WG_R_1 > 1 one summand of it per work-group along R_1. `add` adds them.
 */
#include "tiling.h"

#define FOLDED_WG(order)                                                                                              \
    (FOLDED(L_1, order, NUM_WG_L_1) * FOLDED(L_2, order, NUM_WG_L_2) * FOLDED(L_3, order, NUM_WG_L_3)                 \
     * FOLDED(L_4, order, NUM_WG_L_4) * FOLDED(L_5, order, NUM_WG_L_5) * FOLDED(L_6, order, NUM_WG_L_6)               \
     * FOLDED(R_1, order, NUM_WG_R_1))
#define FOLDED_WI(order)                                                                                              \
    (FOLDED(L_1, order, NUM_WI_L_1) * FOLDED(L_2, order, NUM_WI_L_2) * FOLDED(L_3, order, NUM_WI_L_3)                 \
     * FOLDED(L_4, order, NUM_WI_L_4) * FOLDED(L_5, order, NUM_WI_L_5) * FOLDED(L_6, order, NUM_WI_L_6)               \
     * FOLDED(R_1, order, NUM_WI_R_1))
#define CELLS (NUM_WI_L_1 * NUM_WI_L_2 * NUM_WI_L_3 * NUM_WI_L_4 * NUM_WI_L_5 * NUM_WI_L_6)
#define ITEMS (CELLS * NUM_WI_R_1)

/* Extents of the local and of the private block, and their elements. */
#define TILE_1 L_CB_SIZE_L_1
#define TILE_2 L_CB_SIZE_L_2
#define TILE_3 L_CB_SIZE_L_3
#define TILE_4 L_CB_SIZE_L_4
#define TILE_5 L_CB_SIZE_L_5
#define TILE_6 L_CB_SIZE_L_6
#define TILE_R L_CB_SIZE_R_1
#define TILE (TILE_1 * TILE_2 * TILE_3 * TILE_4 * TILE_5 * TILE_6)
#define PART_1 P_CB_SIZE_L_1
#define PART_2 P_CB_SIZE_L_2
#define PART_3 P_CB_SIZE_L_3
#define PART_4 P_CB_SIZE_L_4
#define PART_5 P_CB_SIZE_L_5
#define PART_6 P_CB_SIZE_L_6
#define PART_R P_CB_SIZE_R_1
#define PART (PART_1 * PART_2 * PART_3 * PART_4 * PART_5 * PART_6)
#define RESULTS (SIZE_A * SIZE_B * SIZE_C * SIZE_D * SIZE_E * SIZE_F)

/* Work-items along R_1 accumulate apart: summands that a group keeps in global memory. */
#define OWN_SUMS (L_CB_RES_DEST_LEVEL == 2 ? NUM_WI_R_1 : 1)
#define SUMMANDS (NUM_WG_R_1 * OWN_SUMS)

/* Floats of private arrays, and of arrays in local memory. Problem files repeat these sums. */
#define PART_APART (P_CB_RES_DEST_LEVEL < L_CB_RES_DEST_LEVEL)
#define PRIVATE_TILE (L_CB_RES_DEST_LEVEL == 0 ? TILE / CELLS : 0)
#define PRIVATE_PART (PART_APART && P_CB_RES_DEST_LEVEL == 0 ? PART : 0)
#define PRIVATE_X (CACHE_P_CB * PART_R * PART_5 * PART_2 * PART_3)
#define PRIVATE_Y (CACHE_P_CB * PART_4 * PART_6 * PART_R * PART_1)
#define PRIVATE (PRIVATE_TILE + PRIVATE_PART + PRIVATE_X + PRIVATE_Y)
#define LOCAL_X (CACHE_L_CB * TILE_R * TILE_5 * TILE_2 * TILE_3)
#define LOCAL_Y (CACHE_L_CB * TILE_4 * TILE_6 * TILE_R * TILE_1)
#define LOCAL_TILE (L_CB_RES_DEST_LEVEL == 1 ? NUM_WI_R_1 * TILE : 0)

#if SPILLED
#define ARRAY(name, offset, size) IN_GLOBAL(float, name, offset)
#else
#define ARRAY(name, offset, size) IN_PRIVATE(float, name, size)
#endif

#if PART * PART_R <= 64
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

/* Places in row-major arrays of four and of six dimensions; n is the extent of each but the first. */
#define AT_4(i1, i2, i3, i4, n2, n3, n4) ((((i1) * (n2) + (i2)) * (n3) + (i3)) * (n4) + (i4))
#define AT_6(i1, i2, i3, i4, i5, i6, n2, n3, n4, n5, n6)                                                              \
    (AT_4(i1, i2, i3, i4, n2, n3, n4) * ((n5) * (n6)) + (i5) * (n6) + (i6))

/* Elements of the inputs: of the whole, from the origin of the local block, and from that of the private block. */
#define WHOLE_X(r, e, b, c) x[AT_4(inner + (r), at_5 + (e), at_2 + (b), at_3 + (c), SIZE_E, SIZE_B, SIZE_C)]
#define WHOLE_Y(d, f, r, a) y[AT_4(at_4 + (d), at_6 + (f), inner + (r), at_1 + (a), SIZE_F, SIZE_G, SIZE_A)]
#if CACHE_L_CB
#define IN_TILE_X(r, e, b, c) local_x[AT_4(r, e, b, c, TILE_5, TILE_2, TILE_3)]
#define IN_TILE_Y(d, f, r, a) local_y[AT_4(d, f, r, a, TILE_6, TILE_R, TILE_1)]
#else
#define IN_TILE_X(r, e, b, c) WHOLE_X(r, e, b, c)
#define IN_TILE_Y(d, f, r, a) WHOLE_Y(d, f, r, a)
#endif
#if CACHE_P_CB
#define IN_PART_X(r, e, b, c) private_x[AT_4(r, e, b, c, PART_5, PART_2, PART_3)]
#define IN_PART_Y(d, f, r, a) private_y[AT_4(d, f, r, a, PART_6, PART_R, PART_1)]
#else
#define IN_PART_X(r, e, b, c) IN_TILE_X(k + (r), i_5 + (e), i_2 + (b), i_3 + (c))
#define IN_PART_Y(d, f, r, a) IN_TILE_Y(i_4 + (d), i_6 + (f), k + (r), i_1 + (a))
#endif

/* Where element p of the private block at i lies in the result, in the local and in the private block. */
#define IN_RESULT                                                                                                     \
    AT_6(at_1 + i_1 + p_1, at_2 + i_2 + p_2, at_3 + i_3 + p_3, at_4 + i_4 + p_4, at_5 + i_5 + p_5, at_6 + i_6 + p_6,  \
         SIZE_B, SIZE_C, SIZE_D, SIZE_E, SIZE_F)
#define IN_TILE                                                                                                       \
    AT_6(i_1 + p_1, i_2 + p_2, i_3 + p_3, i_4 + p_4, i_5 + p_5, i_6 + p_6, TILE_2, TILE_3, TILE_4, TILE_5, TILE_6)
#define IN_PART AT_6(p_1, p_2, p_3, p_4, p_5, p_6, PART_2, PART_3, PART_4, PART_5, PART_6)

#if L_CB_RES_DEST_LEVEL == 2
#define TILE_RESULT sums[IN_RESULT]
#elif L_CB_RES_DEST_LEVEL == 1
#define TILE_RESULT local_tile[ITEM(R_1) * TILE + IN_TILE]
#else
#define TILE_RESULT                                                                                                   \
    private_tile[AT_6(step_1, step_2, step_3, step_4, step_5, step_6, STEPS(L_2), STEPS(L_3), STEPS(L_4), STEPS(L_5), \
                      STEPS(L_6)) * PART + IN_PART]
#endif
#if !PART_APART
#define PART_RESULT TILE_RESULT
#elif P_CB_RES_DEST_LEVEL == 1
#define PART_RESULT local_part[IN_PART]
#else
#define PART_RESULT private_part[IN_PART]
#endif

/* The local blocks of this work-group, the private blocks of this work-item in one, the elements of one of these. */
#define TILES(n, size) for (int at_##n = GROUP(L_##n) * TILE_##n; at_##n < size; at_##n += NUM_WG_L_##n * TILE_##n)
#define EACH_TILE TILES(1, SIZE_A) TILES(2, SIZE_B) TILES(3, SIZE_C) TILES(4, SIZE_D) TILES(5, SIZE_E) TILES(6, SIZE_F)
#define PARTS(n)                                                                                                      \
    for (int step_##n = 0, i_##n = BEGIN(L_##n, 0); step_##n < STEPS(L_##n); step_##n++, i_##n = BEGIN(L_##n, step_##n))
#define EACH_PART PARTS(1) PARTS(2) PARTS(3) PARTS(4) PARTS(5) PARTS(6)
#define ELEMENTS(n) for (int p_##n = 0; p_##n < PART_##n; p_##n++)
#define EACH_ELEMENT                                                                                                  \
    UNROLL ELEMENTS(1) UNROLL ELEMENTS(2) UNROLL ELEMENTS(3) UNROLL ELEMENTS(4) UNROLL ELEMENTS(5) UNROLL ELEMENTS(6)

__kernel void contract(__global const float *restrict x, __global const float *restrict y, __global float *z,
                       __global float *summands, __global float *spill LOCAL_PARAMETER)
{
    LOCAL_BEGIN
    PRIVATE_BEGIN
    ARRAY(private_tile, 0, PRIVATE_TILE)
    ARRAY(private_part, PRIVATE_TILE, PRIVATE_PART)
    ARRAY(private_x, PRIVATE_TILE + PRIVATE_PART, PRIVATE_X)
    ARRAY(private_y, PRIVATE_TILE + PRIVATE_PART + PRIVATE_X, PRIVATE_Y)
    LOCAL_POINTER float *const local_x = local_block;
    LOCAL_POINTER float *const local_y = local_x + LOCAL_X;
    LOCAL_POINTER float *const local_tile = local_y + LOCAL_Y;
    LOCAL_POINTER float *const local_part = local_tile + LOCAL_TILE + FLAT_ITEM * PART;
    LOCAL_POINTER float *const exchange = local_tile;

    /* Where this work-item accumulates, if in global memory, and where its group's result goes. */
    __global float *const result = NUM_WG_R_1 > 1 ? summands + GROUP(R_1) * OWN_SUMS * RESULTS : z;
    __global float *const sums = SUMMANDS > 1 ? summands + (GROUP(R_1) * OWN_SUMS + ITEM(R_1)) * RESULTS : z;

    EACH_TILE
    {
        EACH_PART EACH_ELEMENT TILE_RESULT = 0.0f;
        for (int inner = GROUP(R_1) * TILE_R; inner < SIZE_G; inner += NUM_WG_R_1 * TILE_R)
        {
#if CACHE_L_CB
            for (int n = FLAT_ITEM; n < LOCAL_X; n += ITEMS)
                local_x[n] = WHOLE_X(n / (TILE_3 * TILE_2 * TILE_5), n / (TILE_3 * TILE_2) % TILE_5,
                                     n / TILE_3 % TILE_2, n % TILE_3);
            for (int n = FLAT_ITEM; n < LOCAL_Y; n += ITEMS)
                local_y[n] = WHOLE_Y(n / (TILE_1 * TILE_R * TILE_6), n / (TILE_1 * TILE_R) % TILE_6,
                                     n / TILE_1 % TILE_R, n % TILE_1);
            MEET(CLK_LOCAL_MEM_FENCE);
#endif
            EACH_PART
            {
#if PART_APART
                EACH_ELEMENT PART_RESULT = 0.0f;
#endif
                for (int step_r = 0, k = BEGIN(R_1, 0); step_r < STEPS(R_1); step_r++, k = BEGIN(R_1, step_r))
                {
#if CACHE_P_CB
                    UNROLL for (int r = 0; r < PART_R; r++)
                    {
                        UNROLL ELEMENTS(5) UNROLL ELEMENTS(2) UNROLL ELEMENTS(3)
                        IN_PART_X(r, p_5, p_2, p_3) = IN_TILE_X(k + r, i_5 + p_5, i_2 + p_2, i_3 + p_3);
                        UNROLL ELEMENTS(4) UNROLL ELEMENTS(6) UNROLL ELEMENTS(1)
                        IN_PART_Y(p_4, p_6, r, p_1) = IN_TILE_Y(i_4 + p_4, i_6 + p_6, k + r, i_1 + p_1);
                    }
#endif
                    UNROLL for (int r = 0; r < PART_R; r++) EACH_ELEMENT
                        PART_RESULT = mad(IN_PART_X(r, p_5, p_2, p_3), IN_PART_Y(p_4, p_6, r, p_1), PART_RESULT);
                }
#if PART_APART
                EACH_ELEMENT TILE_RESULT += PART_RESULT;
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
        const int cell = AT_6(ITEM(L_1), ITEM(L_2), ITEM(L_3), ITEM(L_4), ITEM(L_5), ITEM(L_6), NUM_WI_L_2, NUM_WI_L_3,
                              NUM_WI_L_4, NUM_WI_L_5, NUM_WI_L_6);
        EACH_PART ELEMENTS(1) ELEMENTS(2) ELEMENTS(3) ELEMENTS(4) ELEMENTS(5) ELEMENTS(6)
        {
            exchange[cell * NUM_WI_R_1 + ITEM(R_1)] = TILE_RESULT;
            MEET(CLK_LOCAL_MEM_FENCE);
            if (ITEM(R_1) == 0)
            {
                float sum = 0.0f;
                for (int other = 0; other < NUM_WI_R_1; other++) sum += exchange[cell * NUM_WI_R_1 + other];
                result[IN_RESULT] = sum;
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
                    sum += sums[other * RESULTS + IN_RESULT];
#else
                    sum += local_tile[other * TILE + IN_TILE];
#endif
                result[IN_RESULT] = sum;
            }
        MEET(CLK_LOCAL_MEM_FENCE);
#elif L_CB_RES_DEST_LEVEL < 2
        EACH_PART EACH_ELEMENT result[IN_RESULT] = TILE_RESULT;
#endif
    }
}

__kernel void add(__global const float *restrict summands, __global float *restrict z)
{
#if NUM_WG_R_1 > 1
    for (int at = get_global_id(0); at < RESULTS; at += get_global_size(0))
    {
        float sum = 0.0f;
        for (int first = 0; first < NUM_WG_R_1; first += TILE_R)
            for (int group = first; group < first + TILE_R; group++) sum += summands[group * OWN_SUMS * RESULTS + at];
        z[at] = sum;
    }
#endif
}
