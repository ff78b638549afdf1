/* An application with one configuration: it is built with the settings of a build, or with the tuned
 * source. */
#include <stdio.h>

extern const int scale_tile;
void scale(const float *x, float *y, int rows, int cols);

int main(void)
{
    static float x[3 * 5], y[3 * 5];
    for (int at = 0; at < 15; at++)
        x[at] = (float)at;
    scale(x, y, 3, 5);
    for (int at = 0; at < 15; at++)
        if (y[at] != 2 * x[at])
            return 1;
    printf("TILE=%d\n", scale_tile);
    return 0;
}
