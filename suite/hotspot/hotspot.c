/*
 * The steps of hotspot.cl for a processor: tile by tile, several steps while a tile is in the cache.
 *
 *   tile_size_x, _y          cells of a tile.
 *   temporal_tiling_factor   steps of a launch, and the width of the halo that is loaded with a tile.
 *   sh_power                 1: the power is copied beside the tile; 0: each step reads it where it is.
 */
#include <string.h>

enum {
    W = grid_width,
    H = grid_height,
    STEPS = temporal_tiling_factor,
    WIDE_X = tile_size_x + 2 * STEPS, /* a tile with its halo */
    WIDE_Y = tile_size_y + 2 * STEPS,
};

static float tiles[2][WIDE_Y][WIDE_X];
#if sh_power
static float powers[WIDE_Y][WIDE_X];
#endif

static inline int least(int a, int b) { return a < b ? a : b; }
static inline int most(int a, int b) { return a > b ? a : b; }

/* The part of a tile with its halo that lies in the grid, from low to high. */
typedef struct {
    int first_x, first_y; /* place of the tile's first cell in the grid, possibly outside */
    int low_x, low_y, high_x, high_y;
} part;

/* Cells beyond the edge of the grid get the temperature of the edge. */
static void mirror(float (*from)[WIDE_X], const part p)
{
    for (int y = p.low_y; y < p.high_y; y++) {
        if (p.low_x > 0)
            from[y][p.low_x - 1] = from[y][p.low_x];
        if (p.high_x < WIDE_X)
            from[y][p.high_x] = from[y][p.high_x - 1];
    }
    if (p.low_y > 0)
        memcpy(from[p.low_y - 1], from[p.low_y], sizeof *from);
    if (p.high_y < WIDE_Y)
        memcpy(from[p.high_y], from[p.high_y - 1], sizeof *from);
}

void hotspot(const float *restrict power, const float *restrict temp, float *restrict temp_dst, const float Rx_1,
             const float Ry_1, const float Rz_1, const float step_div_cap)
{
    for (int tile_y = 0; tile_y < H; tile_y += tile_size_y)
        for (int tile_x = 0; tile_x < W; tile_x += tile_size_x) {
            const int first_x = tile_x - STEPS, first_y = tile_y - STEPS;
            const part p = {
                .first_x = first_x, .first_y = first_y,
                .low_x = most(0, -first_x), .high_x = least(WIDE_X, W - first_x),
                .low_y = most(0, -first_y), .high_y = least(WIDE_Y, H - first_y),
            };

            for (int y = p.low_y; y < p.high_y; y++) {
                const long at = (long)(first_y + y) * W + first_x + p.low_x;
                memcpy(&tiles[0][y][p.low_x], &temp[at], sizeof(float) * (p.high_x - p.low_x));
#if sh_power
                memcpy(&powers[y][p.low_x], &power[at], sizeof(float) * (p.high_x - p.low_x));
#endif
            }

            for (int step = 1; step <= STEPS; step++) {
                float (*from)[WIDE_X] = tiles[(step - 1) % 2], (*to)[WIDE_X] = tiles[step % 2];
                const int end_x = least(WIDE_X - step, p.high_x), end_y = least(WIDE_Y - step, p.high_y);

                mirror(from, p);
                for (int y = most(step, p.low_y); y < end_y; y++) {
                    const long row = (long)(first_y + y) * W + first_x;
                    float *result = step == STEPS ? &temp_dst[row] : to[y];

                    for (int x = most(step, p.low_x); x < end_x; x++) {
                        const float t = from[y][x];
#if sh_power
                        const float heat = powers[y][x];
#else
                        const float heat = power[row + x];
#endif
                        result[x] = t + step_div_cap * (heat + (from[y - 1][x] + from[y + 1][x] - 2 * t) * Ry_1
                                                        + (from[y][x - 1] + from[y][x + 1] - 2 * t) * Rx_1
                                                        + (80.0f - t) * Rz_1);
                    }
                }
            }
        }
}
