/*
 * C = alpha * A^T * B + beta * C, as the formula says. A is K x M, B is K x N, C is M x N,
 * row-major. Sums are kept in double precision: their error is far below the tolerance,
 * so that any difference found belongs to the kernel.
 */
#include <stddef.h>

void gemm_reference(const float *a, const float *b, float *c, float alpha, float beta)
{
    for (size_t m = 0; m < M; m++) {
        double sums[N] = {0};
        for (size_t k = 0; k < K; k++)
            for (size_t n = 0; n < N; n++)
                sums[n] += (double)a[k * M + m] * (double)b[k * N + n];
        for (size_t n = 0; n < N; n++)
            c[m * N + n] = (float)(alpha * sums[n] + beta * c[m * N + n]);
    }
}
