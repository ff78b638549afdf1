/* Compiles the kernel in each configuration, and chooses one at run time (x-macro). */
#define SCALE_EACH "each.h"
#include "scale.x.h"
#include <stdio.h>
#include <stdlib.h>

typedef void (*scale_function)(const float *x, float *y, int rows, int cols);

#define FUNCTION(number, ...) scale_##number,
#define TILE_OF(number, ...) scale_tile_##number,
static const scale_function functions[SCALE_CONFIG_COUNT] = {SCALE_CONFIGS(FUNCTION)};

int main(int count, char **arguments)
{
    const int tiles[SCALE_CONFIG_COUNT] = {SCALE_CONFIGS(TILE_OF)};
    static float x[3 * 5], y[3 * 5];
    if (count != 3)
        return 2;
    int chosen = scale_choose((struct scale_sizes){.ROWS = atof(arguments[1]), .COLS = atof(arguments[2])});
    for (int at = 0; at < 15; at++)
        x[at] = (float)at;
    functions[chosen](x, y, 3, 5);
    for (int at = 0; at < 15; at++)
        if (y[at] != 2 * x[at])
            return 1;
    printf("TILE=%d\n", tiles[chosen]);
    return 0;
}
