/* Two products of a matrix and a vector, one with the transposed matrix. */
void mvt(int n, double a[restrict n][n], double x1[restrict n], double x2[restrict n], const double *restrict y1,
         const double *restrict y2)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x1[i] += a[i][j] * y1[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x2[i] = x2[i] + a[j][i] * y2[j];
}
