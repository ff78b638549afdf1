/*
 * Filterbank correlation in single precision, on one core:
 *
 *     z[r][c][k] = sum over h, w, d of x[r + h][c + w][d] * f[k][h][w][d]
 *
 * for an image x of R x C pixels with D channels and F filters of H x W pixels. Sizes and
 * parameters (see filterbank.toml) are macros. What a GPU does in parallel happens here thus:
 * the columns of a block are the lanes of vectors, its channels z are sums in registers.
 *
 *     pack the filters in the order of use                         pack_filters
 *     for each block of block_h x block_w outputs
 *         copy its part of the image, a plane per channel          copy_tile
 *         for each pass: OUTPUTS filters, ROWS of their rows
 *             for each SUMS filters x VECTORS vectors of columns   correlate
 *                 sum[SUMS][VECTORS] += filter * columns
 */
#include <stddef.h>
#include <string.h>

#define SMALLER(a, b) ((a) < (b) ? (a) : (b))
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

#if defined(__AVX512F__)
#define WIDEST 16
#define REGISTERS 32
#elif defined(__AVX__)
#define WIDEST 8
#define REGISTERS 16
#else
#define WIDEST 4
#define REGISTERS 32
#endif
#define LANES SMALLER(block_w, WIDEST)

/* A vector of columns, and the same in memory, where it is only aligned as its floats are. */
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

/* The filters of a pass, and the rows of them: all where they fit in half of a first-level cache of 32 KiB. */
#define OUTPUTS (n_output_4s == 0 ? F : SMALLER(4 * n_output_4s, F))
#define CONSTANT_MEMORY 16384
#define ROWS (4 * OUTPUTS * H * W * D <= CONSTANT_MEMORY ? H : SMALLER(n_filter_rows, H))

/* The register tile. Two registers are for the columns and a coefficient; limits below those of the device count. */
#define BUDGET LARGER(SMALLER(maxrreg, REGISTERS) - 2, 1)
#define SUMS SMALLER(OUTPUTS, BUDGET)
#define VECTORS_THAT_FIT LARGER(BUDGET / SUMS, 1)
#define VECTORS_OF_A_BLOCK (block_w / LANES)
#define VECTORS (VECTORS_THAT_FIT >= 4 && VECTORS_OF_A_BLOCK >= 4   ? 4 \
                 : VECTORS_THAT_FIT >= 2 && VECTORS_OF_A_BLOCK >= 2 ? 2 \
                                                                    : 1)

enum {
    ROWS_OUT = R - H + 1,
    COLUMNS_OUT = C - W + 1,
    STEP = VECTORS * LANES, /* columns of the register tile */

    /* From one row of a plane of the copy to the next; padded, every row begins a cache line. */
    TILE_COLUMNS = block_w + W - 1,
    TILE_ROW = pad_shared ? CEIL_DIV(TILE_COLUMNS, 16) * 16 : TILE_COLUMNS,
    TILE_ROWS = block_h + H - 1,
};

/* One block: where its outputs begin, and how many of its rows and columns the image has. */
struct block {
    size_t row, column, rows, columns;
};

static float tile[TILE_ROWS * D * TILE_ROW] __attribute__((aligned(64)));
static float filters[F * H * D * W] __attribute__((aligned(64)));
/* With spill, the sums of a block between two passes: a vector per filter and LANES columns. */
static float sums_of_block[spill ? block_h * block_w * OUTPUTS : 1] __attribute__((aligned(64)));

/* How many of the filters from `first` on, before `end`, are taken together: SUMS of them, at the end one by one. */
static inline size_t together(size_t first, size_t end)
{
    return end - first >= SUMS ? SUMS : 1;
}

/* filters[first filter of those taken together][h][d][w][filter]: the order in which correlate reads them. */
static void pack_filters(const float *restrict f)
{
    for (size_t first = 0; first < F; first += OUTPUTS) {
        const size_t end = SMALLER(first + OUTPUTS, F);

        for (size_t k = first, count; k < end; k += count) {
            float *to = &filters[k * H * D * W];

            count = together(k, end);
            for (size_t h = 0; h < H; h++)
                for (size_t d = 0; d < D; d++)
                    for (size_t w = 0; w < W; w++)
                        for (size_t n = 0; n < count; n++)
                            *to++ = f[(((k + n) * H + h) * W + w) * D + d];
        }
    }
}

/* tile[row][d][column]: the image under a block. Columns that no output of the image needs keep what they held. */
static void copy_tile(const float *restrict x, const struct block *block)
{
    const size_t columns = block->columns + W - 1;

    for (size_t row = 0; row < block->rows + H - 1; row++) {
        const float *from = &x[((block->row + row) * C + block->column) * D];
        float *to = &tile[row * D * TILE_ROW];

        for (size_t d = 0; d < D; d++)
            for (size_t column = 0; column < columns; column++)
                to[d * TILE_ROW + column] = from[column * D + d];
    }
}

/*
 * Adds to, or begins, the sums of `count` filters at `columns` outputs in a row of z, which lie F apart.
 * A vector has them column by column, z filter by filter.
 */
static inline __attribute__((always_inline)) void put(const vec *sum, const size_t count, float *z,
                                                      size_t columns, int begin)
{
    float transposed[STEP][count];

    UNROLLED(32)
    for (size_t n = 0; n < count; n++)
        UNROLLED(4)
        for (size_t v = 0; v < VECTORS; v++)
            UNROLLED(WIDEST)
            for (size_t lane = 0; lane < LANES; lane++)
                transposed[v * LANES + lane][n] = sum[n * VECTORS + v][lane];
    for (size_t column = 0; column < columns; column++)
        UNROLLED(32)
        for (size_t n = 0; n < count; n++)
            z[column * F + n] = transposed[column][n] + (begin ? 0.0f : z[column * F + n]);
}

/*
 * The register tile: `count` filters, a constant, of which `rows` rows begin at `filter`, with the STEP columns
 * that begin at `image`. `between` holds the sums between passes where there is spill.
 */
static inline __attribute__((always_inline)) void correlate(const float *restrict image,
                                                            const float *restrict filter,
                                                            const size_t count, size_t rows,
                                                            float *restrict between, float *restrict z,
                                                            size_t columns, int first, int last)
{
    vec sum[count * VECTORS];
    vec *stored = (vec *)between;

    UNROLLED(128)
    for (size_t i = 0; i < count * VECTORS; i++)
        sum[i] = (vec){0};
    if (spill && !first)
        UNROLLED(128)
        for (size_t i = 0; i < count * VECTORS; i++)
            sum[i] = stored[i];

    for (size_t line = 0; line < rows * D; line++, image += TILE_ROW)
        UNROLLED(1)
        for (size_t w = 0; w < W; w++, filter += count)
            UNROLLED(4)
            for (size_t v = 0; v < VECTORS; v++) {
                vec columns_of_image = *(const vec_in_memory *)(image + w + v * LANES);

                UNROLLED(32)
                for (size_t n = 0; n < count; n++)
                    sum[n * VECTORS + v] += filter[n] * columns_of_image;
            }

    if (!spill || last)
        put(sum, count, z, columns, spill || first);
    else
        UNROLLED(128)
        for (size_t i = 0; i < count * VECTORS; i++)
            stored[i] = sum[i];
}

/* One pass over a block: the filters from `k` to `end`, their rows from `h` on. */
static void pass(float *z, const struct block *block, size_t k, size_t end, size_t h)
{
    const size_t rows = SMALLER(ROWS, H - h);
    const int first = h == 0, last = h + rows == H;
    float *between = sums_of_block;

    for (size_t count; k < end; k += count) {
        const float *filter = &filters[k * H * D * W];

        count = together(k, end);
        for (size_t row = 0; row < block->rows; row++)
            for (size_t column = 0; column < block->columns; column += STEP) {
                const float *image = &tile[(row + h) * D * TILE_ROW + column];
                const size_t columns = SMALLER(STEP, block->columns - column);
                float *out = &z[((block->row + row) * COLUMNS_OUT + block->column + column) * F + k];

                if (count == SUMS)
                    correlate(image, filter + h * D * W * SUMS, SUMS, rows, between, out, columns, first, last);
                else
                    correlate(image, filter + h * D * W, 1, rows, between, out, columns, first, last);
                between += spill ? count * STEP : 0;
            }
    }
}

void filterbank(const float *x, const float *f, float *z)
{
    struct block block;

    pack_filters(f);
    for (block.row = 0; block.row < ROWS_OUT; block.row += block_h)
        for (block.column = 0; block.column < COLUMNS_OUT; block.column += block_w) {
            block.rows = SMALLER(block_h, ROWS_OUT - block.row);
            block.columns = SMALLER(block_w, COLUMNS_OUT - block.column);
            copy_tile(x, &block);
            for (size_t k = 0; k < F; k += OUTPUTS)
                for (size_t h = 0; h < H; h += ROWS)
                    pass(z, &block, k, SMALLER(k + OUTPUTS, F), h);
        }
}
