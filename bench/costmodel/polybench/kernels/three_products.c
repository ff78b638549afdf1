/* g = (a*b)*(c*d), with both products kept. */
void three_products(int n, const double a[restrict n][n], const double b[restrict n][n], const double c[restrict n][n],
                    const double d[restrict n][n], double e[restrict n][n], double f[restrict n][n],
                    double g[restrict n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            e[i][j] = 0.0;
            for (int k = 0; k < n; k++)
                e[i][j] += a[i][k] * b[k][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            f[i][j] = 0.0;
            for (int k = 0; k < n; k++)
                f[i][j] += c[i][k] * d[k][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            g[i][j] = 0.0;
            for (int k = 0; k < n; k++)
                g[i][j] += e[i][k] * f[k][j];
        }
}
