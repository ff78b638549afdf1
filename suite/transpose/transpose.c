/*
 * Transposes a matrix for a processor: dst[x][y] = src[y][x], in tiles that the caches hold.
 *
 *   TILE_SIZE_X, _Y   columns and rows of a tile of src.
 *   VECTOR_TYPE       the tile is transposed in blocks of VECTOR_TYPE x VECTOR_TYPE, which the registers hold.
 *   CR                1: the blocks of a tile follow one another along the rows of src; 0: of dst.
 *   LOCAL_MEM         1: the transposed tile is written to a buffer first, and from there to dst in rows.
 *   PADD_LOCAL        1: a row of the buffer is a cache line longer, so that rows lie in different sets.
 */
#include <string.h>

enum { BUFFER_ROW = TILE_SIZE_Y + 16 * PADD_LOCAL };

/* Transposes a block: from rows `from_row` apart to rows `to_row` apart. */
static inline void block(const float *restrict from, long from_row, float *restrict to, long to_row)
{
    float part[VECTOR_TYPE][VECTOR_TYPE];

    for (int y = 0; y < VECTOR_TYPE; y++)
        for (int x = 0; x < VECTOR_TYPE; x++)
            part[x][y] = from[y * from_row + x];
    for (int x = 0; x < VECTOR_TYPE; x++)
        for (int y = 0; y < VECTOR_TYPE; y++)
            to[x * to_row + y] = part[x][y];
}

static inline void tile(const float *restrict from, float *restrict to, long to_row)
{
#if CR
    for (int y = 0; y < TILE_SIZE_Y; y += VECTOR_TYPE)
        for (int x = 0; x < TILE_SIZE_X; x += VECTOR_TYPE)
#else
    for (int x = 0; x < TILE_SIZE_X; x += VECTOR_TYPE)
        for (int y = 0; y < TILE_SIZE_Y; y += VECTOR_TYPE)
#endif
            block(&from[(long)y * W + x], W, &to[x * to_row + y], to_row);
}

void transpose(const float *restrict src, float *restrict dst)
{
    for (int y = 0; y < H; y += TILE_SIZE_Y)
        for (int x = 0; x < W; x += TILE_SIZE_X) {
            const float *from = &src[(long)y * W + x];
            float *to = &dst[(long)x * H + y];
#if LOCAL_MEM
            float buffer[TILE_SIZE_X * BUFFER_ROW] __attribute__((aligned(64)));

            tile(from, buffer, BUFFER_ROW);
            for (int i = 0; i < TILE_SIZE_X; i++)
                memcpy(&to[(long)i * H], &buffer[i * BUFFER_ROW], TILE_SIZE_Y * sizeof(float));
#else
            tile(from, to, H);
#endif
        }
}
