/*
 * The sum of N floats, in two kernels that run one after the other:
 *
 *     partial_sums    sums[p] = the p-th of PARTIALS parts of `data`, one work-group each
 *     fold            sums[i] = sums[FOLD * i] + ... + sums[FOLD * i + FOLD - 1], in one work-group,
 *                     PASSES times
 *
 * After the last pass sums[0] is the sum of all, and the other SUMS - 1 are zero: whatever the
 * parameters, the result is the same. Sizes and parameters (see reduce-opencl.toml) are macros.
 *
 *   PARTIALS      parts of the data; both kernels depend on it.
 *   WG            work-items in a work-group, of both kernels.
 *   VECTOR        floats in a vector.
 *   INTERLEAVED   1: a work-item adds every WG-th vector of its part, so that neighbours read
 *                 neighbouring vectors; 0: its vectors are contiguous.
 *   FOLD, PASSES  FOLD ** PASSES = PARTIALS: many passes that add few, or few that add many.
 */
#define JOIN_TEXT(a, b) a##b
#define JOIN(a, b) JOIN_TEXT(a, b)

/* A vector, and the sum of its floats; OpenCL has no vector of one. */
#if VECTOR == 1
typedef float vec;
#define SUM_OF(v) (v)
#else
typedef JOIN(float, VECTOR) vec;
#define SUM_OF(v) JOIN(sum_of_, VECTOR)(v)
#endif

static float sum_of_2(float2 v) { return v.x + v.y; }
static float sum_of_4(float4 v) { return sum_of_2(v.lo + v.hi); }
static float sum_of_8(float8 v) { return sum_of_4(v.lo + v.hi); }

enum { VECTORS = N / PARTIALS / VECTOR / WG }; /* of a work-item */

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void partial_sums(__global const vec *restrict data, __global float *restrict sums)
{
    __local float partial[WG];
    const int id = get_local_id(0), part = get_group_id(0);
    vec sum = 0.0f;

    for (int v = 0; v < VECTORS; v++)
        sum += data[part * WG * VECTORS + (INTERLEAVED ? v * WG + id : id * VECTORS + v)];
    partial[id] = SUM_OF(sum);

    for (int count = WG / 2; count > 0; count /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < count)
            partial[id] += partial[id + count];
    }
    if (id == 0)
        sums[part] = partial[0];
    for (int p = PARTIALS + get_global_id(0); p < SUMS; p += get_global_size(0))
        sums[p] = 0.0f;
}

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void fold(__global float *sums)
{
    __local float folded[PARTIALS / FOLD];
    const int id = get_local_id(0);

    for (int i = id; i < PARTIALS / FOLD; i += WG) {
        float sum = 0.0f;

        #pragma unroll
        for (int j = 0; j < FOLD; j++)
            sum += sums[i * FOLD + j];
        folded[i] = sum;
    }
    /* Nobody may overwrite a sum that another still reads. */
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (int i = id; i < PARTIALS; i += WG)
        sums[i] = i < PARTIALS / FOLD ? folded[i] : 0.0f;
}
