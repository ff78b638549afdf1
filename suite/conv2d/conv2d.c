/*
 * The convolution of examples/conv2d on one core, with the paper's eight parameters. The size of a
 * tile with its halo in blocks, which is a parameter there, follows from them here.
 */
#define VECTOR VW
#define IN_BLOCKS(tile, own) ((tile) + (LOCAL == 2 ? (2 * HFS + (own) - 1) / (own) : 0))
#define TBX_XL IN_BLOCKS(TBX, WPTX)
#define TBY_XL IN_BLOCKS(TBY, WPTY)
#include "../../examples/conv2d/conv2d.c"
