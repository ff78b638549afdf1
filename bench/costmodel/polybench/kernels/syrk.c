/* The lower triangle of alpha*a*a' + beta*c. */
void syrk(int n, int m, double alpha, double beta, double c[restrict n][n], const double a[restrict n][m])
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++)
            c[i][j] *= beta;
        for (int k = 0; k < m; k++)
            for (int j = 0; j <= i; j++)
                c[i][j] += alpha * a[i][k] * a[j][k];
    }
}
