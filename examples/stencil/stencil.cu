/*
 * A Jacobi sweep of the 7-point heat equation on an NX x NY x NZ grid in single precision: every cell becomes centre * itself +
 * side * the sum of its six neighbours. Two of them are launched, from u to v and from v to w.
 *
 * Grids are row-major, x fastest, with a halo of one cell on each side (cells 0 and N + 1), which keeps its values. Sizes and
 * tuning parameters (see stencil-cuda.toml) are macros.
 *
 * A block of BX x BY threads marches along z through DEPTH planes; each thread does COLUMNS cells side by side, BX apart, in
 * each of ROWS rows, BY apart. What a cell was one plane below it keeps in registers.
 *
 *   SHARED   0  neighbours within the plane are read from global memory, where the cache has them.
 *            1  the block keeps its part of the plane with its halo in shared memory.
 *   UNROLL   unrolling of the march.
 *
 * The shape of the block is an argument of the template, as an example of a kernel that C++ names with arguments.
 */
enum {
    TILE_X = BX * COLUMNS,
    TILE_Y = BY * ROWS,
    GRID_Y = NX + 2,              /* cells from a row to the next */
    GRID_Z = (NX + 2) * (NY + 2), /* and from a plane to the next */

    SHARED_X = TILE_X + 2,
    SHARED_Y = TILE_Y + 2,
};

/* The block's part of a plane with its halo; edges and corners, which nobody needs, included. */
template <int WIDTH, int HEIGHT> __device__ __forceinline__ void fill(float *tile, const float *plane)
{
    for (int y = threadIdx.y; y < SHARED_Y; y += HEIGHT)
        for (int x = threadIdx.x; x < SHARED_X; x += WIDTH)
            tile[y * SHARED_X + x] = plane[y * GRID_Y + x];
}

template <int WIDTH, int HEIGHT>
__global__ void __launch_bounds__(WIDTH * HEIGHT)
sweep(const float *__restrict__ from, float *__restrict__ to, float centre, float side)
{
#if SHARED
    __shared__ float tile[SHARED_Y * SHARED_X];
    const float *plane = &tile[(threadIdx.y + 1) * SHARED_X + threadIdx.x + 1];
    const int next_y = SHARED_X;
#else
    const float *plane;
    const int next_y = GRID_Y;
#endif
    const int first_z = blockIdx.z * DEPTH + 1;
    const int corner = first_z * GRID_Z + blockIdx.y * TILE_Y * GRID_Y + blockIdx.x * TILE_X;
    const int own = corner + (threadIdx.y + 1) * GRID_Y + threadIdx.x + 1;
    float below[ROWS][COLUMNS], here[ROWS][COLUMNS];

#pragma unroll
    for (int row = 0; row < ROWS; row++)
#pragma unroll
        for (int column = 0; column < COLUMNS; column++) {
            const int at = own + row * HEIGHT * GRID_Y + column * WIDTH;
            below[row][column] = from[at - GRID_Z];
            here[row][column] = from[at];
        }

#pragma unroll UNROLL
    for (int z = 0; z < DEPTH; z++) {
#if SHARED
        __syncthreads();
        fill<WIDTH, HEIGHT>(tile, &from[corner + z * GRID_Z]);
        __syncthreads();
#else
        plane = &from[own + z * GRID_Z];
#endif
#pragma unroll
        for (int row = 0; row < ROWS; row++)
#pragma unroll
            for (int column = 0; column < COLUMNS; column++) {
                const int in_grid = own + z * GRID_Z + row * HEIGHT * GRID_Y + column * WIDTH;
                const float *cell = &plane[row * HEIGHT * next_y + column * WIDTH];
                const float above = from[in_grid + GRID_Z];
                const float sum = cell[-1] + cell[1] + cell[-next_y] + cell[next_y] + below[row][column] + above;

                to[in_grid] = centre * here[row][column] + side * sum;
                below[row][column] = here[row][column];
                here[row][column] = above;
            }
    }
}

/* The halo keeps its values: cells that no sweep writes. */
extern "C" __global__ void copy_halo(const float *__restrict__ u, float *__restrict__ v, float *__restrict__ w)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;

    if (x > NX + 1 || (x > 0 && x <= NX && y > 0 && y <= NY && z > 0 && z <= NZ))
        return;
    const int at = z * GRID_Z + y * GRID_Y + x;
    v[at] = w[at] = u[at];
}
