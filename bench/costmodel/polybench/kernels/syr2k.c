/* The lower triangle of alpha*(a*b' + b*a') + beta*c. */
void syr2k(int n, int m, double alpha, double beta, double c[restrict n][n], const double a[restrict n][m],
           const double b[restrict n][m])
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++)
            c[i][j] *= beta;
        for (int k = 0; k < m; k++)
            for (int j = 0; j <= i; j++)
                c[i][j] += a[j][k] * alpha * b[i][k] + b[j][k] * alpha * a[i][k];
    }
}
