/* Measures one core: prints the GFLOP/s of independent fused multiply-adds in single precision, and the GB/s of a copy
 * of 256 MiB, a byte read and a byte written counting as two. Each is the best of ten. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LANES = 16, CHAINS = 12, STEPS = 10000000, BYTES = 256 << 20, REPEATS = 10 };
typedef float vector __attribute__((vector_size(4 * LANES)));

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static double multiply_adds(float *result) {
    vector sums[CHAINS], factor, summand;
    for (int lane = 0; lane < LANES; lane++) factor[lane] = 0.5f + 1e-3f * lane, summand[lane] = 0.1f * lane;
    for (int chain = 0; chain < CHAINS; chain++) sums[chain] = factor + (float)chain;
    double start = now();
    for (int step = 0; step < STEPS; step++)
#pragma GCC unroll 12
        for (int chain = 0; chain < CHAINS; chain++) sums[chain] = sums[chain] * factor + summand;
    double seconds = now() - start;
    for (int chain = 0; chain < CHAINS; chain++) *result += sums[chain][chain];
    return 2.0 * LANES * CHAINS * STEPS / seconds / 1e9;
}

int main(void) {
    char *from = malloc(BYTES), *to = malloc(BYTES);
    if (!from || !to) return fprintf(stderr, "peak: no memory for two buffers of 256 MiB\n"), 1;
    memset(from, 1, BYTES);
    memset(to, 2, BYTES);
    double gflops = 0, gbytes = 0;
    float result = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double rate = multiply_adds(&result);
        if (rate > gflops) gflops = rate;
        from[repeat] = (char)(result > 0);
        double start = now();
        memcpy(to, from, BYTES);
        double traffic = 2.0 * BYTES / (now() - start) / 1e9;
        if (traffic > gbytes) gbytes = traffic;
    }
    printf("%.1f %.2f\n", gflops, gbytes + (to[BYTES - 1] > 2));
    return 0;
}
