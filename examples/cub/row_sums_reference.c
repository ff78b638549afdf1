/* The sum of each row of a matrix, added in double precision. */
void row_sums_reference(const float *data, float *sums)
{
    for (long row = 0; row < ROWS; row++) {
        double sum = 0;

        for (long column = 0; column < COLUMNS; column++)
            sum += data[row * COLUMNS + column];
        sums[row] = (float)sum;
    }
}
