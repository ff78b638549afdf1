/* abcdef = sum over g of gebc * dfga, in double precision. */
void atf_ccsdt_reference(const float *x, const float *y, float *z)
{
    for (int a = 0; a < SIZE_A; a++)
        for (int b = 0; b < SIZE_B; b++)
            for (int c = 0; c < SIZE_C; c++)
                for (int d = 0; d < SIZE_D; d++)
                    for (int e = 0; e < SIZE_E; e++)
                        for (int f = 0; f < SIZE_F; f++)
                        {
                            double sum = 0;
                            for (int g = 0; g < SIZE_G; g++)
                                sum += (double)x[((g * SIZE_E + e) * SIZE_B + b) * SIZE_C + c]
                                       * y[((d * SIZE_F + f) * SIZE_G + g) * SIZE_A + a];
                            *z++ = (float)sum;
                        }
}
