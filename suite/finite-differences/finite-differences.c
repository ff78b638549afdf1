/* The 5-point stencil in tiles of TILE_Y x TILE_X cells, ROWS rows of a tile at a time. */
void finite_differences(const float *restrict u, float *restrict result)
{
    for (int row = 0; row < N; row += TILE_Y)
        for (int column = 0; column < N; column += TILE_X)
            for (int y = row; y < row + TILE_Y; y += ROWS)
                for (int x = column; x < column + TILE_X; x++)
#pragma GCC unroll 8
                    for (int part = 0; part < ROWS; part++)
                    {
                        const float *at = u + (y + part + 1) * (N + 2) + x + 1;
                        result[(y + part) * N + x] =
                            at[0] * at[0] - 1.0f - 4.0f * at[0] + at[N + 2] + at[-N - 2] + at[1] + at[-1];
                    }
}
