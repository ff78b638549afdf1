/* Two updates of rank one, and two products with the result. */
void gemver(int n, double alpha, double beta, double a[restrict n][n], const double u1[restrict n],
            const double v1[restrict n], const double u2[restrict n], const double v2[restrict n], double w[restrict n],
            double x[restrict n], const double y[restrict n], const double z[restrict n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] += u1[i] * v1[j] + u2[i] * v2[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[i] += beta * a[j][i] * y[j];
    for (int i = 0; i < n; i++)
        x[i] += z[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            w[i] += alpha * a[i][j] * x[j];
}
