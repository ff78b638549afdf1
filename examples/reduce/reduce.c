/*
 * The sum of N floats on one core, in two kernels that run one after the other:
 *
 *     partial_sums    sums[p] = the p-th of PARTIALS parts of `data`
 *     fold            sums[i] = sums[FOLD * i] + ... + sums[FOLD * i + FOLD - 1], PASSES times
 *
 * After the last pass sums[0] is the sum of all, and the other SUMS - 1 are zero: whatever the
 * parameters, the result is the same. Sizes and parameters (see reduce.toml) are macros.
 *
 *   PARTIALS      parts of the data; both kernels depend on it.
 *   INTERLEAVED   1: a part is every PARTIALS-th vector; 0: a part is contiguous.
 *   VW            floats in a vector.
 *   CHAINS        independent sums per part, added at its end: they hide the latency of an addition.
 *   FOLD, PASSES  FOLD ** PASSES = PARTIALS: many passes that add few, or few that add many.
 */
#include <stddef.h>

/* A vector where it lies in memory; the buffers promise no more than a float's alignment. */
typedef float vec __attribute__((vector_size(VW * sizeof(float))));
typedef float vec_in_memory
    __attribute__((vector_size(VW * sizeof(float)), aligned(sizeof(float)), may_alias));

/* Both compilers unroll the loop that follows by n, or completely if it has no more than n steps. */
#define PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define UNROLLED(n) PRAGMA(clang loop unroll_count(n))
#else
#define UNROLLED(n) PRAGMA(GCC unroll n)
#endif

enum {
    VECTORS = N / VW / PARTIALS,         /* of a part */
    NEXT = INTERLEAVED ? PARTIALS : 1,   /* from one of them to the next */
    FIRST = INTERLEAVED ? 1 : VECTORS,   /* from the first of a part to the first of the next */
};

static float sum_of_part(const vec_in_memory *part)
{
    vec sum[CHAINS];
    float total = 0.0f;

    UNROLLED(CHAINS)
    for (size_t chain = 0; chain < CHAINS; chain++)
        sum[chain] = (vec){0};
    for (size_t v = 0; v < VECTORS; v += CHAINS)
        UNROLLED(CHAINS)
        for (size_t chain = 0; chain < CHAINS; chain++)
            sum[chain] += part[(v + chain) * NEXT];

    UNROLLED(CHAINS)
    for (size_t chain = 1; chain < CHAINS; chain++)
        sum[0] += sum[chain];
    UNROLLED(VW)
    for (size_t lane = 0; lane < VW; lane++)
        total += sum[0][lane];
    return total;
}

void partial_sums(const float *data, float *sums)
{
    const vec_in_memory *vectors = (const vec_in_memory *)data;

    for (size_t p = 0; p < PARTIALS; p++)
        sums[p] = sum_of_part(vectors + p * FIRST);
    for (size_t p = PARTIALS; p < SUMS; p++)
        sums[p] = 0.0f;
}

/* In place: what an iteration overwrites, it or one before it has read. */
void fold(float *sums)
{
    for (size_t i = 0; i < PARTIALS / FOLD; i++) {
        float sum = 0.0f;

        UNROLLED(FOLD)
        for (size_t j = 0; j < FOLD; j++)
            sum += sums[i * FOLD + j];
        sums[i] = sum;
    }
    for (size_t i = PARTIALS / FOLD; i < PARTIALS; i++)
        sums[i] = 0.0f;
}
