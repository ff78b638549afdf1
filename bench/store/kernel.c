void kernel(float *c) { c[0] = TILE_M + TILE_N; }
