/* The correlations of the columns of data. Columns that hardly vary are not scaled. */
#include <math.h>

void correlation(int m, int n, double rows, double data[restrict n][m], double corr[restrict m][m],
                 double mean[restrict m], double deviation[restrict m])
{
    for (int j = 0; j < m; j++) {
        mean[j] = 0.0;
        for (int i = 0; i < n; i++)
            mean[j] += data[i][j];
        mean[j] /= rows;
    }
    for (int j = 0; j < m; j++) {
        deviation[j] = 0.0;
        for (int i = 0; i < n; i++)
            deviation[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
        deviation[j] = sqrt(deviation[j] / rows);
        deviation[j] = deviation[j] <= 0.1 ? 1.0 : deviation[j];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            data[i][j] = (data[i][j] - mean[j]) / (sqrt(rows) * deviation[j]);
    for (int i = 0; i < m; i++)
        for (int j = i; j < m; j++) {
            corr[i][j] = 0.0;
            for (int k = 0; k < n; k++)
                corr[i][j] += data[k][i] * data[k][j];
            corr[j][i] = corr[i][j];
        }
}
