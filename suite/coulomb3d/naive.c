#include <math.h>

/* The sum as one writes it first: an atom is four floats in a row. */
void naive(const float *restrict atoms, const float spacing, float *restrict energy)
{
    for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++) {
                float sum = 0;
                for (int a = 0; a < ATOMS; a++) {
                    const float dx = spacing * x - atoms[4 * a];
                    const float dy = spacing * y - atoms[4 * a + 1];
                    const float dz = spacing * z - atoms[4 * a + 2];
                    sum += atoms[4 * a + 3] / sqrtf(dx * dx + dy * dy + dz * dz);
                }
                energy[(z * N + y) * N + x] = sum;
            }
}
