/* The loops one writes first, with the arguments of conv2d.c. */
#include <stddef.h>

void conv2d(const float *restrict image, const float *restrict filter, float *restrict output, float weight)
{
    for (size_t y = 0; y < Y; y++)
        for (size_t x = 0; x < X; x++) {
            float sum = 0.0f;
            for (size_t i = 0; i < 2 * HFS + 1; i++)
                for (size_t j = 0; j < 2 * HFS + 1; j++)
                    sum += filter[i * (2 * HFS + 1) + j] * image[(y + i) * (X + 2 * HFS) + x + j];
            output[y * X + x] = weight * sum;
        }
}
