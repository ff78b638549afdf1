/*
 * One step of N bodies that attract one another:
 *
 *     acceleration_i = sum over j of mass_j * d / (|d|^2 + softening)^(3/2), d = position_j - position_i
 *     velocity'      = (velocity + dt * acceleration) * damping
 *     position'      = position + dt * velocity'
 *
 * N (a size) and the tuning parameters are macros. One source for OpenCL and CUDA.
 *
 *   WORK_GROUP_SIZE_X      work-items of a work-group.
 *   OUTER_UNROLL_FACTOR    bodies of a work-item: each other body that it loads acts on all of them.
 *   INNER_UNROLL_FACTOR1   unrolling of the loop over the other bodies; 0 leaves it to the compiler.
 *   INNER_UNROLL_FACTOR2   unrolling of the loop over a work-item's own bodies; 0 as above.
 *   USE_SOA                0: a body is a float4 (and another for its velocity); 1: an array for each number.
 *   VECTOR_TYPE            other bodies taken at once, in the elements of a vector; only from arrays.
 *   LOCAL_MEM              1: the work-group copies the other bodies to local memory, as many at a time as
 *                          it has work-items.
 *   USE_CONSTANT_MEMORY    1: the other bodies come through constant memory (OpenCL).
 */
#include "../common/one_source.h"

#if USE_CONSTANT_MEMORY
#define BODY_POINTER CONSTANT_POINTER
#else
#define BODY_POINTER __global const
#endif

#define PRAGMA(text) _Pragma(#text)
#define UNROLL_BY(factor) PRAGMA(unroll factor)

#if INNER_UNROLL_FACTOR1 == 0
#define UNROLL_OTHERS
#else
#define UNROLL_OTHERS UNROLL_BY(INNER_UNROLL_FACTOR1)
#endif

#if INNER_UNROLL_FACTOR2 == 0
#define UNROLL_OWN
#else
#define UNROLL_OWN UNROLL_BY(INNER_UNROLL_FACTOR2)
#endif

enum {
    GROUP = WORK_GROUP_SIZE_X,
    OWN = OUTER_UNROLL_FACTOR,
    WIDTH = VECTOR_TYPE,
};

typedef VECTOR(float, VECTOR_TYPE) vec;

typedef union {
    vec vector;
    float each[VECTOR_TYPE];
} parts;

FUNCTION vec inverse_root(const vec x)
{
#ifdef ONE_CPP
    parts part;
    part.vector = x;
    #pragma unroll
    for (int i = 0; i < WIDTH; i++)
        part.each[i] = native_rsqrt(part.each[i]);
    return part.vector;
#else
    return native_rsqrt(x);
#endif
}

FUNCTION float sum(const vec x)
{
    parts part;
    float sum = 0.0f;
    part.vector = x;
    #pragma unroll
    for (int i = 0; i < WIDTH; i++)
        sum += part.each[i];
    return sum;
}

/* Adds to a[k] the pull of the other bodies at (x, y, z), with masses m, on each of the own ones. */
#define PULL(x, y, z, m)                                                      \
    UNROLL_OWN                                                                \
    for (int k = 0; k < OWN; k++) {                                           \
        const vec dx = (x) - own[k].x, dy = (y) - own[k].y, dz = (z) - own[k].z; \
        const vec inverse = inverse_root(dx * dx + dy * dy + dz * dz + softening); \
        const vec pull = (m) * inverse * inverse * inverse;                   \
        ax[k] += pull * dx;                                                   \
        ay[k] += pull * dy;                                                   \
        az[k] += pull * dz;                                                   \
    }

__kernel WORK_GROUP(WORK_GROUP_SIZE_X, 1, 1)
void nbody(const float dt, const float damping, const float softening, BODY_POINTER float4 *restrict bodies,
           BODY_POINTER float *restrict bodies_x, BODY_POINTER float *restrict bodies_y,
           BODY_POINTER float *restrict bodies_z, BODY_POINTER float *restrict bodies_m,
           __global const float4 *restrict velocities, __global const float *restrict velocities_x,
           __global const float *restrict velocities_y, __global const float *restrict velocities_z,
           __global float4 *restrict new_bodies, __global float4 *restrict new_velocities)
{
    const int item = get_local_id(0), first = get_group_id(0) * GROUP * OWN + item;
    float4 own[OWN];
    vec ax[OWN], ay[OWN], az[OWN];

    for (int k = 0; k < OWN; k++) {
        const int i = first + k * GROUP;
#if USE_SOA
        own[k] = make_float4(bodies_x[i], bodies_y[i], bodies_z[i], bodies_m[i]);
#else
        own[k] = bodies[i];
#endif
        ax[k] = ay[k] = az[k] = SPLAT(float, VECTOR_TYPE, 0.0f);
    }

#if LOCAL_MEM
#if USE_SOA
    __local vec tile_x[GROUP / WIDTH], tile_y[GROUP / WIDTH], tile_z[GROUP / WIDTH], tile_m[GROUP / WIDTH];
#else
    __local float4 tile[GROUP];
#endif

    for (int others = 0; others < N; others += GROUP) {
#if USE_SOA
        ((LOCAL_POINTER float *)tile_x)[item] = bodies_x[others + item];
        ((LOCAL_POINTER float *)tile_y)[item] = bodies_y[others + item];
        ((LOCAL_POINTER float *)tile_z)[item] = bodies_z[others + item];
        ((LOCAL_POINTER float *)tile_m)[item] = bodies_m[others + item];
#else
        tile[item] = bodies[others + item];
#endif
        barrier(CLK_LOCAL_MEM_FENCE);

        UNROLL_OTHERS
        for (int j = 0; j < GROUP / WIDTH; j++) {
#if USE_SOA
            const vec x = tile_x[j], y = tile_y[j], z = tile_z[j], m = tile_m[j];
#else
            const float x = tile[j].x, y = tile[j].y, z = tile[j].z, m = tile[j].w;
#endif
            PULL(x, y, z, m)
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#else
    UNROLL_OTHERS
    for (int j = 0; j < N / WIDTH; j++) {
#if USE_SOA
        const vec x = ((BODY_POINTER vec *)bodies_x)[j], y = ((BODY_POINTER vec *)bodies_y)[j];
        const vec z = ((BODY_POINTER vec *)bodies_z)[j], m = ((BODY_POINTER vec *)bodies_m)[j];
#else
        const float4 other = bodies[j];
        const float x = other.x, y = other.y, z = other.z, m = other.w;
#endif
        PULL(x, y, z, m)
    }
#endif

    for (int k = 0; k < OWN; k++) {
        const int i = first + k * GROUP;
#if USE_SOA
        float4 v = make_float4(velocities_x[i], velocities_y[i], velocities_z[i], 0.0f);
#else
        float4 v = velocities[i];
#endif
        v.x = (v.x + dt * sum(ax[k])) * damping;
        v.y = (v.y + dt * sum(ay[k])) * damping;
        v.z = (v.z + dt * sum(az[k])) * damping;
        v.w = 0.0f;
        new_velocities[i] = v;
        new_bodies[i] = make_float4(own[k].x + dt * v.x, own[k].y + dt * v.y, own[k].z + dt * v.z, own[k].w);
    }
}
