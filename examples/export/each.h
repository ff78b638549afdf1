/* Included once for each configuration, by scale.x.h: compiles the kernel under names of its own. */
#define scale SCALE_NAME(scale)
#define scale_tile SCALE_NAME(scale_tile)
#include "scale.c"
#undef scale
#undef scale_tile
