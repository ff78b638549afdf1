/*
 * C = alpha * A^T * B + beta * C. A is K x M and B is K x N, row-major; C is column-major. Sums are
 * kept in double precision, so that any difference found belongs to the kernel.
 */
#include <stddef.h>

void gemm_reference(const float *a, const float *b, float *c, float alpha, float beta)
{
    static double sum[M];

    for (size_t n = 0; n < N; n++) {
        for (size_t m = 0; m < M; m++)
            sum[m] = 0.0;
        for (size_t k = 0; k < K; k++)
            for (size_t m = 0; m < M; m++)
                sum[m] += (double)a[k * M + m] * (double)b[k * N + n];
        for (size_t m = 0; m < M; m++)
            c[n * M + m] = (float)(alpha * sum[m] + beta * c[n * M + m]);
    }
}
