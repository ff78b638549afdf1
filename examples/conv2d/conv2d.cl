/*
 * 2-D convolution in single precision, the first case study of CLTune (Nugteren and Codreanu,
 * "CLTune: A Generic Auto-Tuner for OpenCL Kernels", 2015, section V):
 *
 *     output[y][x] = weight * sum over i, j of filter[i][j] * image[y + i][x + j]
 *
 * for Y x X outputs and a filter of FS x FS, FS = 2 * HFS + 1. The image comes with a border of HFS
 * pixels on each side, (Y + 2 HFS) x (X + 2 HFS) in all, so that image[y][x] is the top left of
 * what output[y][x] depends on. X, Y, HFS (sizes) and the tuning parameters are macros.
 *
 * The parameters are those of the paper's list in section V-A; its names are in parentheses.
 *
 *   TBX, TBY        (Xwg, Ywg) work-items along x and y that compute.
 *   WPTX, WPTY      (Xwpt, Ywpt) outputs per work-item: a block of WPTX x WPTY of them. A work-group
 *                   computes a tile of (TBX * WPTX) x (TBY * WPTY).
 *   LOCAL           (L$) caching of the tile and its halo of 2 * HFS rows and columns:
 *                   0  by the hardware only.
 *                   1  in local memory. The TBX x TBY work-items sweep over tile and halo, each
 *                      reading the pixel at its own place, then at a work-group's width from there.
 *                   2  in local memory, by more work-items: the work-group is enlarged by as many as
 *                      cover the halo, every one reads one block of WPTX x WPTY, and the extra
 *                      ones then rest.
 *   TBX_XL, TBY_XL  the work-group as launched: with the extra ones where LOCAL = 2, else TBX and TBY.
 *                   The constraints leave one value of each.
 *   VECTOR          (VW) floats in a vector: of the sums and their stores, and of the image's loads
 *                   where LOCAL = 2.
 *   PADDING         (PAD) floats added to a row of local memory, against bank conflicts.
 *   UNROLL_FACTOR   (UNR) unrolling of both loops over the filter: 1 not at all, FS completely.
 */
enum {
    FS = 2 * HFS + 1,
    IMAGE_X = X + 2 * HFS,

    TILE_X = TBX * WPTX, /* outputs of a work-group */
    TILE_Y = TBY * WPTY,
    CACHED_X = TILE_X + 2 * HFS, /* pixels that they depend on */
    CACHED_Y = TILE_Y + 2 * HFS,
    CACHED_ROW = CACHED_X + PADDING,

    OWN_X = WPTX / VECTOR, /* vectors in a row of a work-item's block */
};

/* Vectors in memory are aligned as floats only: the filter shifts them by one pixel at a time. */
#define JOIN_TEXT(a, b) a##b
#define JOIN(a, b) JOIN_TEXT(a, b)

#if VECTOR == 1
typedef float vec;
#define LOAD(from) (*(from))
#define STORE(value, to) (*(to) = (value))
#else
typedef JOIN(float, VECTOR) vec;
#define LOAD(from) JOIN(vload, VECTOR)(0, from)
#define STORE(value, to) JOIN(vstore, VECTOR)(value, 0, to)
#endif

/* What the sums are computed from: the image, or its copy in local memory. */
#if LOCAL == 0
typedef __global const float source;
enum { SOURCE_ROW = IMAGE_X };
#else
typedef __local const float source;
enum { SOURCE_ROW = CACHED_ROW };
#endif

/* LOCAL = 1: pixel by pixel. */
static void cache_pixels(__local float *cache, __global const float *restrict tile)
{
    for (int y = get_local_id(1); y < CACHED_Y; y += TBY)
        for (int x = get_local_id(0); x < CACHED_X; x += TBX)
            cache[y * CACHED_ROW + x] = tile[y * IMAGE_X + x];
}

/* LOCAL = 2: one block per work-item, in vectors; the last blocks may reach beyond the halo. */
static void cache_block(__local float *cache, __global const float *restrict tile)
{
    #pragma unroll
    for (int own_y = 0; own_y < WPTY; own_y++)
        #pragma unroll
        for (int own_x = 0; own_x < WPTX; own_x += VECTOR) {
            const int x = get_local_id(0) * WPTX + own_x;
            const int y = get_local_id(1) * WPTY + own_y;
            if (x < CACHED_X && y < CACHED_Y)
                STORE(LOAD(&tile[y * IMAGE_X + x]), &cache[y * CACHED_ROW + x]);
        }
}

/* The block of outputs whose top left depends on the pixels from `from` on. */
static void convolve_block(source *from, __global float *restrict to,
                           __constant float *filter, const float weight)
{
    vec sum[WPTY][OWN_X];

    #pragma unroll
    for (int y = 0; y < WPTY; y++)
        #pragma unroll
        for (int x = 0; x < OWN_X; x++)
            sum[y][x] = 0.0f;

    #pragma unroll UNROLL_FACTOR
    for (int i = 0; i < FS; i++)
        #pragma unroll UNROLL_FACTOR
        for (int j = 0; j < FS; j++) {
            const float coefficient = filter[i * FS + j];

            #pragma unroll
            for (int y = 0; y < WPTY; y++)
                #pragma unroll
                for (int x = 0; x < OWN_X; x++)
                    sum[y][x] += coefficient * LOAD(&from[(y + i) * SOURCE_ROW + x * VECTOR + j]);
        }

    #pragma unroll
    for (int y = 0; y < WPTY; y++)
        #pragma unroll
        for (int x = 0; x < OWN_X; x++)
            STORE(weight * sum[y][x], &to[y * X + x * VECTOR]);
}

__kernel __attribute__((reqd_work_group_size(TBX_XL, TBY_XL, 1)))
void conv2d(__global const float *restrict image, __constant float *filter,
            __global float *restrict output, const float weight)
{
    const int tile_x = get_group_id(0) * TILE_X, tile_y = get_group_id(1) * TILE_Y;
    const int own_x = get_local_id(0) * WPTX, own_y = get_local_id(1) * WPTY;
    __global const float *tile = &image[tile_y * IMAGE_X + tile_x];
    __global float *to = &output[(tile_y + own_y) * X + tile_x + own_x];

#if LOCAL == 0
    convolve_block(&tile[own_y * IMAGE_X + own_x], to, filter, weight);
#else
    __local float cache[CACHED_Y * CACHED_ROW];

    if (LOCAL == 1)
        cache_pixels(cache, tile);
    else
        cache_block(cache, tile);
    barrier(CLK_LOCAL_MEM_FENCE);

    /* The extra work-items rest. */
    if (get_local_id(0) < TBX && get_local_id(1) < TBY)
        convolve_block(&cache[own_y * CACHED_ROW + own_x], to, filter, weight);
#endif
}
