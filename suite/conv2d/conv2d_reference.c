/*
 * 2-D convolution of an image that comes with a border of HFS pixels on each side, as the
 * formula says. Sums are kept in double precision, so that any difference found belongs to the
 * kernel.
 */
#include <stddef.h>

enum { FS = 2 * HFS + 1, IMAGE_X = X + 2 * HFS };

void conv2d_reference(const float *image, const float *filter, float *output, float weight)
{
    for (size_t y = 0; y < Y; y++)
        for (size_t x = 0; x < X; x++) {
            double sum = 0.0;
            for (size_t i = 0; i < FS; i++)
                for (size_t j = 0; j < FS; j++)
                    sum += (double)filter[i * FS + j] * (double)image[(y + i) * IMAGE_X + x + j];
            output[y * X + x] = (float)(weight * sum);
        }
}
