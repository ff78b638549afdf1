/* A convolution with a filter of 5 x 5, in double precision. */
void atf_conv_reference(const float *image, const float *filter, float *output)
{
    for (int i = 0; i < OUT_1; i++)
        for (int j = 0; j < OUT_2; j++)
        {
            double sum = 0;
            for (int u = 0; u < 5; u++)
                for (int v = 0; v < 5; v++) sum += (double)filter[u * 5 + v] * image[(i + u) * (OUT_2 + 4) + j + v];
            output[i * OUT_2 + j] = (float)sum;
        }
}
