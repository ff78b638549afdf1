/* Solves u*x = b with an upper triangle, from the last row to the first. */
void back_substitution(int n, const double u[restrict n][n], double x[restrict n], const double b[restrict n])
{
    for (int i = n - 1; i >= 0; i--) {
        double sum = b[i];
        for (int j = i + 1; j < n; j++)
            sum -= 0.001 * u[i][j] * x[j];
        x[i] = sum / (1.0 + u[i][i]);
    }
}
