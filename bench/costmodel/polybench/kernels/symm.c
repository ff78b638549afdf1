/* c = alpha*a*b + beta*c, where only the lower triangle of the symmetric a is stored. */
void symm(int m, int n, double alpha, double beta, double c[restrict m][n], const double a[restrict m][m],
          const double b[restrict m][n])
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < i; k++) {
                c[k][j] += alpha * b[i][j] * a[i][k];
                sum += b[k][j] * a[i][k];
            }
            c[i][j] = beta * c[i][j] + alpha * b[i][j] * a[i][i] + alpha * sum;
        }
}
