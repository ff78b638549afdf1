/* y = a'*(a*x). */
void atax(int m, int n, const double a[restrict m][n], const double x[restrict n], double y[restrict n],
          double tmp[restrict m])
{
    for (int i = 0; i < n; i++)
        y[i] = 0.0;
    for (int i = 0; i < m; i++) {
        tmp[i] = 0.0;
        for (int j = 0; j < n; j++)
            tmp[i] += a[i][j] * x[j];
        for (int j = 0; j < n; j++)
            y[j] += a[i][j] * tmp[i];
    }
}
