/* b is a transposed. A work-group turns a tile of TILE x TILE elements; each work-item moves COLUMNS neighbours in every
 * ROWS-th row of it. */
kernel void transpose(global const float *a, global float *b, local float *tile)
{
    const int left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
    const int first = get_local_id(0) * COLUMNS, row = get_local_id(1);
#if SCRATCH
    /* Rows are read and written in order; the turn happens in local memory. */
    for (int i = row; i < TILE; i += ROWS)
        for (int j = first; j < first + COLUMNS; j++)
            tile[i * (TILE + PADDING) + j] = a[(top + i) * N + left + j];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = row; i < TILE; i += ROWS)
        for (int j = first; j < first + COLUMNS; j++)
            b[(left + i) * N + top + j] = tile[j * (TILE + PADDING) + i];
#else
    for (int i = row; i < TILE; i += ROWS)
        for (int j = first; j < first + COLUMNS; j++)
            b[(left + j) * N + top + i] = a[(top + i) * N + left + j];
#endif
}
