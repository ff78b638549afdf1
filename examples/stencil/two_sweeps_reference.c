/*
 * Two sweeps of the 7-point heat equation, from u to v and from v to w, in double precision. The halo, cells 0 and N + 1 in
 * each dimension, keeps its values.
 */
#include <stddef.h>

#define CELLS ((size_t)(NX + 2) * (NY + 2) * (NZ + 2))

static size_t at(size_t x, size_t y, size_t z)
{
    return (z * (NY + 2) + y) * (NX + 2) + x;
}

static void sweep(const float *from, float *to, double centre, double side)
{
    for (size_t i = 0; i < CELLS; i++)
        to[i] = from[i];
    for (size_t z = 1; z <= NZ; z++)
        for (size_t y = 1; y <= NY; y++)
            for (size_t x = 1; x <= NX; x++)
                to[at(x, y, z)] = (float)(
                    centre * from[at(x, y, z)] +
                    side * ((double)from[at(x - 1, y, z)] + from[at(x + 1, y, z)] +
                            from[at(x, y - 1, z)] + from[at(x, y + 1, z)] +
                            from[at(x, y, z - 1)] + from[at(x, y, z + 1)]));
}

void two_sweeps_reference(const float *u, float *v, float *w, float centre, float side)
{
    sweep(u, v, centre, side);
    sweep(v, w, centre, side);
}
