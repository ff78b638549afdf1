#define RIM 1

/* Average of the nine cells around each, without the rim, in double precision. */
void stencil(int n, int m, double weight, double u[restrict n][m], double v[restrict n][m])
{
    int i, j;
    for (i = RIM; i < n - RIM; i++)
        for (j = RIM; j <= m - RIM - 1; j++)
            v[i][j] = weight * (u[i - 1][j - 1] + u[i - 1][j] + u[i - 1][j + 1] + u[i][j - 1] + u[i][j] + u[i][j + 1]
                                + u[i + 1][j - 1] + u[i + 1][j] + u[i + 1][j + 1]);
}
