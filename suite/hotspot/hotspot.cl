/*
 * Steps of heat conduction on a chip (Rodinia's hotspot): the temperature of a cell changes with its power,
 * with the temperatures of its four neighbours, and with the ambient one.
 *
 *     t' = t + step_div_cap * (power + (north + south - 2 t) * Ry_1 + (east + west - 2 t) * Rx_1
 *                                    + (AMBIENT - t) * Rz_1)
 *
 * Where a cell at the edge lacks a neighbour, its own temperature stands for it. One launch makes
 * temporal_tiling_factor steps. grid_width, grid_height (sizes) and the tuning parameters are macros. One
 * source for OpenCL and CUDA.
 *
 *   block_size_x, _y         the work-group.
 *   tile_size_x, _y          cells of a work-item, block_size_x and block_size_y apart.
 *   temporal_tiling_factor   steps of a launch. The work-group loads its tile with a halo of as many cells on
 *                            each side, and each step computes one ring less of it.
 *   loop_unroll_factor_t     unrolling of the loop over the steps.
 *   sh_power                 1: the power is copied to local memory; 0: each step reads global memory.
 *   blocks_per_sm            CUDA: blocks that shall be resident in a multiprocessor, which limits the
 *                            registers; 0 leaves it to the compiler.
 */
#include "../common/one_source.h"

#define AMBIENT 80.0f

#define PRAGMA(text) _Pragma(#text)
#define UNROLL_BY(factor) PRAGMA(unroll factor)

#ifndef blocks_per_sm
#define blocks_per_sm 0
#endif

enum {
    W = grid_width,
    H = grid_height,
    STEPS = temporal_tiling_factor,
    BLOCKS = blocks_per_sm, /* only CUDA can ask for them */

    TILE_X = block_size_x * tile_size_x, /* cells of a work-group's result */
    TILE_Y = block_size_y * tile_size_y,
    WIDE_X = TILE_X + 2 * STEPS, /* with the halo */
    WIDE_Y = TILE_Y + 2 * STEPS,
};

#if defined(__CUDACC__) && blocks_per_sm > 0
#define BOUNDS __launch_bounds__(block_size_x * block_size_y, BLOCKS)
#else
#define BOUNDS WORK_GROUP(block_size_x, block_size_y, 1)
#endif

__kernel BOUNDS
void hotspot(__global const float *restrict power, __global const float *restrict temp,
             __global float *restrict temp_dst, const float Rx_1, const float Ry_1, const float Rz_1,
             const float step_div_cap)
{
    __local float tiles[2][WIDE_Y][WIDE_X];
#if sh_power
    __local float powers[WIDE_Y][WIDE_X];
#endif
    const int own_x = get_local_id(0), own_y = get_local_id(1);
    /* The cell of the grid at the top left of the halo; it may lie outside. */
    const int first_x = (int)get_group_id(0) * TILE_X - STEPS, first_y = (int)get_group_id(1) * TILE_Y - STEPS;

    for (int y = own_y; y < WIDE_Y; y += block_size_y)
        for (int x = own_x; x < WIDE_X; x += block_size_x) {
            const int at_x = first_x + x, at_y = first_y + y;
            if (at_x >= 0 && at_x < W && at_y >= 0 && at_y < H) {
                tiles[0][y][x] = temp[at_y * W + at_x];
#if sh_power
                powers[y][x] = power[at_y * W + at_x];
#endif
            }
        }
    barrier(CLK_LOCAL_MEM_FENCE);

    UNROLL_BY(loop_unroll_factor_t)
    for (int step = 1; step <= STEPS; step++) {
        const int from = (step - 1) % 2;

        for (int y = step + own_y; y < WIDE_Y - step; y += block_size_y)
            for (int x = step + own_x; x < WIDE_X - step; x += block_size_x) {
                const int at_x = first_x + x, at_y = first_y + y;
                if (at_x < 0 || at_x >= W || at_y < 0 || at_y >= H)
                    continue;

                const float t = tiles[from][y][x];
                const float north = at_y == 0 ? t : tiles[from][y - 1][x];
                const float south = at_y == H - 1 ? t : tiles[from][y + 1][x];
                const float west = at_x == 0 ? t : tiles[from][y][x - 1];
                const float east = at_x == W - 1 ? t : tiles[from][y][x + 1];
#if sh_power
                const float heat = powers[y][x];
#else
                const float heat = power[at_y * W + at_x];
#endif
                const float result = t + step_div_cap * (heat + (north + south - 2.0f * t) * Ry_1
                                                         + (east + west - 2.0f * t) * Rx_1 + (AMBIENT - t) * Rz_1);
                if (step == STEPS)
                    temp_dst[at_y * W + at_x] = result;
                else
                    tiles[1 - from][y][x] = result;
            }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
