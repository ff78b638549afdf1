/* Convolves images with filters in double precision. Channels lie one after the other, rows of a channel too. */
void reference(const float *image, const float *filter, float *output)
{
    enum { ROW = WIDTH + FILTER_WIDTH - 1, CHANNEL = (HEIGHT + FILTER_HEIGHT - 1) * ROW };
    static double sums[WIDTH];
    for (long n = 0; n < IMAGES; n++)
        for (long f = 0; f < FILTERS; f++)
            for (long y = 0; y < HEIGHT; y++) {
                for (long x = 0; x < WIDTH; x++) sums[x] = 0.0;
                for (long c = 0; c < CHANNELS; c++)
                    for (long v = 0; v < FILTER_HEIGHT; v++)
                        for (long u = 0; u < FILTER_WIDTH; u++) {
                            const long row = FLIPPED ? FILTER_HEIGHT - 1 - v : v;
                            const long column = FLIPPED ? FILTER_WIDTH - 1 - u : u;
                            const double factor =
                                filter[((f * CHANNELS + c) * FILTER_HEIGHT + row) * FILTER_WIDTH + column];
                            const float *from = &image[(n * CHANNELS + c) * CHANNEL + (y + v) * ROW + u];
                            for (long x = 0; x < WIDTH; x++) sums[x] += factor * from[x];
                        }
                for (long x = 0; x < WIDTH; x++) output[((n * FILTERS + f) * HEIGHT + y) * WIDTH + x] = (float)sums[x];
            }
}
