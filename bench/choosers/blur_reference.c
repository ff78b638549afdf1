/* The same blur, pixel by pixel. */
void blur_reference(const float *image, float *blurred)
{
    static const float taps[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            double sum = 0.0;
            for (int i = 0; i < 5; i++)
                for (int j = 0; j < 5; j++)
                    sum += (double)taps[i] * taps[j] * image[(y + i) * (W + 4) + x + j];
            blurred[y * W + x] = (float)sum;
        }
}
