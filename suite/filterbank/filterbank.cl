/*
 * Filterbank correlation:
 *
 *     z[r][c][k] = sum over h, w, d of x[r + h][c + w][d] * f[k][h][w][d]
 *
 * A work-item computes 4 * N4 channels of one output, a work-group those of block_h x block_w outputs. A launch is a
 * pass: it takes so many filters, and all of their rows where the filterbank is small enough, else n_filter_rows of
 * them; PASSES launches add up to the result. Each pass
 *
 *     draws a ticket, which tells the pass
 *     for each DEPTH channels
 *         copies them, of the image and of the filters, to local memory
 *         sum[N4] += coefficients * pixel, for each row, column and channel
 *     writes the sums to z (first rows of the filters), or adds them to it
 *
 * A kernel cannot write constant memory, where the paper keeps the filters of a pass; they lie in local memory, where
 * all work-items read the same address at a time as well.
 */
#include "one_source.h"

#ifdef ONE_CPP
/* Through the cache of the texture units, as a fetch of a one-dimensional texture does. */
#define READ(x, i) (use_tex1d ? __ldg(&(x)[i]) : (x)[i])
#define PRODUCT_24(a, b) __umul24(a, b)
/* No bounds of the work-group: they would override maxrreg. */
#define KERNEL __kernel
#else
#define READ(x, i) ((x)[i])
#define PRODUCT_24(a, b) mul24(a, b)
#define KERNEL __kernel WORK_GROUP(block_w, block_h, 1)
#endif

#define SMALLER(a, b) ((a) < (b) ? (a) : (b))
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

/* Passes: n_output_4s = 0 takes all filters. */
#define ALL_4S CEIL_DIV(F, 4)
#define N4 (n_output_4s == 0 ? ALL_4S : SMALLER(n_output_4s, ALL_4S))
#define ROWS (4 * F * H * W * D <= CONSTANT_MEMORY ? H : SMALLER(n_filter_rows, H))
#define PARTS CEIL_DIV(H, ROWS)
#define PASSES (CEIL_DIV(F, 4 * N4) * PARTS)

#define ROWS_OUT (R - H + 1)
#define COLUMNS_OUT (C - W + 1)
#define GROUPS (CEIL_DIV(ROWS_OUT, block_h) * CEIL_DIV(COLUMNS_OUT, block_w))
#define ITEMS (block_h * block_w)

/* Local memory: of a channel the tile of the image and the filters, and with spill the places of the outputs. */
#define TILE_ROW (block_w + W - 1 + pad_shared)
#define TILE_ROWS (block_h + ROWS - 1)
#define COEFFICIENTS (ROWS * W * 4 * N4)
#define FITS(depth) \
    ((depth) <= D && 4 * (depth) * (TILE_ROWS * TILE_ROW + COEFFICIENTS) + 4 * spill * ITEMS + 32 <= LOCAL_MEMORY)
#define DEPTH (FITS(32) ? 32 : FITS(16) ? 16 : FITS(8) ? 8 : FITS(4) ? 4 : FITS(2) ? 2 : 1)

#define PRODUCT(a, b) (imul_fast ? PRODUCT_24(a, b) : (a) * (b))

FUNCTION unsigned int place(unsigned int row, unsigned int column, unsigned int columns, unsigned int channels)
{
    return PRODUCT(PRODUCT(row, columns) + column, channels);
}

/* DEPTH channels from `depth` on of the image under the group's outputs; 0 beyond its edge. */
FUNCTION void copy_tile(LOCAL_POINTER float *tile, __global const float *x, unsigned int item, unsigned int row0,
                      unsigned int column0, unsigned int depth)
{
    for (unsigned int i = item; i < TILE_ROWS * (block_w + W - 1) * DEPTH; i += ITEMS) {
        const unsigned int d = i % DEPTH, column = i / DEPTH % (block_w + W - 1), row = i / DEPTH / (block_w + W - 1);
        const int inside = row0 + row < R && column0 + column < C && depth + d < D;

        tile[(d * TILE_ROWS + row) * TILE_ROW + column] =
            inside ? READ(x, place(row0 + row, column0 + column, C, D) + depth + d) : 0.0f;
    }
}

/* coefficients[d][h][w][filter] from filter k and row h0 on; 0 where there is no filter, row or channel. */
FUNCTION void copy_filters(LOCAL_POINTER float *coefficients, __global const float *f, unsigned int item,
                           unsigned int k, unsigned int h0, unsigned int depth)
{
    for (unsigned int i = item; i < DEPTH * COEFFICIENTS; i += ITEMS) {
        const unsigned int n = i % (4 * N4), w = i / (4 * N4) % W, h = i / (4 * N4) / W % ROWS;
        const unsigned int d = i / COEFFICIENTS;
        const int inside = k + n < F && h0 + h < H && depth + d < D;

        coefficients[i] = inside ? f[place((k + n) * H + h0 + h, w, W, D) + depth + d] : 0.0f;
    }
}

/* The sums of one output go to z from filter k on. */
FUNCTION void put(__global float *z, const float4 *sum, unsigned int at, unsigned int k, int first)
{
#if F % 4 == 0
    __global float4 *outputs = (__global float4 *)(z + at);

    _Pragma("unroll")
    for (unsigned int n = 0; n < N4; n++)
        if (k + 4 * n < F)
            outputs[n] = first ? sum[n] : outputs[n] + sum[n];
#else
    _Pragma("unroll")
    for (unsigned int n = 0; n < N4; n++) {
        const float four[4] = {sum[n].x, sum[n].y, sum[n].z, sum[n].w};

        for (unsigned int i = 0; i < 4; i++)
            if (k + 4 * n + i < F)
                z[at + 4 * n + i] = four[i] + (first ? 0.0f : z[at + 4 * n + i]);
    }
#endif
}

KERNEL void filterbank(__global const float *x, __global const float *f, __global float *z, __global int *tickets)
{
    __local float tile[DEPTH * TILE_ROWS * TILE_ROW];
    __local float4 coefficients[DEPTH * COEFFICIENTS / 4];
    __local volatile unsigned int places[spill ? ITEMS : 1];
    __local int pass_of_group;
    const unsigned int item_x = get_local_id(0), item_y = get_local_id(1), item = item_y * block_w + item_x;
    const unsigned int row0 = get_group_id(1) * block_h, column0 = get_group_id(0) * block_w;

    /* Launches follow one another, so the first GROUPS tickets are the first pass's. The last one leaves 0 again. */
    if (item == 0) {
        const int ticket = PASSES == 1 ? 0 : atomic_inc(tickets);
        pass_of_group = ticket / GROUPS;
        if (PASSES != 1 && ticket == GROUPS * PASSES - 1)
            *tickets = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const unsigned int k = pass_of_group / PARTS * (4 * N4), h0 = pass_of_group % PARTS * ROWS;
    unsigned int at = place(row0 + item_y, column0 + item_x, COLUMNS_OUT, F) + k;
    if (spill)
        places[item] = at;

    float4 sum[N4];
    _Pragma("unroll")
    for (int n = 0; n < N4; n++)
        sum[n] = SPLAT(float, 4, 0.0f);
    for (unsigned int depth = 0; depth < D; depth += DEPTH) {
        barrier(CLK_LOCAL_MEM_FENCE);
        copy_tile(tile, x, item, row0 + h0, column0, depth);
        copy_filters((LOCAL_POINTER float *)coefficients, f, item, k, h0, depth);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int d = 0; d < DEPTH; d++)
            for (int h = 0; h < ROWS; h++)
                for (int w = 0; w < W; w++) {
                    const float pixel = tile[(d * TILE_ROWS + item_y + h) * TILE_ROW + item_x + w];

                    _Pragma("unroll")
                    for (int n = 0; n < N4; n++)
                        sum[n] += pixel * coefficients[((d * ROWS + h) * W + w) * N4 + n];
                }
    }
    if (row0 + item_y < ROWS_OUT && column0 + item_x < COLUMNS_OUT)
        put(z, sum, spill ? places[item] : at, k, h0 == 0);
}
