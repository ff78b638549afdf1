/* out = the mean of each pixel of the W x H image and its four neighbours; the border is copied. */
void smooth(const float *in, float *out)
{
    for (int x = 0; x < W; ++x)
        for (int y = 0; y < H; ++y) {
            int at = y * W + x;
            if (x == 0 || y == 0 || x == W - 1 || y == H - 1)
                out[at] = in[at];
            else
                out[at] = (in[at] + in[at - 1] + in[at + 1] + in[at - W] + in[at + W]) / 5;
        }
}
