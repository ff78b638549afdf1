// Instantiates a template for each configuration, and chooses one at run time (x-macro).
#include "scale.x.h"
#include <cstdio>
#include <cstdlib>
#include <vector>

template <int TILE, int UNROLL>
int scale(const std::vector<float> &x, std::vector<float> &y)
{
    std::size_t at = 0;
    for (; at + UNROLL <= x.size(); at += UNROLL)
        for (int next = 0; next < UNROLL; next++)
            y[at + next] = 2 * x[at + next];
    for (; at < x.size(); at++)
        y[at] = 2 * x[at];
    return TILE;
}

#define INSTANCE(number, TILE, UNROLL) scale<TILE, UNROLL>,
static int (*const instances[])(const std::vector<float> &, std::vector<float> &) = {SCALE_CONFIGS(INSTANCE)};

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    scale_sizes sizes; // C++20 also takes {.ROWS = rows, .COLS = cols}
    sizes.COLS = std::atoi(arguments[2]);
    sizes.ROWS = std::atoi(arguments[1]);
    std::vector<float> x(15, 1.5f), y(15);
    int tile = instances[scale_choose(sizes)](x, y);
    for (float value : y)
        if (value != 3)
            return 1;
    std::printf("TILE=%d\n", tile);
    return 0;
}
