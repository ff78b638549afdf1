void transpose_reference(const float *a, float *b)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            b[(long)j * N + i] = a[(long)i * N + j];
}
