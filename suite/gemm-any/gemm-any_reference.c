/*
 * C = alpha * A * B + beta * C, all matrices row-major. Sums are kept in double precision, so that
 * any difference found belongs to the kernel.
 */
#include <stddef.h>

void gemm_reference(const float *a, const float *b, float *c, float alpha, float beta)
{
    static double sum[N];

    for (size_t m = 0; m < M; m++) {
        for (size_t n = 0; n < N; n++)
            sum[n] = 0.0;
        for (size_t k = 0; k < K; k++)
            for (size_t n = 0; n < N; n++)
                sum[n] += (double)a[m * K + k] * (double)b[k * N + n];
        for (size_t n = 0; n < N; n++)
            c[m * N + n] = (float)(alpha * sum[n] + beta * c[m * N + n]);
    }
}
