/* The two loops as one writes them first. */
void naive(const float *restrict src, float *restrict dst)
{
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            dst[(long)x * H + y] = src[(long)y * W + x];
}
