/*
 * 2-D convolution in single precision on one core, with the parameters of CLTune's case study
 * (Nugteren and Codreanu, 2015, section V) in the sense that they have on a CPU:
 *
 *     output[y][x] = weight * sum over i, j of filter[i][j] * image[y + i][x + j]
 *
 * for Y x X outputs and a filter of FS x FS, FS = 2 * HFS + 1. The image comes with a border of HFS
 * pixels on each side, (Y + 2 HFS) x (X + 2 HFS) in all. X, Y, HFS (sizes) and the tuning
 * parameters (see conv2d-c.toml) are macros. What is a work-group in conv2d.cl is a tile here, in
 * which four work-items side by side run together as the lanes of a vector:
 *
 *   TBX, TBY        with WPTX and WPTY the tile, (TBX * WPTX) x (TBY * WPTY) outputs: the order in
 *                   which the image is passed over, and what is cached at a time.
 *   WPTX, WPTY      outputs per work-item, and thus the sums kept in registers, those of four
 *                   work-items: 4 * WPTX along x, WPTY along y.
 *   LOCAL           where a tile and its halo of 2 * HFS rows and columns are read:
 *                   0  in the image.
 *                   1  in a contiguous copy, made row by row.
 *                   2  in such a copy, made block by block as work-items do it: WPTX x WPTY each,
 *                      and extra ones for the halo.
 *   TBX_XL, TBY_XL  blocks copied along x and y: with the extra ones where LOCAL = 2, else TBX and
 *                   TBY. The constraints leave one value of each.
 *   VECTOR          floats in a vector, as in OpenCL per work-item: 4 * VECTOR in the sums, which
 *                   are those of four, VECTOR in the copy of a block.
 *   PADDING         floats added to a row of the copy: rows then start elsewhere in a cache line.
 *   UNROLL_FACTOR   unrolling of both loops over the filter: 1 not at all, FS completely.
 */
#include <stddef.h>
#include <string.h>

/*
 * Floats in a vector of sums. What is wider than the CPU's registers becomes several vectors
 * here, because gcc would take it apart into single floats.
 */
#if defined(__AVX512F__)
#define WIDEST 16
#elif defined(__AVX__)
#define WIDEST 8
#else
#define WIDEST 4
#endif
#define TOGETHER 4 /* work-items */
#define LANES (TOGETHER * VECTOR < WIDEST ? TOGETHER * VECTOR : WIDEST)

/* Vectors where they lie in memory: aligned as floats only, as the filter shifts them by a pixel. */
typedef float vec __attribute__((vector_size(LANES * sizeof(float))));
typedef float vec_in_memory
    __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));

/* Both compilers unroll the loop that follows by n, or completely if it has no more than n steps. */
#define PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define UNROLLED(n) PRAGMA(clang loop unroll_count(n))
#else
#define UNROLLED(n) PRAGMA(GCC unroll n)
#endif

enum {
    FS = 2 * HFS + 1,
    IMAGE_ROW = X + 2 * HFS,

    TILE_X = TBX * WPTX, /* outputs of a tile */
    TILE_Y = TBY * WPTY,
    CACHED_X = TILE_X + 2 * HFS, /* pixels that they depend on */
    CACHED_Y = TILE_Y + 2 * HFS,
    CACHED_ROW = CACHED_X + PADDING,

    SOURCE_ROW = LOCAL ? CACHED_ROW : IMAGE_ROW,

    BLOCK_X = TOGETHER * WPTX, /* sums in registers along x; along y it is WPTY */
    VECTORS = BLOCK_X / LANES,
};

/* LOCAL = 1. */
static inline void cache_rows(float *restrict cache, const float *restrict tile)
{
    for (size_t y = 0; y < CACHED_Y; y++)
        memcpy(&cache[y * CACHED_ROW], &tile[y * IMAGE_ROW], CACHED_X * sizeof(float));
}

/* LOCAL = 2, one work-item: the last blocks may reach beyond the halo, but not part of a vector. */
static inline void cache_block(float *restrict cache, const float *restrict tile, size_t first_x,
                               size_t first_y)
{
    UNROLLED(WPTY)
    for (size_t y = first_y; y < first_y + WPTY; y++)
        UNROLLED(WPTX)
        for (size_t x = first_x; x < first_x + WPTX; x += VECTOR)
            if (x < CACHED_X && y < CACHED_Y)
                memcpy(&cache[y * CACHED_ROW + x], &tile[y * IMAGE_ROW + x],
                       VECTOR * sizeof(float));
}

/* LOCAL = 2: the work-items and the extra ones for the halo. */
static inline void cache_blocks(float *restrict cache, const float *restrict tile)
{
    for (size_t y = 0; y < TBY_XL; y++)
        for (size_t x = 0; x < TBX_XL; x++)
            cache_block(cache, tile, x * WPTX, y * WPTY);
}

/*
 * BLOCK_X x WPTY outputs; the top left one depends on the pixels from `from` on. The loops over
 * the block have constant bounds and are unrolled completely, so that each sum is a register.
 */
static inline void convolve_block(const float *restrict from, const float *restrict filter,
                                  float *restrict to, float weight)
{
    vec sum[WPTY][VECTORS];

    UNROLLED(WPTY)
    for (size_t y = 0; y < WPTY; y++)
        UNROLLED(VECTORS)
        for (size_t x = 0; x < VECTORS; x++)
            sum[y][x] = (vec){0};

    UNROLLED(UNROLL_FACTOR)
    for (size_t i = 0; i < FS; i++)
        UNROLLED(UNROLL_FACTOR)
        for (size_t j = 0; j < FS; j++) {
            const float coefficient = filter[i * FS + j];

            UNROLLED(WPTY)
            for (size_t y = 0; y < WPTY; y++) {
                const vec_in_memory *row =
                    (const vec_in_memory *)(from + (y + i) * SOURCE_ROW + j);

                UNROLLED(VECTORS)
                for (size_t x = 0; x < VECTORS; x++)
                    sum[y][x] += coefficient * row[x];
            }
        }

    UNROLLED(WPTY)
    for (size_t y = 0; y < WPTY; y++) {
        vec_in_memory *row = (vec_in_memory *)(to + y * X);

        UNROLLED(VECTORS)
        for (size_t x = 0; x < VECTORS; x++)
            row[x] = weight * sum[y][x];
    }
}

/* All outputs of a tile. */
static inline void convolve_tile(const float *source, const float *filter, float *output,
                                 float weight)
{
    for (size_t y = 0; y < TILE_Y; y += WPTY)
        for (size_t x = 0; x < TILE_X; x += BLOCK_X)
            convolve_block(source + y * SOURCE_ROW + x, filter, output + y * X + x, weight);
}

void conv2d(const float *image, const float *filter, float *output, float weight)
{
    /* Aligned to a cache line, which is also the widest vector. */
    static float cache[LOCAL ? CACHED_Y * CACHED_ROW : 1] __attribute__((aligned(64)));

    for (size_t y = 0; y < Y; y += TILE_Y)
        for (size_t x = 0; x < X; x += TILE_X) {
            const float *tile = image + y * IMAGE_ROW + x;

            if (LOCAL == 1)
                cache_rows(cache, tile);
            if (LOCAL == 2)
                cache_blocks(cache, tile);
            convolve_tile(LOCAL ? cache : tile, filter, output + y * X + x, weight);
        }
}
