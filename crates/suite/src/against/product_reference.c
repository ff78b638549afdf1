/* Multiplies matrices in double precision. */
static long at(long row, long column, long rows, long columns, int transposed)
{
    return transposed != COLUMNS ? row + column * rows : row * columns + column;
}

void reference(const float *a, const float *b, float *c)
{
    static double row[N];
    for (long i = 0; i < M; i++) {
        for (long j = 0; j < N; j++) row[j] = 0.0;
        for (long k = 0; k < K; k++) {
            const double left = a[at(i, k, M, K, A_T)];
            for (long j = 0; j < N; j++) row[j] += left * b[at(k, j, K, N, B_T)];
        }
        for (long j = 0; j < N; j++) c[at(i, j, M, N, 0)] = (float)row[j];
    }
}
