/*
 * Points in a polygon for a processor: blocks of points pass by all edges. The compiler makes vectors of the
 * points of a block where it can.
 *
 *   tile_size                      points of a block.
 *   between_method, use_method     as in pnpoly.cl.
 */
#include <math.h>
#include <string.h>

static inline int sign(float x)
{
    int bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline int between(const float y, const float from, const float to)
{
#if between_method == 0
    return (from >= y) != (to >= y);
#elif between_method == 1
    return (from < y && to >= y) || (from >= y && to < y);
#elif between_method == 2
    return (sign(from - y) ^ sign(to - y)) < 0;
#else
    return fminf(from, to) < y && fmaxf(from, to) >= y;
#endif
}

void pnpoly(const float *restrict vertices, const float *restrict points, int *restrict inside)
{
    for (int first = 0; first < N; first += tile_size) {
        float x[tile_size], y[tile_size];
        int state[tile_size];

        for (int i = 0; i < tile_size; i++) {
            /* Beyond the last point the block repeats it. */
            const int at = first + i < N ? first + i : N - 1;
            x[i] = points[2 * at], y[i] = points[2 * at + 1];
            state[i] = 0;
        }

        for (int to = 0, from = VERTICES - 1; to < VERTICES; from = to++) {
            const float from_x = vertices[2 * from], from_y = vertices[2 * from + 1];
            const float to_x = vertices[2 * to], to_y = vertices[2 * to + 1];
            const float slope = (to_x - from_x) / (to_y - from_y);

            for (int i = 0; i < tile_size; i++) {
#if use_method == 0
                if (between(y[i], from_y, to_y) && x[i] < slope * (y[i] - from_y) + from_x)
                    state[i] = !state[i];
#elif use_method == 1
                state[i] ^= between(y[i], from_y, to_y) & (x[i] < slope * (y[i] - from_y) + from_x);
#else
                if (between(y[i], from_y, to_y))
                    state[i] += x[i] < slope * (y[i] - from_y) + from_x;
#endif
            }
        }

        for (int i = 0; i < tile_size && first + i < N; i++)
            inside[first + i] = state[i] & 1;
    }
}
