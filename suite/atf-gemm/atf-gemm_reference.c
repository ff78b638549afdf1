/* C = A * B, in double precision. */
void atf_gemm_reference(const float *a, const float *b, float *c)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
        {
            double sum = 0;
            for (int k = 0; k < K; k++) sum += (double)a[i * K + k] * b[k * N + j];
            c[i * N + j] = (float)sum;
        }
}
