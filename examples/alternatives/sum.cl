/*
 * sums[row] = the sum of a row of the ROWS x COLUMNS matrix, in two ways (see sum-opencl.toml):
 *
 *     sum_by_items     a work-item for each row, UNROLL elements at a time
 *     sum_by_groups    a work-group for each row, whose GROUP work-items meet in local memory
 *
 * The parameters of the other way are macros here, too, with their first values.
 */
#include "one_source.h"

__kernel WORK_GROUP(ITEMS, 1, 1)
void sum_by_items(__global const float *restrict matrix, __global float *restrict sums)
{
    const int row = get_global_id(0);
    float sum = 0.0f;

    for (int i = 0; i < COLUMNS; i += UNROLL) {
#pragma unroll
        for (int j = 0; j < UNROLL; j++)
            sum += matrix[row * COLUMNS + i + j];
    }
    sums[row] = sum;
}

__kernel WORK_GROUP(GROUP, 1, 1)
void sum_by_groups(__global const float *restrict matrix, __global float *restrict sums)
{
    __local float parts[GROUP];
    const int item = get_local_id(0);
    const int row = get_group_id(0);
    float sum = 0.0f;

    for (int i = item; i < COLUMNS; i += GROUP)
        sum += matrix[row * COLUMNS + i];
    parts[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int left = GROUP / 2; left > 0; left /= 2) {
        if (item < left)
            parts[item] += parts[item + left];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0)
        sums[row] = parts[0];
}
