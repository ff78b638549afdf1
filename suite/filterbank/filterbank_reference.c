/*
 * Filterbank correlation as its formula says. Sums are kept in double precision, so that any
 * difference found belongs to the kernel.
 */
#include <stddef.h>

enum { ROWS_OUT = R - H + 1, COLUMNS_OUT = C - W + 1 };

void filterbank_reference(const float *x, const float *f, float *z)
{
    for (size_t r = 0; r < ROWS_OUT; r++)
        for (size_t c = 0; c < COLUMNS_OUT; c++)
            for (size_t k = 0; k < F; k++) {
                double sum = 0.0;
                for (size_t h = 0; h < H; h++)
                    for (size_t i = 0; i < W * D; i++)
                        sum += (double)x[((r + h) * C + c) * D + i] * (double)f[(k * H + h) * W * D + i];
                z[(r * COLUMNS_OUT + c) * F + k] = (float)sum;
            }
}

/* For the kernels, which leave the tickets of their passes as they were. */
void filterbank_passes_reference(const float *x, const float *f, float *z, int *tickets)
{
    (void)tickets;
    filterbank_reference(x, f, z);
}
