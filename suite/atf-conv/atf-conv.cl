/*
 * Convolves an image with a filter of 5 x 5: OUT_1 x OUT_2 results from an image that is 4 larger each way. L_1 are the
 * rows, L_2 the columns; nothing is reduced over blocks. `tiling.h` says what the parameters mean.
 */
#include "tiling.h"

#define FOLDED_WG(order) 1
#define FOLDED_WI(order) 1
#define ITEMS (NUM_WI_L_1 * NUM_WI_L_2)

/* Extents of the local and of the private block, and of their parts of the image. */
#define TILE_1 L_CB_SIZE_L_1
#define TILE_2 L_CB_SIZE_L_2
#define PART_1 P_CB_SIZE_L_1
#define PART_2 P_CB_SIZE_L_2
#define IMAGE_WIDTH (OUT_2 + 4)

/* Floats of private arrays, and of arrays in local memory. Problem files repeat these sums. */
#define PART_APART (P_CB_RES_DEST_LEVEL < L_CB_RES_DEST_LEVEL)
#define PRIVATE_TILE (L_CB_RES_DEST_LEVEL == 0 ? TILE_1 / NUM_WI_L_1 * (TILE_2 / NUM_WI_L_2) : 0)
#define PRIVATE_PART (PART_APART && P_CB_RES_DEST_LEVEL == 0 ? PART_1 * PART_2 : 0)
#define PRIVATE_IMAGE (CACHE_P_CB * (PART_1 + 4) * (PART_2 + 4))
#define PRIVATE (PRIVATE_TILE + PRIVATE_PART + PRIVATE_IMAGE)
#define LOCAL_IMAGE (CACHE_L_CB * (TILE_1 + 4) * (TILE_2 + 4))
#define LOCAL_TILE (L_CB_RES_DEST_LEVEL == 1 ? TILE_1 * TILE_2 : 0)

#if SPILLED
#define ARRAY(name, offset, size) IN_GLOBAL(float, name, offset)
#else
#define ARRAY(name, offset, size) IN_PRIVATE(float, name, size)
#endif

#if PART_1 * PART_2 <= 16
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

/* Pixels from the origin of the local block, and from that of the private block. */
#if CACHE_L_CB
#define IN_TILE(i, j) local_image[(i) * (TILE_2 + 4) + (j)]
#else
#define IN_TILE(i, j) image[(row + (i)) * IMAGE_WIDTH + column + (j)]
#endif
#if CACHE_P_CB
#define IN_PART(p, q) private_image[(p) * (PART_2 + 4) + (q)]
#else
#define IN_PART(p, q) IN_TILE(i + (p), j + (q))
#endif

/* The result of the local block at element (p, q) of the private block at (i, j). */
#if L_CB_RES_DEST_LEVEL == 2
#define TILE_RESULT(p, q) output[(row + i + (p)) * OUT_2 + column + j + (q)]
#elif L_CB_RES_DEST_LEVEL == 1
#define TILE_RESULT(p, q) local_tile[(i + (p)) * TILE_2 + j + (q)]
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

__kernel void convolve(__global const float *restrict image, CONSTANT_POINTER float *restrict filter,
                       __global float *output, __global float *spill LOCAL_PARAMETER)
{
    LOCAL_BEGIN
    PRIVATE_BEGIN
    ARRAY(private_tile, 0, PRIVATE_TILE)
    ARRAY(private_part, PRIVATE_TILE, PRIVATE_PART)
    ARRAY(private_image, PRIVATE_TILE + PRIVATE_PART, PRIVATE_IMAGE)
    LOCAL_POINTER float *const local_image = local_block;
    LOCAL_POINTER float *const local_tile = local_image + LOCAL_IMAGE;
    LOCAL_POINTER float *const local_part = local_tile + LOCAL_TILE + FLAT_ITEM * PART_1 * PART_2;

    for (int row = GROUP(L_1) * TILE_1; row < OUT_1; row += NUM_WG_L_1 * TILE_1)
        for (int column = GROUP(L_2) * TILE_2; column < OUT_2; column += NUM_WG_L_2 * TILE_2)
        {
#if CACHE_L_CB
            for (int x = FLAT_ITEM; x < LOCAL_IMAGE; x += ITEMS)
                local_image[x] = image[(row + x / (TILE_2 + 4)) * IMAGE_WIDTH + column + x % (TILE_2 + 4)];
            MEET(CLK_LOCAL_MEM_FENCE);
#endif
            EACH_PART
            {
#if CACHE_P_CB
                UNROLL for (int p = 0; p < PART_1 + 4; p++)
                    UNROLL for (int q = 0; q < PART_2 + 4; q++) IN_PART(p, q) = IN_TILE(i + p, j + q);
#endif
                EACH_ELEMENT PART_RESULT(p, q) = 0.0f;
                UNROLL for (int u = 0; u < 5; u++)
                    UNROLL for (int v = 0; v < 5; v++)
                        EACH_ELEMENT
                        PART_RESULT(p, q) = mad(filter[u * 5 + v], IN_PART(p + u, q + v), PART_RESULT(p, q));
#if PART_APART
                EACH_ELEMENT TILE_RESULT(p, q) = PART_RESULT(p, q);
#endif
            }
#if L_CB_RES_DEST_LEVEL < 2
            EACH_PART EACH_ELEMENT output[(row + i + p) * OUT_2 + column + j + q] = TILE_RESULT(p, q);
#endif
#if CACHE_L_CB
            MEET(CLK_LOCAL_MEM_FENCE);
#endif
        }
}
