/*
 * C = alpha * A^T * B + beta * C, as the formula says. A is K x M, B is K x N, row-major. Sums
 * are kept in double precision: their error is far below the tolerance, so that any difference
 * found belongs to the kernel.
 */
#include <stddef.h>

/* One row of C, whose elements lie `stride` apart. */
static void row_of_c(const float *a, const float *b, float *c, size_t stride, float alpha,
                     float beta, size_t m)
{
    double sums[N] = {0};

    for (size_t k = 0; k < K; k++)
        for (size_t n = 0; n < N; n++)
            sums[n] += (double)a[k * M + m] * (double)b[k * N + n];
    for (size_t n = 0; n < N; n++)
        c[n * stride] = (float)(alpha * sums[n] + beta * c[n * stride]);
}

/* C is M x N row-major: for gemm.c. */
void gemm_reference(const float *a, const float *b, float *c, float alpha, float beta)
{
    for (size_t m = 0; m < M; m++)
        row_of_c(a, b, c + m * N, 1, alpha, beta, m);
}

/* C is M x N column-major: for gemm.cl. */
void gemm_reference_columns(const float *a, const float *b, float *c, float alpha, float beta)
{
    for (size_t m = 0; m < M; m++)
        row_of_c(a, b, c + m, M, alpha, beta, m);
}
