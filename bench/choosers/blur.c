/*
 * Blurs an image of W x H pixels in single precision with a binomial filter of 5 x 5 taps. The
 * input has a margin of two pixels on every side. Sizes and tuning parameters (see blur.toml) are
 * macros. Any size is valid: blocks at the right and lower edge are clipped.
 *
 * The image is cut into blocks of TILE_X x TILE_Y pixels. With SEPARABLE a block is filtered along x
 * into a buffer, then along y; otherwise every pixel sums its 25 neighbours. ROWS rows are computed
 * together.
 */
#include <stddef.h>

#define PRAGMA(text) _Pragma(#text)
#define UNROLLED(n) PRAGMA(GCC unroll n)

enum { TAPS = 5, PITCH = W + TAPS - 1 };

static const float taps[TAPS] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

static inline ptrdiff_t smaller(ptrdiff_t a, ptrdiff_t b)
{
    return a < b ? a : b;
}

/* Filters `count` pixels of a row along x. */
static inline void along_x(const float *restrict from, float *restrict to, ptrdiff_t count)
{
    for (ptrdiff_t x = 0; x < count; x++)
        to[x] = taps[0] * from[x] + taps[1] * from[x + 1] + taps[2] * from[x + 2] + taps[3] * from[x + 3] + taps[4] * from[x + 4];
}

static inline void block_separable(const float *from, float *to, ptrdiff_t width, ptrdiff_t height)
{
    float rows[TILE_Y + TAPS - 1][TILE_X];

    for (ptrdiff_t y = 0; y < height + TAPS - 1; y++)
        along_x(from + y * PITCH, rows[y], width);
    for (ptrdiff_t y = 0; y < height; y += ROWS) {
        ptrdiff_t last = smaller(height - y, ROWS);
        for (ptrdiff_t x = 0; x < width; x++)
            UNROLLED(ROWS)
            for (ptrdiff_t r = 0; r < last; r++) {
                float sum = 0.0f;
                UNROLLED(TAPS)
                for (int tap = 0; tap < TAPS; tap++)
                    sum += taps[tap] * rows[y + r + tap][x];
                to[(y + r) * W + x] = sum;
            }
    }
}

static inline void block_direct(const float *from, float *to, ptrdiff_t width, ptrdiff_t height)
{
    for (ptrdiff_t y = 0; y < height; y += ROWS) {
        ptrdiff_t last = smaller(height - y, ROWS);
        for (ptrdiff_t x = 0; x < width; x++)
            UNROLLED(ROWS)
            for (ptrdiff_t r = 0; r < last; r++) {
                float sum = 0.0f;
                UNROLLED(TAPS)
                for (int i = 0; i < TAPS; i++)
                    UNROLLED(TAPS)
                    for (int j = 0; j < TAPS; j++)
                        sum += taps[i] * taps[j] * from[(y + r + i) * PITCH + x + j];
                to[(y + r) * W + x] = sum;
            }
    }
}

void blur(const float *restrict image, float *restrict blurred)
{
    for (ptrdiff_t y = 0; y < H; y += TILE_Y)
        for (ptrdiff_t x = 0; x < W; x += TILE_X) {
            ptrdiff_t width = smaller(W - x, TILE_X), height = smaller(H - y, TILE_Y);
            const float *from = image + y * PITCH + x;
            float *to = blurred + y * W + x;
            if (SEPARABLE)
                block_separable(from, to, width, height);
            else
                block_direct(from, to, width, height);
        }
}
