/* Product of two matrices in flat arrays. */
void matmul(int n, int m, int l, const float *restrict a, const float *restrict b, float *restrict c)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < l; ++j) {
            float sum = 0.0f;
            for (int k = 0; k < m; k += 1)
                sum += a[i * m + k] * b[k * l + j];
            c[i * l + j] = sum;
        }
}
