/* Chooses a configuration for sizes that are known at run time (c-header). */
#include "scale.h"
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    /* Two numbers in the wrong order would choose wrong: {atof(...), atof(...)} does not compile. */
    struct scale_sizes sizes = {.ROWS = atof(arguments[1]), .COLS = atof(arguments[2])};
    const struct scale_config *config = &scale_configs[scale_choose(sizes)];
    printf("TILE=%lld%s\n", config->TILE, scale_covers(sizes) ? "" : ", a guess");
    return 0;
}
