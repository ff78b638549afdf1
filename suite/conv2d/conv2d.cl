/*
 * 2-D convolution in single precision, the first case study of CLTune (Nugteren and Codreanu,
 * "CLTune: A Generic Auto-Tuner for OpenCL Kernels", 2015, section V), for images of any size:
 *
 *     output[y][x] = weight * sum over i, j of filter[i][j] * image[y + i][x + j]
 *
 * for Y x X outputs and a filter of FS x FS, FS = 2 * HFS + 1. The image comes with a border of HFS
 * pixels on each side, (Y + 2 HFS) x (X + 2 HFS) in all, so that image[y][x] is the top left of
 * what output[y][x] depends on. X, Y, HFS (sizes) and the tuning parameters are macros.
 *
 * Tiles at the edges reach beyond the image. There, zeros take the place of what is loaded, and
 * nothing is stored. The sizes are constants, so an image that its tiles divide costs no
 * comparison.
 *
 * The parameters are those of the paper's list in section V-A; its names are in parentheses.
 *
 *   TBX, TBY        (Xwg, Ywg) work-items along x and y that compute.
 *   WPTX, WPTY      (Xwpt, Ywpt) outputs per work-item: a block of WPTX x WPTY of them. A
 *                   work-group computes a tile of (TBX * WPTX) x (TBY * WPTY).
 *   LOCAL           (L$) caching of the tile and its halo of 2 * HFS rows and columns:
 *                   0  by the hardware only.
 *                   1  in local memory. The TBX x TBY work-items sweep over tile and halo, each
 *                      reading the pixel at its own place, then at a work-group's width from there.
 *                   2  in local memory, by more work-items: the work-group is enlarged by as many
 *                      as cover the halo, every one reads one block of WPTX x WPTY, and the extra
 *                      ones then rest.
 *   VW              (VW) floats in a vector: of the sums and their stores, and of the image's loads
 *                   where LOCAL = 2.
 *   PADDING         (PAD) floats added to a row of local memory, against bank conflicts.
 *   UNROLL_FACTOR   (UNR) unrolling of both loops over the filter: 1 not at all, FS completely.
 */
#include "one_source.h"

typedef VECTOR(float, VW) vec;

typedef union {
    vec vector;
    float each[VW];
} elements;

#define CEILDIV(a, b) (((a) + (b) - 1) / (b))

enum {
    FS = 2 * HFS + 1,
    IMAGE_X = X + 2 * HFS,
    IMAGE_Y = Y + 2 * HFS,

    TILE_X = TBX * WPTX, /* outputs of a work-group */
    TILE_Y = TBY * WPTY,
    CACHED_X = TILE_X + 2 * HFS, /* pixels that they depend on */
    CACHED_Y = TILE_Y + 2 * HFS,
    CACHED_ROW = CACHED_X + PADDING,

    OWN_X = WPTX / VW, /* vectors in a row of a work-item's block */

    /* Whether tiles end with the image. */
    WHOLE_X = X % TILE_X == 0,
    WHOLE_Y = Y % TILE_Y == 0,
};

/* The work-group as launched: with extra work-items where LOCAL = 2. */
#define TBX_XL (TBX + (LOCAL == 2 ? CEILDIV(2 * HFS, WPTX) : 0))
#define TBY_XL (TBY + (LOCAL == 2 ? CEILDIV(2 * HFS, WPTY) : 0))

CONSTANT_VARIABLE(float, filter, (2 * HFS + 1) * (2 * HFS + 1))

/* The pixel at row y and column x; what lies outside of the image is 0. */
FUNCTION float pixel(__global const float *restrict image, int y, int x)
{
    return (WHOLE_Y || y < IMAGE_Y) && (WHOLE_X || x < IMAGE_X) ? image[y * IMAGE_X + x] : 0.0f;
}

/*
 * The vector of pixels that begins at row y and column x; `aligned` if x is a multiple of its
 * length.
 */
FUNCTION vec pixels(__global const float *restrict image, int y, int x, int aligned)
{
    elements loaded;
    if ((WHOLE_Y || y < IMAGE_Y) && (WHOLE_X || x + VW <= IMAGE_X))
        return aligned && IMAGE_X % VW == 0 ? *(__global const vec *)&image[y * IMAGE_X + x]
                                                : LOAD(float, VW, 0, &image[y * IMAGE_X + x]);
    #pragma unroll
    for (int e = 0; e < VW; e++)
        loaded.each[e] = pixel(image, y, x + e);
    return loaded.vector;
}

/* Stores the vector of outputs that begins at row y and column x, as far as the image reaches. */
FUNCTION void store(__global float *restrict output, int y, int x, vec sums)
{
    __global float *to = &output[y * X + x];
    elements sum;
    if (!WHOLE_Y && y >= Y)
        return;
    if (WHOLE_X || x + VW <= X) {
        if (X % VW == 0)
            *(__global vec *)to = sums;
        else
            STORE(float, VW, sums, 0, to);
        return;
    }
    sum.vector = sums;
    #pragma unroll
    for (int e = 0; e < VW; e++)
        if (x + e < X)
            to[e] = sum.each[e];
}

/* LOCAL = 1: the tile whose top left is at row first_y and column first_x, pixel by pixel. */
FUNCTION void cache_pixels(LOCAL_POINTER float *cache, __global const float *restrict image, int first_y, int first_x)
{
    for (int y = get_local_id(1); y < CACHED_Y; y += TBY)
        for (int x = get_local_id(0); x < CACHED_X; x += TBX)
            cache[y * CACHED_ROW + x] = pixel(image, first_y + y, first_x + x);
}

/* LOCAL = 2: one block per work-item, in vectors; the last blocks may reach beyond the halo. */
FUNCTION void cache_block(LOCAL_POINTER float *cache, __global const float *restrict image, int first_y, int first_x)
{
    #pragma unroll
    for (int own_y = 0; own_y < WPTY; own_y++)
        #pragma unroll
        for (int own_x = 0; own_x < WPTX; own_x += VW) {
            const int x = get_local_id(0) * WPTX + own_x;
            const int y = get_local_id(1) * WPTY + own_y;
            if (x < CACHED_X && y < CACHED_Y)
                STORE(float, VW, pixels(image, first_y + y, first_x + x, 1), 0, &cache[y * CACHED_ROW + x]);
        }
}

__kernel WORK_GROUP(TBX_XL, TBY_XL, 1)
void conv2d(CONSTANT_PARAMETER(float, filter) __global const float *restrict image, __global float *restrict output,
            const float weight)
{
    __local float cache[LOCAL ? CACHED_Y * CACHED_ROW : 1];

    const int tile_x = get_group_id(0) * TILE_X, tile_y = get_group_id(1) * TILE_Y;
    const int own_x = get_local_id(0) * WPTX, own_y = get_local_id(1) * WPTY;
    vec sum[WPTY][OWN_X];

    if (LOCAL == 1)
        cache_pixels(cache, image, tile_y, tile_x);
    if (LOCAL == 2)
        cache_block(cache, image, tile_y, tile_x);
    if (LOCAL)
        barrier(CLK_LOCAL_MEM_FENCE);

    /* The extra work-items rest. */
    if (LOCAL == 2 && (get_local_id(0) >= TBX || get_local_id(1) >= TBY))
        return;

    #pragma unroll
    for (int y = 0; y < WPTY; y++)
        #pragma unroll
        for (int x = 0; x < OWN_X; x++)
            sum[y][x] = SPLAT(float, VW, 0.0f);

    #pragma unroll UNROLL_FACTOR
    for (int i = 0; i < FS; i++)
        #pragma unroll UNROLL_FACTOR
        for (int j = 0; j < FS; j++) {
            const float coefficient = filter[i * FS + j];

            #pragma unroll
            for (int y = 0; y < WPTY; y++)
                #pragma unroll
                for (int x = 0; x < OWN_X; x++) {
                    const int at_y = own_y + y + i, at_x = own_x + x * VW + j;
                    sum[y][x] += coefficient * (LOCAL ? LOAD(float, VW, 0, &cache[at_y * CACHED_ROW + at_x])
                                                      : pixels(image, tile_y + at_y, tile_x + at_x, 0));
                }
        }

    #pragma unroll
    for (int y = 0; y < WPTY; y++)
        #pragma unroll
        for (int x = 0; x < OWN_X; x++)
            store(output, tile_y + own_y + y, tile_x + own_x + x * VW, weight * sum[y][x]);
}
