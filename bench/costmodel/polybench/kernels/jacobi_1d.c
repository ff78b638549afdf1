/* Steps of the mean of three neighbours, to and fro between two arrays. */
void jacobi_1d(int t, int n, double a[restrict n], double b[restrict n])
{
    for (int step = 0; step < t; step++) {
        for (int i = 1; i < n - 1; i++)
            b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1]);
        for (int i = 1; i < n - 1; i++)
            a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1]);
    }
}
