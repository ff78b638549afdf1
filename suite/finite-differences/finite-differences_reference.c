/* The 5-point stencil with a quadratic source term, in double precision. */
void finite_differences_reference(const float *u, float *result)
{
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++)
        {
            const float *at = u + i * (N + 2) + j;
            const double here = at[0];
            *result++ = (float)(here * here - 1.0 - 4.0 * here + at[N + 2] + at[-N - 2] + at[1] + at[-1]);
        }
}
