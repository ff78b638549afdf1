// Records a product of two matrices in blocks: a space of 23,328 configurations, which a search does not list. All
// loops are chosen at run time, so that nothing is compiled for a configuration and the whole space takes minutes.
//
//   cc -O3 -march=native -ffast-math -o blocks blocks.c -lm && ./blocks >blocks.csv
//
// Prints the least time of three runs of each configuration; of those that are at most twice the best, the least of 43
// runs, in four rounds. Fails if a product is wrong.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define N 128

// Adds the product of a block of A and a block of B to a block of C.
typedef void kernel(int ni, int nj, int nk, const float *a, int lda, const float *b, int ldb, float *c, int ldc);

#define I for (int i = 0; i < ni; i++)
#define J for (int j = 0; j < nj; j++)
#define K for (int k = 0; k < nk; k++)
#define PRAGMA(text) _Pragma(#text)
#define UNROLLED(count) PRAGMA(GCC unroll count)
#define KERNEL(name, count, outermost, middle, innermost)                                                             \
    static void name##count(int ni, int nj, int nk, const float *a, int lda, const float *b, int ldb, float *c,       \
                            int ldc)                                                                                  \
    {                                                                                                                 \
        outermost middle UNROLLED(count) innermost c[i * ldc + j] += a[i * lda + k] * b[k * ldb + j];                 \
    }
#define KERNELS(count)                                                                                                \
    KERNEL(ijk, count, I, J, K)                                                                                       \
    KERNEL(ikj, count, I, K, J)                                                                                       \
    KERNEL(jik, count, J, I, K)                                                                                       \
    KERNEL(jki, count, J, K, I)                                                                                       \
    KERNEL(kij, count, K, I, J)                                                                                       \
    KERNEL(kji, count, K, J, I)
KERNELS(1)
KERNELS(4)
KERNELS(8)

static kernel *const kernels[3][6] = {
    {ijk1, ikj1, jik1, jki1, kij1, kji1}, {ijk4, ikj4, jik4, jki4, kij4, kji4}, {ijk8, ikj8, jik8, jki8, kij8, kji8}};

static const int extents[6] = {4, 8, 16, 32, 64, 128}, unrolls[3] = {1, 4, 8};

// A configuration, and its least time in seconds.
struct configuration {
    int tile[3], outer, inner, unroll, pack;
    double least;
};

static float a[N * N], b[N * N], c[N * N], packed[N * N];

// Multiplies one block, which begins at `at` in the order i, j, k.
static void block(const struct configuration *p, const int at[3])
{
    const int n = N, ni = p->tile[0], nj = p->tile[1], nk = p->tile[2];
    const float *of_b = b + at[2] * n + at[1];
    int ldb = n;
    if (p->pack) {
        for (int k = 0; k < nk; k++)
            memcpy(packed + k * nj, of_b + k * n, nj * sizeof *of_b);
        of_b = packed;
        ldb = nj;
    }
    kernels[p->unroll][p->inner](ni, nj, nk, a + at[0] * n + at[2], n, of_b, ldb, c + at[0] * n + at[1], n);
}

static void multiply(const struct configuration *p)
{
    // The loops over blocks from the outermost to the innermost, as positions in i, j, k.
    static const int orders[3][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}};
    const int *order = orders[p->outer];
    memset(c, 0, sizeof c);
    int at[3];
    for (at[order[0]] = 0; at[order[0]] < N; at[order[0]] += p->tile[order[0]])
        for (at[order[1]] = 0; at[order[1]] < N; at[order[1]] += p->tile[order[1]])
            for (at[order[2]] = 0; at[order[2]] < N; at[order[2]] += p->tile[order[2]])
                block(p, at);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static void measure(struct configuration *p, int runs)
{
    for (int run = 0; run < runs; run++) {
        double start = seconds();
        multiply(p);
        p->least = fmin(p->least, seconds() - start);
    }
}

// Returns true if some elements of C are those of the product by definition.
static int is_product(void)
{
    for (int i = 0; i < N; i += 7)
        for (int j = 0; j < N; j += 5) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += (double)a[i * N + k] * b[k * N + j];
            if (fabs(sum - c[i * N + j]) > 1e-3)
                return 0;
        }
    return 1;
}

// Returns the configuration of a number below 23,328.
static struct configuration configuration(int number)
{
    static const int widths[7] = {6, 6, 6, 3, 6, 3, 2};
    int at[7];
    for (int digit = 6; digit >= 0; digit--) {
        at[digit] = number % widths[digit];
        number /= widths[digit];
    }
    return (struct configuration){.tile = {extents[at[0]], extents[at[1]], extents[at[2]]},
                                  .outer = at[3],
                                  .inner = at[4],
                                  .unroll = at[5],
                                  .pack = at[6],
                                  .least = INFINITY};
}

enum { COUNT = 6 * 6 * 6 * 3 * 6 * 3 * 2 };

int main(void)
{
    static struct configuration all[COUNT];
    for (int at = 0; at < N * N; at++) {
        a[at] = at % 13 * 0.125f - 0.75f;
        b[at] = at % 11 * 0.25f - 1.25f;
    }
    double best = INFINITY;
    for (int at = 0; at < COUNT; at++) {
        all[at] = configuration(at);
        measure(&all[at], 3);
        best = fmin(best, all[at].least);
        if (!is_product()) {
            fprintf(stderr, "the product of configuration %d is wrong\n", at);
            return 1;
        }
    }
    const double near = 2 * best;
    for (int round = 0; round < 4; round++)
        for (int at = 0; at < COUNT; at++)
            if (all[at].least <= near)
                measure(&all[at], 10);
    printf("TI,TJ,TK,OUTER,INNER,UNROLL,PACK,time_ms\n");
    for (int at = 0; at < COUNT; at++) {
        const struct configuration *p = &all[at];
        printf("%d,%d,%d,%d,%d,%d,%d,%.6f\n", p->tile[0], p->tile[1], p->tile[2], p->outer, p->inner,
               unrolls[p->unroll], p->pack, p->least * 1e3);
    }
    return 0;
}
