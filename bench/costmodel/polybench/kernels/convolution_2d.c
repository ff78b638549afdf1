/* A filter of three by three cells. */
void convolution_2d(int n, int m, const double a[restrict n][m], double b[restrict n][m])
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            b[i][j] = 0.2 * a[i - 1][j - 1] - 0.3 * a[i - 1][j] + 0.4 * a[i - 1][j + 1] + 0.5 * a[i][j - 1]
                      + 0.6 * a[i][j] + 0.7 * a[i][j + 1] - 0.8 * a[i + 1][j - 1] - 0.9 * a[i + 1][j]
                      + 0.1 * a[i + 1][j + 1];
}
