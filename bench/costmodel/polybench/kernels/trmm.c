/* b = alpha*a'*b with a unit lower triangle. */
void trmm(int m, int n, double alpha, const double a[restrict m][m], double b[restrict m][n])
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            for (int k = i + 1; k < m; k++)
                b[i][j] += a[k][i] * b[k][j];
            b[i][j] = alpha * b[i][j];
        }
}
