/*
 * SWEEPS sweeps of the 7-point heat equation, one after the other over the whole grid, in
 * double precision. The halo, cells 0 and N + 1 in each dimension, keeps its values.
 */
#include <stddef.h>

#define CELLS ((size_t)(NX + 2) * (NY + 2) * (NZ + 2))

static size_t at(size_t x, size_t y, size_t z)
{
    return (z * (NY + 2) + y) * (NX + 2) + x;
}

static void sweep(const double *from, double *to, double centre, double side)
{
    for (size_t z = 1; z <= NZ; z++)
        for (size_t y = 1; y <= NY; y++)
            for (size_t x = 1; x <= NX; x++)
                to[at(x, y, z)] =
                    centre * from[at(x, y, z)] +
                    side * (from[at(x - 1, y, z)] + from[at(x + 1, y, z)] +
                            from[at(x, y - 1, z)] + from[at(x, y + 1, z)] +
                            from[at(x, y, z - 1)] + from[at(x, y, z + 1)]);
}

void stencil_reference(const float *u, float *v, float centre, float side)
{
    static double grids[2][CELLS];

    for (size_t i = 0; i < CELLS; i++)
        grids[0][i] = grids[1][i] = u[i];
    for (int n = 0; n < SWEEPS; n++)
        sweep(grids[n % 2], grids[(n + 1) % 2], centre, side);
    for (size_t i = 0; i < CELLS; i++)
        v[i] = (float)grids[SWEEPS % 2][i];
}
