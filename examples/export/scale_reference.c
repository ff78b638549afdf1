void scale_reference(const float *x, float *y, int rows, int cols)
{
    for (int at = 0; at < rows * cols; at++)
        y[at] = 2 * x[at];
}
