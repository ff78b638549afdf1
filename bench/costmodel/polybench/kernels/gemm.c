/* c = alpha*a*b + beta*c. */
void gemm(int ni, int nj, int nk, double alpha, double beta, double c[restrict ni][nj], const double a[restrict ni][nk],
          const double b[restrict nk][nj])
{
    for (int i = 0; i < ni; i++) {
        for (int j = 0; j < nj; j++)
            c[i][j] *= beta;
        for (int k = 0; k < nk; k++)
            for (int j = 0; j < nj; j++)
                c[i][j] += alpha * a[i][k] * b[k][j];
    }
}
