/* The best match of every new record. Weights are added in the order of the attributes, as in the kernel. */
void atf_prl_reference(const int *records, const int *known, const float *agree, const float *differ,
                       float *best_weight, int *best_match)
{
    for (int i = 0; i < NEW; i++)
    {
        best_match[i] = -1;
        for (int k = 0; k < KNOWN; k++)
        {
            float weight = 0;
            for (int t = 0; t < ATTRIBUTES; t++)
            {
                const int one = records[i * ATTRIBUTES + t], other = known[k * ATTRIBUTES + t];
                if (one != 0 && other != 0) weight += one == other ? agree[t] : differ[t];
            }
            if (best_match[i] < 0 || weight > best_weight[i])
            {
                best_weight[i] = weight;
                best_match[i] = k;
            }
        }
    }
}
