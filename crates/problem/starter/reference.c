// The same result in the plainest way. Sizes are macros here as well, tuning parameters are not.

void transpose_reference(const float *a, float *b)
{
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j)
            b[j * N + i] = a[i * N + j];
}
