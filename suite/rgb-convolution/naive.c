/* The convolution as one writes it first. */
void naive(const float *images, const float *filters, float *result)
{
    for (int image = 0; image < 3; image++)
        for (int filter = 0; filter < 3; filter++)
            for (int x = 0; x < N; x++)
                for (int y = 0; y < N; y++)
                {
                    float sum = 0;
                    for (int u = 0; u < 7; u++)
                        for (int v = 0; v < 7; v++)
                            for (int c = 0; c < 3; c++)
                                sum += images[((image * (N + 6) + x + 6 - u) * (N + 6) + y + 6 - v) * 3 + c]
                                       * filters[((filter * 7 + u) * 7 + v) * 3 + c];
                    result[((image * 3 + filter) * N + x) * N + y] = sum;
                }
}
