// b = a transposed, N x N, in tiles of TILE_I rows and TILE_J columns that stay in the cache.

#define PRAGMA(text) _Pragma(#text)
#define UNROLLED(factor) PRAGMA(GCC unroll factor)

static void transpose_tile(const float *a, float *b, int row, int column)
{
#if ROWS_FIRST
    for (int i = row; i < row + TILE_I; ++i)
        UNROLLED(UNROLL)
        for (int j = column; j < column + TILE_J; ++j)
            b[j * N + i] = a[i * N + j];
#else
    for (int j = column; j < column + TILE_J; ++j)
        UNROLLED(UNROLL)
        for (int i = row; i < row + TILE_I; ++i)
            b[j * N + i] = a[i * N + j];
#endif
}

void transpose(const float *a, float *b)
{
    for (int row = 0; row < N; row += TILE_I)
        for (int column = 0; column < N; column += TILE_J)
            transpose_tile(a, b, row, column);
}
