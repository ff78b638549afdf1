/*
 * Transposes a matrix of H rows and W columns: dst[x][y] = src[y][x] for x < W, y < H. W, H (sizes) and
 * the tuning parameters are macros. One source for OpenCL and CUDA.
 *
 *   WORK_GROUP_SIZE_X, _Y   the work-group.
 *   TILE_SIZE_X, _Y         the tile that it transposes, in vectors and rows. A work-item takes every
 *                           WORK_GROUP_SIZE_Y-th row; the work-group is as wide as the tile.
 *   VECTOR_TYPE             floats in a vector: those that a work-item loads (CR = 1) or stores (CR = 0) at once.
 *   CR                      1: the tile's rows lie in rows of src, and the reads are coalesced;
 *                           0: they lie in rows of dst, and the writes are.
 *   LOCAL_MEM               1: the tile passes through local memory, so that both are. The work-items
 *                           then stand in rows of the tile on one side and in its columns on the other.
 *   PADD_LOCAL              floats added to a row of local memory, against bank conflicts.
 *   DIAGONAL_MAP            1: consecutive work-groups take the tiles of a diagonal, so that they do not
 *                           all meet in the same partition of the memory.
 *   PREFETCH                1: a work-item asks for all that it will read before it reads;
 *                           2: for its next elements while it reads these (OpenCL).
 */
#include "../common/one_source.h"

enum {
    TILE_X = TILE_SIZE_X * VECTOR_TYPE, /* elements of a tile */
    TILE_Y = TILE_SIZE_Y,
    ITEMS = WORK_GROUP_SIZE_X * WORK_GROUP_SIZE_Y,
    COLUMNS = ITEMS / TILE_Y, /* columns of a tile that the work-items cover, standing in them */
    ROW = TILE_X + PADD_LOCAL, /* of local memory */
};

typedef VECTOR(float, VECTOR_TYPE) vec;

typedef union {
    vec vector;
    float each[VECTOR_TYPE];
} parts;

/* The place of element (x, y), where x runs along the rows of a tile. */
#if CR
#define SRC(x, y) (&src[(size_t)(y) * W + (x)])
#define DST(x, y) (&dst[(size_t)(x) * H + (y)])
#else
#define SRC(x, y) (&src[(size_t)(x) * W + (y)])
#define DST(x, y) (&dst[(size_t)(y) * H + (x)])
#endif

/* Asks for the vector of a row of the tile, which lies in one row of src or in one column. */
#if CR
#define ASK(x, y) prefetch(SRC(x, y), VECTOR_TYPE)
#else
#define ASK(x, y)                           \
    for (int v = 0; v < VECTOR_TYPE; v++) \
        prefetch(SRC(x + v, y), 1)
#endif

#if !LOCAL_MEM
/* Copies the vector at (x, y). */
FUNCTION void copy(__global const float *restrict src, __global float *restrict dst, const int x, const int y)
{
    parts part;
#if CR
    part.vector = *(__global const vec *)SRC(x, y);
    #pragma unroll
    for (int v = 0; v < VECTOR_TYPE; v++)
        *DST(x + v, y) = part.each[v];
#else
    #pragma unroll
    for (int v = 0; v < VECTOR_TYPE; v++)
        part.each[v] = *SRC(x + v, y);
    *(__global vec *)DST(x, y) = part.vector;
#endif
}
#endif

__kernel WORK_GROUP(WORK_GROUP_SIZE_X, WORK_GROUP_SIZE_Y, 1)
void transpose(__global const float *restrict src, __global float *restrict dst)
{
    const int own_x = get_local_id(0), own_y = get_local_id(1);

#if DIAGONAL_MAP
    /* Numbers the work-groups along the diagonals: the next one lies a row below and a column to the right. */
    const int group = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    const int group_y = group % get_num_groups(1);
    const int group_x = (group / get_num_groups(1) + group_y) % get_num_groups(0);
#else
    const int group_x = get_group_id(0), group_y = get_group_id(1);
#endif
    const int tile_x = group_x * TILE_X, tile_y = group_y * TILE_Y;

#if !LOCAL_MEM
    const int x = tile_x + own_x * VECTOR_TYPE, y = tile_y + own_y;

#if PREFETCH == 1
    for (int i = 0; i < TILE_Y; i += WORK_GROUP_SIZE_Y)
        ASK(x, y + i);
#endif
    for (int i = 0; i < TILE_Y; i += WORK_GROUP_SIZE_Y) {
#if PREFETCH == 2
        if (i + WORK_GROUP_SIZE_Y < TILE_Y)
            ASK(x, y + i + WORK_GROUP_SIZE_Y);
#endif
        copy(src, dst, x, y + i);
    }
#else
    __local float tile[TILE_Y][ROW];

    /* The work-items as they stand in columns: TILE_Y along a column, COLUMNS columns. */
    const int item = own_y * WORK_GROUP_SIZE_X + own_x;
    const int column_y = item % TILE_Y, column_x = item / TILE_Y;

    /* Elements that follow one another in src: those of a row of the tile (CR = 1) or of a column. */
#if CR
#define STEPS TILE_Y
#define STEP WORK_GROUP_SIZE_Y
#define FROM_X(i) own_x
#define FROM_Y(i) (own_y + (i))
#else
#define STEPS TILE_X
#define STEP COLUMNS
#define FROM_X(i) (column_x + (i))
#define FROM_Y(i) column_y
#endif

#if PREFETCH == 1
    for (int i = 0; i < STEPS; i += STEP)
        prefetch(SRC(tile_x + FROM_X(i), tile_y + FROM_Y(i)), 1);
#endif
    for (int i = 0; i < STEPS; i += STEP) {
#if PREFETCH == 2
        if (i + STEP < STEPS)
            prefetch(SRC(tile_x + FROM_X(i + STEP), tile_y + FROM_Y(i + STEP)), 1);
#endif
        tile[FROM_Y(i)][FROM_X(i)] = *SRC(tile_x + FROM_X(i), tile_y + FROM_Y(i));
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    /* Those that follow one another in dst: the other way round. */
#if CR
    for (int i = column_x; i < TILE_X; i += COLUMNS)
        *DST(tile_x + i, tile_y + column_y) = tile[column_y][i];
#else
    for (int i = own_y; i < TILE_Y; i += WORK_GROUP_SIZE_Y)
        *DST(tile_x + own_x, tile_y + i) = tile[i][own_x];
#endif
#endif
}
