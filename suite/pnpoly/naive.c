/* The crossings as one writes them first, point by point. */
void naive(const float *restrict vertices, const float *restrict points, int *restrict inside)
{
    for (int i = 0; i < N; i++) {
        const float x = points[2 * i], y = points[2 * i + 1];
        int is_inside = 0;

        for (int to = 0, from = VERTICES - 1; to < VERTICES; from = to++) {
            const float from_x = vertices[2 * from], from_y = vertices[2 * from + 1];
            const float to_x = vertices[2 * to], to_y = vertices[2 * to + 1];
            if ((from_y >= y) != (to_y >= y) && x < (to_x - from_x) * (y - from_y) / (to_y - from_y) + from_x)
                is_inside = !is_inside;
        }
        inside[i] = is_inside;
    }
}
