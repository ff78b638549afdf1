/* d = alpha*a*b*c + beta*d, by way of tmp = alpha*a*b. */
void two_products(int ni, int nj, int nk, int nl, double alpha, double beta, double tmp[restrict ni][nj],
                  const double a[restrict ni][nk], const double b[restrict nk][nj], const double c[restrict nj][nl],
                  double d[restrict ni][nl])
{
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++) {
            tmp[i][j] = 0.0;
            for (int k = 0; k < nk; k++)
                tmp[i][j] += alpha * a[i][k] * b[k][j];
        }
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nl; j++) {
            d[i][j] *= beta;
            for (int k = 0; k < nj; k++)
                d[i][j] += tmp[i][k] * c[k][j];
        }
}
