/* b is a transposed. A block turns a tile of TILE x TILE elements; each thread moves COLUMNS neighbours in every ROWS-th row
 * of it. */
template <class T>
__global__ void transpose(const T *__restrict__ a, T *__restrict__ b)
{
    const int left = blockIdx.x * TILE, top = blockIdx.y * TILE;
    const int first = threadIdx.x * COLUMNS, row = threadIdx.y;
#if SHARED
    /* Rows are read and written in order; the turn happens in shared memory, whose size the problem file says. */
    extern __shared__ float tile[];
    for (int i = row; i < TILE; i += ROWS)
        for (int j = first; j < first + COLUMNS; j++)
            tile[i * (TILE + PADDING) + j] = a[(top + i) * N + left + j];
    __syncthreads();
    for (int i = row; i < TILE; i += ROWS)
        for (int j = first; j < first + COLUMNS; j++)
            b[(left + i) * N + top + j] = tile[j * (TILE + PADDING) + i];
#else
    for (int i = row; i < TILE; i += ROWS)
        for (int j = first; j < first + COLUMNS; j++)
            b[(left + j) * N + top + i] = a[(top + i) * N + left + j];
#endif
}
