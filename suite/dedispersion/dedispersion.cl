/*
 * Dedispersion of a radio telescope's signal: for each of DMS dispersion measures, the sum over all channels of
 * samples that are shifted by the delay of the channel,
 *
 *     output[dm][t] = sum over c of samples[c][t + int(dm * DM_STEP * shifts[c])]
 *
 * for t < SAMPLES. A row of samples has SAMPLES + DMS values. SAMPLES, DMS, CHANNELS (sizes) and the tuning
 * parameters are macros. One source for OpenCL and CUDA.
 *
 *   block_size_x, _y, _z            the work-group: work-items along t and along the dispersion measures.
 *   tile_size_x, _y                 outputs of a work-item.
 *   tile_stride_x, _y               0: the outputs of a work-item follow one another; 1: they lie a work-group's
 *                                   width apart.
 *   loop_unroll_factor_channel      unrolling of the loop over the channels; 0 leaves it to the compiler.
 */
#include "../common/one_source.h"

/* Dispersion between two measures, in parsec / cm^3. */
#define DM_STEP 0.02f

#if loop_unroll_factor_channel == 0
#define UNROLL
#else
#define PRAGMA(text) _Pragma(#text)
#define UNROLL_BY(factor) PRAGMA(unroll factor)
#define UNROLL UNROLL_BY(loop_unroll_factor_channel)
#endif

/* Output number i of work-item `own` in a tile. */
#if tile_stride_x
#define OWN_X(own, i) ((own) + (i) * block_size_x)
#else
#define OWN_X(own, i) ((own) * tile_size_x + (i))
#endif
#if tile_stride_y
#define OWN_Y(own, i) ((own) + (i) * block_size_y)
#else
#define OWN_Y(own, i) ((own) * tile_size_y + (i))
#endif

/* The delays of the channels for a dispersion of 1, in samples. */
CONSTANT_VARIABLE(float, shifts, CHANNELS)

__kernel WORK_GROUP(block_size_x, block_size_y, block_size_z)
void dedispersion(CONSTANT_PARAMETER(float, shifts) __global const float *restrict samples,
                  __global float *restrict output)
{
    const int first_t = get_group_id(0) * (block_size_x * tile_size_x);
    const int first_dm = get_group_id(1) * (block_size_y * tile_size_y);
    const int own_t = get_local_id(0), own_dm = get_local_id(1);
    float sums[tile_size_y][tile_size_x];

    #pragma unroll
    for (int i = 0; i < tile_size_y; i++)
        #pragma unroll
        for (int j = 0; j < tile_size_x; j++)
            sums[i][j] = 0.0f;

    UNROLL
    for (int c = 0; c < CHANNELS; c++) {
        __global const float *row = &samples[(size_t)c * (SAMPLES + DMS)];

        #pragma unroll
        for (int i = 0; i < tile_size_y; i++) {
            const int dm = first_dm + OWN_Y(own_dm, i);
            const int delay = (int)(dm * DM_STEP * shifts[c]);

            #pragma unroll
            for (int j = 0; j < tile_size_x; j++) {
                const int t = first_t + OWN_X(own_t, j);
                if (dm < DMS && t < SAMPLES)
                    sums[i][j] += row[t + delay];
            }
        }
    }

    #pragma unroll
    for (int i = 0; i < tile_size_y; i++)
        #pragma unroll
        for (int j = 0; j < tile_size_x; j++) {
            const int dm = first_dm + OWN_Y(own_dm, i), t = first_t + OWN_X(own_t, j);
            if (dm < DMS && t < SAMPLES)
                output[(size_t)dm * SAMPLES + t] = sums[i][j];
        }
}
