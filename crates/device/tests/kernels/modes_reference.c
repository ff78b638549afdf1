void reference(const float *a, float *b, float *c, int n)
{
    for (int i = 0; i < n; i++) {
        b[i] += a[i];
        c[i] = 2 * a[i];
    }
}
