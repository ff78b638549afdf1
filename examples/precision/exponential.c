// Computes y = exp(x) for x in [-1, 1) by a polynomial of degree DEGREE in Horner's form. REAL is the
// type of the sums. BLOCK values are computed together, so that the compiler can use vectors.
#include <stddef.h>

void exponential(const float *restrict x, float *restrict y)
{
    REAL factors[DEGREE + 1];
    factors[0] = 1;
    for (int k = 1; k <= DEGREE; k++)
        factors[k] = factors[k - 1] / k;
    for (size_t i = 0; i < N; i += BLOCK) {
        REAL sums[BLOCK];
        for (int j = 0; j < BLOCK; j++)
            sums[j] = factors[DEGREE];
        for (int k = DEGREE - 1; k >= 0; k--)
            for (int j = 0; j < BLOCK; j++)
                sums[j] = sums[j] * x[i + j] + factors[k];
        for (int j = 0; j < BLOCK; j++)
            y[i + j] = (float)sums[j];
    }
}
