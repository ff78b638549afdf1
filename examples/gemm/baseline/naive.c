/*
 * The two loops everyone writes first, with the arguments of gemm.c, as a yardstick:
 * ORDER=ijk forms one dot product at a time and walks down the columns of A and B;
 * ORDER=ikj adds a multiple of a row of B to a row of C, which compilers vectorise.
 */
#include <stddef.h>

#define TEXT_OF(word) #word
#define TEXT(word) TEXT_OF(word)

static void ijk(const float *restrict a, const float *restrict b, float *restrict c,
                float alpha, float beta)
{
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++) {
            float sum = 0.0f;
            for (size_t k = 0; k < K; k++)
                sum += a[k * M + i] * b[k * N + j];
            c[i * N + j] = alpha * sum + beta * c[i * N + j];
        }
}

static void ikj(const float *restrict a, const float *restrict b, float *restrict c,
                float alpha, float beta)
{
    for (size_t i = 0; i < M; i++) {
        for (size_t j = 0; j < N; j++)
            c[i * N + j] *= beta;
        for (size_t k = 0; k < K; k++) {
            const float factor = alpha * a[k * M + i];
            for (size_t j = 0; j < N; j++)
                c[i * N + j] += factor * b[k * N + j];
        }
    }
}

void gemm(const float *a, const float *b, float *c, float alpha, float beta)
{
    if (TEXT(ORDER)[1] == 'j')
        ijk(a, b, c, alpha, beta);
    else
        ikj(a, b, c, alpha, beta);
}
