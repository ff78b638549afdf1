/* Doubles a matrix in tiles of TILE rows, UNROLL columns at a time. */
#ifndef TUNED_BY_TUNESMITH /* set by every form that `tunesmith export` writes for builds */
#ifndef TILE
#define TILE 8
#endif
#ifndef UNROLL
#define UNROLL 1
#endif
#endif

/* For the examples, which print what they were built with. */
const int scale_tile = TILE;

void scale(const float *x, float *y, int rows, int cols)
{
    for (int first = 0; first < rows; first += TILE)
        for (int row = first; row < rows && row < first + TILE; row++) {
            int col = 0;
            for (; col + UNROLL <= cols; col += UNROLL)
                for (int next = 0; next < UNROLL; next++)
                    y[row * cols + col + next] = 2 * x[row * cols + col + next];
            for (; col < cols; col++)
                y[row * cols + col] = 2 * x[row * cols + col];
        }
}
