void sum_reference(const float *matrix, float *sums)
{
    for (long row = 0; row < ROWS; row++) {
        double sum = 0.0;

        for (long i = 0; i < COLUMNS; i++)
            sum += matrix[row * COLUMNS + i];
        sums[row] = (float)sum;
    }
}
