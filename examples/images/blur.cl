/*
 * A box blur: every pixel becomes the mean of the (2 * RADIUS + 1)^2 pixels around it. Outside of the image, the pixels of its edge
 * go on. The image units of the device do that, and read through a cache of their own. Sizes and tuning parameters (see
 * blur-opencl.toml) are macros.
 *
 * A work-group of WGX x WGY work-items computes COLUMNS x ROWS pixels for each of them, WGX and WGY apart.
 */
__constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel __attribute__((reqd_work_group_size(WGX, WGY, 1)))
void blur(__read_only image2d_t from, __write_only image2d_t to)
{
    const int left = get_group_id(0) * WGX * COLUMNS + get_local_id(0);
    const int top = get_group_id(1) * WGY * ROWS + get_local_id(1);

    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++) {
            const int2 pixel = (int2)(left + column * WGX, top + row * WGY);
            float sum = 0;

#pragma unroll UNROLL
            for (int y = -RADIUS; y <= RADIUS; y++)
                for (int x = -RADIUS; x <= RADIUS; x++)
                    sum += read_imagef(from, edge, pixel + (int2)(x, y)).x;
            write_imagef(to, pixel, (float4)(sum / ((2 * RADIUS + 1) * (2 * RADIUS + 1)), 0, 0, 0));
        }
}
