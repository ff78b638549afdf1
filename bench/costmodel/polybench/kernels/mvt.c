/* x1 += a*y1 and x2 += a'*y2. */
void mvt(int n, double x1[restrict n], double x2[restrict n], const double y1[restrict n], const double y2[restrict n],
         const double a[restrict n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x1[i] += a[i][j] * y1[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x2[i] += a[j][i] * y2[j];
}
