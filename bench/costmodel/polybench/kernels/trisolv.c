/* Forward substitution with a lower triangle whose diagonal is 1 + its cells. */
void trisolv(int n, const double l[restrict n][n], double x[restrict n], const double b[restrict n])
{
    for (int i = 0; i < n; i++) {
        x[i] = b[i];
        for (int j = 0; j < i; j++)
            x[i] -= 0.001 * l[i][j] * x[j];
        x[i] = x[i] / (1.0 + l[i][i]);
    }
}
