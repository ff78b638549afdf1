/* The stencil as one writes it first. */
void naive(const float *u, float *result)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
        {
            const float *at = u + (i + 1) * (N + 2) + j + 1;
            result[i * N + j] = at[0] * at[0] - 1.0f - 4.0f * at[0] + at[N + 2] + at[-N - 2] + at[1] + at[-1];
        }
}
