/* The correlation as one writes it first. */
void naive(const float *x, const float *f, float *z)
{
    for (int r = 0; r < R - H + 1; r++)
        for (int c = 0; c < C - W + 1; c++)
            for (int k = 0; k < F; k++)
            {
                float sum = 0;
                for (int h = 0; h < H; h++)
                    for (int i = 0; i < W * D; i++)
                        sum += x[((r + h) * C + c) * D + i] * f[(k * H + h) * W * D + i];
                *z++ = sum;
            }
}
