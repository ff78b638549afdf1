/* s = a'*r and q = a*p in one pass over a. */
void bicg(int n, int m, const double a[restrict n][m], double s[restrict m], double q[restrict n],
          const double p[restrict m], const double r[restrict n])
{
    for (int i = 0; i < m; i++)
        s[i] = 0.0;
    for (int i = 0; i < n; i++) {
        q[i] = 0.0;
        for (int j = 0; j < m; j++) {
            s[j] += r[i] * a[i][j];
            q[i] += a[i][j] * p[j];
        }
    }
}
