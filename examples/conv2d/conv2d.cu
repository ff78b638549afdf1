/*
 * 2-D convolution in single precision, the first case study of CLTune (Nugteren and Codreanu,
 * "CLTune: A Generic Auto-Tuner for OpenCL Kernels", 2015, section V):
 *
 *     output[y][x] = weight * sum over i, j of filter[i][j] * image[y + i][x + j]
 *
 * for Y x X outputs and a filter of FS x FS, FS = 2 * HFS + 1. The image comes with a border of HFS
 * pixels on each side, (Y + 2 HFS) x (X + 2 HFS) in all, so that image[y][x] is the top left of
 * what output[y][x] depends on. X, Y, HFS (sizes) and the tuning parameters are macros. The filter
 * is a variable in constant memory.
 *
 * The parameters are those of the paper's list in section V-A; its names are in parentheses.
 *
 *   TBX, TBY        (Xwg, Ywg) threads along x and y that compute.
 *   WPTX, WPTY      (Xwpt, Ywpt) outputs per thread: a block of WPTX x WPTY of them. A block of
 *                   threads computes a tile of (TBX * WPTX) x (TBY * WPTY).
 *   LOCAL           (L$) caching of the tile and its halo of 2 * HFS rows and columns:
 *                   0  by the hardware only.
 *                   1  in shared memory. The TBX x TBY threads sweep over tile and halo, each
 *                      reading the pixel at its own place, then at a block's width from there.
 *                   2  in shared memory, by more threads: the block is enlarged by as many as
 *                      cover the halo, every one reads WPTX x WPTY pixels, and the extra ones
 *                      then rest.
 *   TBX_XL, TBY_XL  the block as launched: with the extra ones where LOCAL = 2, else TBX and TBY.
 *                   The constraints leave one value of each.
 *   VECTOR          (VW) floats in a vector: of the stores of outputs, and of the image's loads
 *                   where LOCAL = 2. CUDA's vectors are aligned to their size, which the
 *                   constraints see to there; loads that the filter shifts are of single floats.
 *   PADDING         (PAD) floats added to a row of shared memory, against bank conflicts.
 *   UNROLL_FACTOR   (UNR) unrolling of both loops over the filter: 1 not at all, FS completely.
 */
enum {
    FS = 2 * HFS + 1,
    IMAGE_X = X + 2 * HFS,

    TILE_X = TBX * WPTX, /* outputs of a block */
    TILE_Y = TBY * WPTY,
    CACHED_X = TILE_X + 2 * HFS, /* pixels that they depend on */
    CACHED_Y = TILE_Y + 2 * HFS,
    CACHED_ROW = CACHED_X + PADDING,

    SOURCE_ROW = LOCAL == 0 ? IMAGE_X : CACHED_ROW, /* of what the sums are computed from */
};

__constant__ float filter[FS * FS];

/* VECTOR floats, aligned as CUDA's own vectors are, so that they are loaded and stored at once. */
struct __align__(VECTOR * 4) vector_t {
    float each[VECTOR];
};

/* LOCAL = 1: pixel by pixel. */
__device__ __forceinline__ void cache_pixels(float *cache, const float *tile)
{
    for (int y = threadIdx.y; y < CACHED_Y; y += TBY)
        for (int x = threadIdx.x; x < CACHED_X; x += TBX)
            cache[y * CACHED_ROW + x] = tile[y * IMAGE_X + x];
}

/* LOCAL = 2: one block per thread, in vectors; the last blocks may reach beyond the halo. */
__device__ __forceinline__ void cache_block(float *cache, const float *tile)
{
#pragma unroll
    for (int own_y = 0; own_y < WPTY; own_y++)
#pragma unroll
        for (int own_x = 0; own_x < WPTX; own_x += VECTOR) {
            const int x = threadIdx.x * WPTX + own_x;
            const int y = threadIdx.y * WPTY + own_y;
            if (x < CACHED_X && y < CACHED_Y) {
                const vector_t pixels = *(const vector_t *)&tile[y * IMAGE_X + x];
#pragma unroll
                for (int e = 0; e < VECTOR; e++)
                    cache[y * CACHED_ROW + x + e] = pixels.each[e];
            }
        }
}

/* The block of outputs whose top left depends on the pixels from `from` on. */
__device__ __forceinline__ void convolve_block(const float *from, float *to, float weight)
{
    float sum[WPTY][WPTX];

#pragma unroll
    for (int y = 0; y < WPTY; y++)
#pragma unroll
        for (int x = 0; x < WPTX; x++)
            sum[y][x] = 0.0f;

#pragma unroll UNROLL_FACTOR
    for (int i = 0; i < FS; i++)
#pragma unroll UNROLL_FACTOR
        for (int j = 0; j < FS; j++) {
            const float coefficient = filter[i * FS + j];

#pragma unroll
            for (int y = 0; y < WPTY; y++)
#pragma unroll
                for (int x = 0; x < WPTX; x++)
                    sum[y][x] += coefficient * from[(y + i) * SOURCE_ROW + x + j];
        }

#pragma unroll
    for (int y = 0; y < WPTY; y++)
#pragma unroll
        for (int x = 0; x < WPTX; x += VECTOR) {
            vector_t outputs;
#pragma unroll
            for (int e = 0; e < VECTOR; e++)
                outputs.each[e] = weight * sum[y][x + e];
            *(vector_t *)&to[y * X + x] = outputs;
        }
}

extern "C" __global__ void __launch_bounds__(TBX_XL * TBY_XL)
conv2d(const float *__restrict__ image, float *__restrict__ output, float weight)
{
    const int tile_x = blockIdx.x * TILE_X, tile_y = blockIdx.y * TILE_Y;
    const int own_x = threadIdx.x * WPTX, own_y = threadIdx.y * WPTY;
    const float *tile = &image[tile_y * IMAGE_X + tile_x];
    float *to = &output[(tile_y + own_y) * X + tile_x + own_x];

#if LOCAL == 0
    convolve_block(&tile[own_y * IMAGE_X + own_x], to, weight);
#else
    __shared__ float cache[CACHED_Y * CACHED_ROW];

    if (LOCAL == 1)
        cache_pixels(cache, tile);
    else
        cache_block(cache, tile);
    __syncthreads();

    /* The extra threads rest. */
    if (threadIdx.x < TBX && threadIdx.y < TBY)
        convolve_block(&cache[own_y * CACHED_ROW + own_x], to, weight);
#endif
}
