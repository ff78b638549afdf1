/*
 * result = u^2 - 1 - 4 u + the four neighbours of u: a 5-point stencil with a quadratic source term, on N x N cells
 * with a border of one. A work-group of BLOCK_X x BLOCK_Y work-items computes a tile of BLOCK_X * CELLS_X by
 * BLOCK_Y * CELLS_Y cells; a work-item's cells lie a block apart.
 */
#include "one_source.h"

#define WIDTH (N + 2)
#define TILE_X (BLOCK_X * CELLS_X)
#define TILE_Y (BLOCK_Y * CELLS_Y)

#if LOCAL
#define ROW (TILE_X + 2 + PAD)
#define U(y, x) tile[(y) * ROW + (x)]
#else
#define U(y, x) u[(row + (y)) * WIDTH + column + (x)]
#endif

#if UNROLL
#define LOOP _Pragma("unroll")
#else
#define LOOP _Pragma("unroll 1")
#endif

__kernel WORK_GROUP(BLOCK_X, BLOCK_Y, 1)
void finite_differences(__global const float *restrict u, __global float *restrict result)
{
    const int x = get_local_id(0), y = get_local_id(1);
    const int column = get_group_id(0) * TILE_X, row = get_group_id(1) * TILE_Y;
#if LOCAL
    __local float tile[(TILE_Y + 2) * ROW];
    for (int i = y; i < TILE_Y + 2; i += BLOCK_Y)
        for (int j = x; j < TILE_X + 2; j += BLOCK_X) tile[i * ROW + j] = u[(row + i) * WIDTH + column + j];
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    LOOP for (int cell_y = 0; cell_y < CELLS_Y; cell_y++)
        LOOP for (int cell_x = 0; cell_x < CELLS_X; cell_x++)
        {
            const int i = cell_y * BLOCK_Y + y + 1, j = cell_x * BLOCK_X + x + 1;
            const float here = U(i, j);
            result[(row + i - 1) * N + column + j - 1] =
                here * here - 1.0f - 4.0f * here + U(i + 1, j) + U(i - 1, j) + U(i, j + 1) + U(i, j - 1);
        }
}
