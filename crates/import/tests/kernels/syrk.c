/* The lower triangle of alpha*A*A' + beta*C. */
void syrk(long n, long m, double alpha, double beta, double c[restrict n][n], double a[restrict n][m])
{
    for (long i = 0; i < n; i++)
        for (long j = 0; j <= i; j++) {
            c[i][j] *= beta;
            for (long k = 0; k < m; k++)
                c[i][j] += alpha * a[i][k] * a[j][k];
        }
}
