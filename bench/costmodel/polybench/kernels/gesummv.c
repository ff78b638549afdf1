/* y = alpha*a*x + beta*b*x. */
void gesummv(int n, double alpha, double beta, const double a[restrict n][n], const double b[restrict n][n],
             double tmp[restrict n], const double x[restrict n], double y[restrict n])
{
    for (int i = 0; i < n; i++) {
        tmp[i] = 0.0;
        y[i] = 0.0;
        for (int j = 0; j < n; j++) {
            tmp[i] += a[i][j] * x[j];
            y[i] += b[i][j] * x[j];
        }
        y[i] = alpha * tmp[i] + beta * y[i];
    }
}
