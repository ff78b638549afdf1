void transpose_reference(const float *src, float *dst)
{
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            dst[(long)x * H + y] = src[(long)y * W + x];
}
