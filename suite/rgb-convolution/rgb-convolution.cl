/*
 * Three filters of 7 x 7 pixels on three images, all with three colours:
 *
 *     result[image][filter][x][y] = sum over u, v, c of image[x + 6 - u][y + 6 - v][c] * filter[u][v][c]
 *
 * x are the rows and y the columns, as in the paper. A work-group of BLOCK_Y x BLOCK_X work-items computes a tile of
 * BLOCK_Y * PIXELS_Y columns by BLOCK_X * PIXELS_X rows of one image; a work-item's pixels lie a block apart. It
 * applies FILTERS filters to them; with one, the filters are spread over the groups.
 */
#include "one_source.h"

#define WIDTH (N + 6)
#define TILE_X (BLOCK_X * PIXELS_X)
#define TILE_Y (BLOCK_Y * PIXELS_Y)
#define FILTER (7 * 7 * 3)

#if LOCAL_IMAGE
#define ROW (3 * (TILE_Y + 6) + PAD)
#define PIXEL(i, j, c) tile[(i) * ROW + 3 * (j) + (c)]
#else
#define PIXEL(i, j, c) images[((image * WIDTH + row + (i)) * WIDTH + column + (j)) * 3 + (c)]
#endif
#if LOCAL_FILTER
#define COEFFICIENT(f, u, v, c) coefficients[(f) * FILTER + ((u) * 7 + (v)) * 3 + (c)]
#else
#define COEFFICIENT(f, u, v, c) filters[(first + (f)) * FILTER + ((u) * 7 + (v)) * 3 + (c)]
#endif

#if UNROLL
#define LOOP _Pragma("unroll")
#else
#define LOOP _Pragma("unroll 1")
#endif
#define EACH_PIXEL                                                                                                    \
    _Pragma("unroll") for (int x = 0; x < PIXELS_X; x++)                                                              \
        _Pragma("unroll") for (int y = 0; y < PIXELS_Y; y++)                                                          \
            _Pragma("unroll") for (int f = 0; f < FILTERS; f++)

__kernel WORK_GROUP(BLOCK_Y, BLOCK_X, 1)
void rgb_convolution(__global const float *restrict images, CONSTANT_POINTER float *restrict filters,
                     __global float *restrict result)
{
    const int item_y = get_local_id(0), item_x = get_local_id(1), item = item_x * BLOCK_Y + item_y;
    const int column = get_group_id(0) * TILE_Y, row = get_group_id(1) * TILE_X;
    const int image = get_group_id(2) / (3 / FILTERS), first = get_group_id(2) % (3 / FILTERS);
#if LOCAL_IMAGE
    __local float tile[(TILE_X + 6) * ROW];
    for (int i = item_x; i < TILE_X + 6; i += BLOCK_X)
        for (int j = item_y; j < 3 * (TILE_Y + 6); j += BLOCK_Y)
            tile[i * ROW + j] = images[((image * WIDTH + row + i) * WIDTH + column) * 3 + j];
#endif
#if LOCAL_FILTER
    __local float coefficients[FILTERS * FILTER];
    for (int i = item; i < FILTERS * FILTER; i += BLOCK_X * BLOCK_Y) coefficients[i] = filters[first * FILTER + i];
#endif
#if LOCAL_IMAGE || LOCAL_FILTER
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    float sum[PIXELS_X][PIXELS_Y][FILTERS];
    EACH_PIXEL sum[x][y][f] = 0.0f;
    for (int u = 0; u < 7; u++)
        LOOP for (int v = 0; v < 7; v++)
            LOOP for (int c = 0; c < 3; c++)
                EACH_PIXEL sum[x][y][f] = mad(PIXEL(x * BLOCK_X + item_x + 6 - u, y * BLOCK_Y + item_y + 6 - v, c),
                                              COEFFICIENT(f, u, v, c), sum[x][y][f]);
    EACH_PIXEL result[((image * 3 + first + f) * N + row + x * BLOCK_X + item_x) * N + column + y * BLOCK_Y + item_y] =
        sum[x][y][f];
}
