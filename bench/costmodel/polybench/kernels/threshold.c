/* Gradients of an image: weak ones become 0, and the others are scaled. */
#include <math.h>

void threshold(int n, int m, float least, const float image[restrict n][m], float out[restrict n][m])
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++) {
            float dx = image[i][j + 1] - image[i][j - 1];
            float dy = image[i + 1][j] - image[i - 1][j];
            float size = sqrtf(dx * dx + dy * dy);
            if (size < least)
                out[i][j] = 0.0f;
            else
                out[i][j] = 0.5f * size;
        }
}
