/* What the kernel must compute: no tuning parameters, no tricks. Local memory is an argument like the others. */
void transpose_reference(const float *a, float *b, float *tile)
{
    (void)tile;
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j)
            b[j * N + i] = a[i * N + j];
}
