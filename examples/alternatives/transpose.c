/*
 * b = the transpose of the N x N matrix a, in three ways (see transpose.toml):
 *
 *     transpose_rows      bands of ROWS rows of the source
 *     transpose_tiles     tiles of TILE_I x TILE_J elements
 *     transpose_halves    halves of halves, down to LEAF x LEAF elements: good for every cache
 *
 * The parameters of the other ways are macros here, too, with their first values.
 */
#include <stddef.h>

static size_t least(size_t x, size_t y)
{
    return x < y ? x : y;
}

/* Transposes the part of rows i to i_end and columns j to j_end of the source. */
static inline void part(const float *a, float *b, size_t i, size_t i_end, size_t j, size_t j_end)
{
#if ALONG_RESULT
    for (size_t column = j; column < j_end; column++)
        for (size_t row = i; row < i_end; row++)
            b[column * N + row] = a[row * N + column];
#else
    for (size_t row = i; row < i_end; row++)
        for (size_t column = j; column < j_end; column++)
            b[column * N + row] = a[row * N + column];
#endif
}

void transpose_rows(const float *a, float *b)
{
    for (size_t i = 0; i < N; i += ROWS)
        part(a, b, i, least(i + ROWS, N), 0, N);
}

void transpose_tiles(const float *a, float *b)
{
    for (size_t i = 0; i < N; i += TILE_I)
        for (size_t j = 0; j < N; j += TILE_J)
            part(a, b, i, least(i + TILE_I, N), j, least(j + TILE_J, N));
}

static void halve(const float *a, float *b, size_t i, size_t i_end, size_t j, size_t j_end)
{
    size_t rows = i_end - i, columns = j_end - j;

    if (rows <= LEAF && columns <= LEAF) {
        part(a, b, i, i_end, j, j_end);
    } else if (rows >= columns) {
        halve(a, b, i, i + rows / 2, j, j_end);
        halve(a, b, i + rows / 2, i_end, j, j_end);
    } else {
        halve(a, b, i, i_end, j, j + columns / 2);
        halve(a, b, i, i_end, j + columns / 2, j_end);
    }
}

void transpose_halves(const float *a, float *b)
{
    halve(a, b, 0, N, 0, N);
}
