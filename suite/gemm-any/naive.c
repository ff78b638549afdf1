/*
 * The loop one writes first, with its two inner loops in the order that compilers vectorise: a
 * multiple of a row of B is added to a row of C.
 */
#include <stddef.h>

void gemm(const float *restrict a, const float *restrict b, float *restrict c, float alpha, float beta)
{
    for (size_t i = 0; i < M; i++) {
        for (size_t j = 0; j < N; j++)
            c[i * N + j] *= beta;
        for (size_t k = 0; k < K; k++) {
            const float factor = alpha * a[i * K + k];
            for (size_t j = 0; j < N; j++)
                c[i * N + j] += factor * b[k * N + j];
        }
    }
}
