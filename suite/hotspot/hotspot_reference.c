#include <stdlib.h>
#include <string.h>

/* The steps in double precision, each over the whole grid. */
void hotspot_reference(const float *power, const float *temp, float *temp_dst, float Rx_1, float Ry_1, float Rz_1,
                       float step_div_cap, int steps)
{
    const int W = grid_width, H = grid_height;
    double *now = malloc(sizeof(double) * W * H), *next = malloc(sizeof(double) * W * H);
    if (!now || !next)
        abort();
    for (int i = 0; i < W * H; i++)
        now[i] = temp[i];

    for (int step = 0; step < steps; step++) {
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                const double t = now[y * W + x];
                const double north = y > 0 ? now[(y - 1) * W + x] : t, south = y < H - 1 ? now[(y + 1) * W + x] : t;
                const double west = x > 0 ? now[y * W + x - 1] : t, east = x < W - 1 ? now[y * W + x + 1] : t;
                next[y * W + x] = t + step_div_cap * (power[y * W + x] + (north + south - 2 * t) * Ry_1
                                                      + (east + west - 2 * t) * Rx_1 + (80.0 - t) * Rz_1);
            }
        memcpy(now, next, sizeof(double) * W * H);
    }

    for (int i = 0; i < W * H; i++)
        temp_dst[i] = now[i];
    free(now);
    free(next);
}
