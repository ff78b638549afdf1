/*
 * The sum of coulomb3d.cl for a processor. The points that are computed together form a block of
 * Z_ITERATIONS x X_ITERATIONS: their sums stay in registers while all atoms pass by.
 *
 *   X_ITERATIONS          points of a block along x, the elements of vectors.
 *   Z_ITERATIONS          points of a block along z. They share the squares of the distances along x and y.
 *   INNER_UNROLL_FACTOR   unrolling of the loop over the points along z; 0 leaves it to the compiler.
 *   USE_SOA               0: an atom is four floats in a row; 1: four arrays hold x, y, z and w.
 */
#include <math.h>

#if INNER_UNROLL_FACTOR == 0
#define UNROLL
#else
#define PRAGMA(text) _Pragma(#text)
#define UNROLL_BY(factor) PRAGMA(GCC unroll factor)
#define UNROLL UNROLL_BY(INNER_UNROLL_FACTOR)
#endif

#if USE_SOA
#define ATOM(part, place) atoms_##part[a]
#else
#define ATOM(part, place) atoms[4 * a + place]
#endif

void coulomb3d(const float *restrict atoms, const float *restrict atoms_x, const float *restrict atoms_y,
               const float *restrict atoms_z, const float *restrict atoms_w, const float spacing,
               float *restrict energy)
{
    for (int z = 0; z < N; z += Z_ITERATIONS)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x += X_ITERATIONS) {
                float sums[Z_ITERATIONS][X_ITERATIONS] = {{0}};

                for (int a = 0; a < ATOMS; a++) {
                    const float dy = spacing * y - ATOM(y, 1), w = ATOM(w, 3);
                    const float from_x = spacing * x - ATOM(x, 0), from_z = spacing * z - ATOM(z, 2);

                    UNROLL
                    for (int i = 0; i < Z_ITERATIONS; i++) {
                        const float dz = from_z + spacing * i;

                        for (int j = 0; j < X_ITERATIONS; j++) {
                            const float dx = from_x + spacing * j;
                            sums[i][j] += w / sqrtf(dx * dx + dy * dy + dz * dz);
                        }
                    }
                }

                for (int i = 0; i < Z_ITERATIONS; i++)
                    for (int j = 0; j < X_ITERATIONS; j++)
                        energy[((z + i) * N + y) * N + x + j] = sums[i][j];
            }
}
