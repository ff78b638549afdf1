/* The same with a macro for every choice: the tiles, the order of the loops, the unrolling, and whether the border is
 * peeled off. Without macros these are the plain loops. */
#ifndef TILE_X
#define TILE_X W
#define TILE_Y H
#define ROWS_OUTSIDE 0
#define UNROLL 1
#define PEEL 0
#endif
#define PRAGMA(text) _Pragma(#text)
#define UNROLLED(factor) PRAGMA(GCC unroll factor)
static inline float mean(const float *in, int at)
{
    return (in[at] + in[at - 1] + in[at + 1] + in[at - W] + in[at + W]) / 5;
}
static inline void pixel(const float *in, float *out, int x, int y)
{
    int at = y * W + x;
#if PEEL
    out[at] = mean(in, at);
#else
    out[at] = x == 0 || y == 0 || x == W - 1 || y == H - 1 ? in[at] : mean(in, at);
#endif
}
void smooth(const float *in, float *out)
{
#if PEEL
    for (int x = 0; x < W; ++x) out[x] = in[x], out[(H - 1) * W + x] = in[(H - 1) * W + x];
    for (int y = 0; y < H; ++y) out[y * W] = in[y * W], out[y * W + W - 1] = in[y * W + W - 1];
#endif
    for (int x0 = PEEL; x0 < W - PEEL; x0 += TILE_X)
        for (int y0 = PEEL; y0 < H - PEEL; y0 += TILE_Y) {
            int x1 = x0 + TILE_X < W - PEEL ? x0 + TILE_X : W - PEEL, y1 = y0 + TILE_Y < H - PEEL ? y0 + TILE_Y : H - PEEL;
#if ROWS_OUTSIDE
            for (int y = y0; y < y1; ++y)
                UNROLLED(UNROLL)
                for (int x = x0; x < x1; ++x) pixel(in, out, x, y);
#else
            for (int x = x0; x < x1; ++x)
                UNROLLED(UNROLL)
                for (int y = y0; y < y1; ++y) pixel(in, out, x, y);
#endif
        }
}
