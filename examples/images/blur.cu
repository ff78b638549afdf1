/*
 * A box blur: every pixel becomes the mean of the (2 * RADIUS + 1)^2 pixels around it. Outside of the image, the pixels of its edge
 * go on: the texture's address mode in blur-cuda.toml. Sizes and tuning parameters are macros.
 *
 * A block of BX x BY threads computes COLUMNS x ROWS pixels for each of them, BX and BY apart.
 */
extern "C" __global__ void __launch_bounds__(BX * BY) blur(cudaTextureObject_t from, cudaSurfaceObject_t to)
{
    const int left = blockIdx.x * BX * COLUMNS + threadIdx.x;
    const int top = blockIdx.y * BY * ROWS + threadIdx.y;

    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++) {
            const int i = left + column * BX, j = top + row * BY;
            float sum = 0;

#pragma unroll UNROLL
            for (int y = -RADIUS; y <= RADIUS; y++)
                for (int x = -RADIUS; x <= RADIUS; x++)
                    sum += tex2D<float>(from, i + x + 0.5f, j + y + 0.5f); /* Pixels have their centres in between. */
            surf2Dwrite(sum / ((2 * RADIUS + 1) * (2 * RADIUS + 1)), to, i * (int)sizeof(float), j);
        }
}
