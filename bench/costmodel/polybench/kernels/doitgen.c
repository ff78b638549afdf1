/* Every row of a, times c4. */
void doitgen(int nr, int nq, int np, double a[restrict nr][nq][np], const double c4[restrict np][np],
             double sum[restrict np])
{
    for (int r = 0; r < nr; r++)
        for (int q = 0; q < nq; q++) {
            for (int p = 0; p < np; p++) {
                sum[p] = 0.0;
                for (int s = 0; s < np; s++)
                    sum[p] += a[r][q][s] * c4[s][p];
            }
            for (int p = 0; p < np; p++)
                a[r][q][p] = sum[p];
        }
}
