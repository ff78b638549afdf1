#include <math.h>

/* The sum in double precision, point by point. */
void coulomb3d_reference(const float *atoms_x, const float *atoms_y, const float *atoms_z, const float *atoms_w,
                         float spacing, float *energy)
{
    for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++) {
                double sum = 0;
                for (int a = 0; a < ATOMS; a++) {
                    const double dx = (double)spacing * x - atoms_x[a];
                    const double dy = (double)spacing * y - atoms_y[a];
                    const double dz = (double)spacing * z - atoms_z[a];
                    sum += atoms_w[a] / sqrt(dx * dx + dy * dy + dz * dz);
                }
                energy[(z * N + y) * N + x] = sum;
            }
}
