/* A box blur. Outside of the image, the pixels of its edge go on. */
static long clamped(long at, long extent)
{
    return at < 0 ? 0 : at < extent ? at : extent - 1;
}

void blur_reference(const float *from, float *to)
{
    for (long j = 0; j < HEIGHT; j++)
        for (long i = 0; i < WIDTH; i++) {
            double sum = 0;

            for (long y = j - RADIUS; y <= j + RADIUS; y++)
                for (long x = i - RADIUS; x <= i + RADIUS; x++)
                    sum += from[clamped(y, HEIGHT) * WIDTH + clamped(x, WIDTH)];
            to[j * WIDTH + i] = (float)(sum / ((2 * RADIUS + 1) * (2 * RADIUS + 1)));
        }
}
