/* The crossings in double precision, point by point. */
void pnpoly_reference(const float *vertices, const float *points, int *inside)
{
    for (int i = 0; i < N; i++) {
        const double x = points[2 * i], y = points[2 * i + 1];
        int crossings = 0;

        for (int to = 0, from = VERTICES - 1; to < VERTICES; from = to++) {
            const double from_x = vertices[2 * from], from_y = vertices[2 * from + 1];
            const double to_x = vertices[2 * to], to_y = vertices[2 * to + 1];
            if ((from_y >= y) != (to_y >= y) && x < (to_x - from_x) * (y - from_y) / (to_y - from_y) + from_x)
                crossings++;
        }
        inside[i] = crossings % 2;
    }
}
