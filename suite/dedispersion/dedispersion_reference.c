/* The sums in double precision. The delays are those of the kernel, which truncates a product of floats. */
void dedispersion_reference(const float *shifts, const float *samples, float *output)
{
    for (int dm = 0; dm < DMS; dm++)
        for (int t = 0; t < SAMPLES; t++) {
            double sum = 0;
            for (int c = 0; c < CHANNELS; c++) {
                const int delay = dm * 0.02f * shifts[c];
                sum += samples[(long)c * (SAMPLES + DMS) + t + delay];
            }
            output[(long)dm * SAMPLES + t] = sum;
        }
}
