/* A step over the whole grid as one writes it first. */
void naive(const float *restrict power, const float *restrict temp, float *restrict temp_dst, const float Rx_1,
           const float Ry_1, const float Rz_1, const float step_div_cap)
{
    const int W = grid_width, H = grid_height;

    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            const float t = temp[y * W + x];
            const float north = y > 0 ? temp[(y - 1) * W + x] : t, south = y < H - 1 ? temp[(y + 1) * W + x] : t;
            const float west = x > 0 ? temp[y * W + x - 1] : t, east = x < W - 1 ? temp[y * W + x + 1] : t;
            temp_dst[y * W + x] = t + step_div_cap * (power[y * W + x] + (north + south - 2 * t) * Ry_1
                                                      + (east + west - 2 * t) * Rx_1 + (80.0f - t) * Rz_1);
        }
}
