/* The sum of N floats in double precision, followed by SUMS - 1 zeros. */
#include <stddef.h>

void reduce_reference(const float *data, float *sums)
{
    double sum = 0.0;

    for (size_t i = 0; i < N; i++)
        sum += data[i];
    sums[0] = (float)sum;
    for (size_t i = 1; i < SUMS; i++)
        sums[i] = 0.0f;
}
