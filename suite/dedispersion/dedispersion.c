/*
 * Dedispersion for a processor: blocks of outputs whose sums the registers or the first cache hold.
 *
 *   tile_size_x, _y                 outputs of a block along the samples and along the dispersion measures.
 *   loop_unroll_factor_channel      unrolling of the loop over the channels; 0 leaves it to the compiler.
 */
#if loop_unroll_factor_channel == 0
#define UNROLL
#else
#define PRAGMA(text) _Pragma(#text)
#define UNROLL_BY(factor) PRAGMA(GCC unroll factor)
#define UNROLL UNROLL_BY(loop_unroll_factor_channel)
#endif

static inline int least(int a, int b) { return a < b ? a : b; }

/* Computes a block of `measures` x `width` outputs. Both are constants where a block is whole. */
static inline __attribute__((always_inline)) void
block(const float *restrict shifts, const float *restrict samples, float *restrict output, const int first_dm,
      const int first_t, const int measures, const int width)
{
    float sums[tile_size_y][tile_size_x] = {{0}};

    UNROLL
    for (int c = 0; c < CHANNELS; c++)
        for (int i = 0; i < measures; i++) {
            const int delay = (first_dm + i) * 0.02f * shifts[c];
            const float *from = &samples[(long)c * (SAMPLES + DMS) + first_t + delay];

            for (int j = 0; j < width; j++)
                sums[i][j] += from[j];
        }

    for (int i = 0; i < measures; i++)
        for (int j = 0; j < width; j++)
            output[(long)(first_dm + i) * SAMPLES + first_t + j] = sums[i][j];
}

void dedispersion(const float *restrict shifts, const float *restrict samples, float *restrict output)
{
    for (int dm = 0; dm < DMS; dm += tile_size_y)
        for (int t = 0; t < SAMPLES; t += tile_size_x) {
            const int measures = least(tile_size_y, DMS - dm), width = least(tile_size_x, SAMPLES - t);

            if (measures == tile_size_y && width == tile_size_x)
                block(shifts, samples, output, dm, t, tile_size_y, tile_size_x);
            else
                block(shifts, samples, output, dm, t, measures, width);
        }
}
