/* The sums as one writes them first, output by output. */
void naive(const float *restrict shifts, const float *restrict samples, float *restrict output)
{
    for (int dm = 0; dm < DMS; dm++)
        for (int t = 0; t < SAMPLES; t++) {
            float sum = 0;
            for (int c = 0; c < CHANNELS; c++) {
                const int delay = dm * 0.02f * shifts[c];
                sum += samples[(long)c * (SAMPLES + DMS) + t + delay];
            }
            output[(long)dm * SAMPLES + t] = sum;
        }
}
