/*
 * Points in a polygon: inside[i] is 1 if a line from point i to the right crosses the polygon's edges an odd
 * number of times. N, VERTICES (sizes) and the tuning parameters are macros. One source for OpenCL and CUDA.
 *
 *   block_size_x     work-items of a work-group.
 *   tile_size        points of a work-item: each vertex that it loads serves all of them.
 *   between_method   the test whether a point's y lies between those of an edge's ends (one end included):
 *                    0  both ends are compared with it, and the results with one another.
 *                    1  four comparisons, joined by and and or.
 *                    2  the signs of two differences.
 *                    3  the smaller and the larger end.
 *   use_method       what becomes of it:
 *                    0  a branch; behind it the crossing is computed and a flag flipped.
 *                    1  no branch: the crossing is always computed, and both tests are joined by exclusive or.
 *                    2  crossings are counted; the last bit counts.
 */
#include "../common/one_source.h"

/* The vertices are in constant memory. */
CONSTANT_VARIABLE(float2, vertices, VERTICES)

FUNCTION int between(const float y, const float from, const float to)
{
#if between_method == 0
    return (from >= y) != (to >= y);
#elif between_method == 1
    return (from < y && to >= y) || (from >= y && to < y);
#elif between_method == 2
    return (as_int(from - y) ^ as_int(to - y)) < 0;
#else
    return fmin(from, to) < y && fmax(from, to) >= y;
#endif
}

__kernel WORK_GROUP(block_size_x, 1, 1)
void pnpoly(CONSTANT_PARAMETER(float2, vertices) __global const float2 *restrict points, __global int *restrict inside)
{
    const int first = get_group_id(0) * (block_size_x * tile_size) + get_local_id(0);
    float2 point[tile_size];
    int state[tile_size];

    #pragma unroll
    for (int i = 0; i < tile_size; i++) {
        /* Work-items beyond the last point look at it too, but do not store. */
        point[i] = points[min(first + i * block_size_x, N - 1)];
        state[i] = 0;
    }

    float2 from = vertices[VERTICES - 1];
    for (int v = 0; v < VERTICES; v++) {
        const float2 to = vertices[v];
        const float slope = (to.x - from.x) / (to.y - from.y);

        #pragma unroll
        for (int i = 0; i < tile_size; i++) {
            const float x = point[i].x, y = point[i].y;
#if use_method == 0
            if (between(y, from.y, to.y) && x < slope * (y - from.y) + from.x)
                state[i] = !state[i];
#elif use_method == 1
            state[i] ^= between(y, from.y, to.y) & (x < slope * (y - from.y) + from.x);
#else
            if (between(y, from.y, to.y))
                state[i] += x < slope * (y - from.y) + from.x;
#endif
        }
        from = to;
    }

    #pragma unroll
    for (int i = 0; i < tile_size; i++)
        if (first + i * block_size_x < N)
            inside[first + i * block_size_x] = state[i] & 1;
}
