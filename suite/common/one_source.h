/*
 * Compiles one kernel as OpenCL C, as CUDA C++ and as HIP C++.
 *
 * Write the kernel in OpenCL C, include this file first, and keep to the words below. Compiled as
 * OpenCL it defines the few words that OpenCL lacks; compiled as CUDA or HIP it also defines OpenCL's own.
 * What is said of CUDA below holds for HIP.
 *
 *     #include "one_source.h"
 *
 *     FUNCTION float twice(float x) { return 2.0f * x; }
 *
 *     __kernel WORK_GROUP(WG, 1, 1)
 *     void scale(__global const float *restrict from, __global float *restrict to)
 *     {
 *         __local float tile[WG];                      // in the kernel's own scope
 *         ...
 *     }
 *
 * What to write where the two languages differ:
 *
 *   FUNCTION                 before every function that is not a kernel, instead of `static` or
 *                            `inline`.
 *   WORK_GROUP(x, y, z)      the work-group's extents, constants; between __kernel and void.
 *   __local                  before an array in the kernel's scope. A pointer to it is a
 *                            LOCAL_POINTER: in CUDA the words differ. `LOCAL_POINTER float *row =
 *                            tile;`
 *   __global, __private      empty in CUDA. __constant at file scope is CUDA's __constant__.
 *   CONSTANT_POINTER         a pointer to constant memory in OpenCL, `CONSTANT_POINTER float
 *                            *filter`. CUDA's parameters cannot point there: it is global memory.
 *                            For constant memory in both give the argument of the problem file
 *                            `memory = "constant"` and `symbol = "filter"`, and write
 *     CONSTANT_VARIABLE(float, filter, 49)     at file scope, CUDA's variable;
 *     CONSTANT_PARAMETER(float, filter)        first in the kernel's parameter list, OpenCL's; no
 *     comma behind it.
 *   VECTOR(float, n)         the vector of n floats (int, uint, double), n = 1, 2, 4, 8, 16 and
 *                            possibly a macro. It has + - * /, with scalars too, += -= *= /=, unary
 *                            -, fma and mad.
 *   SPLAT(float, n, x)       such a vector with x in every place. `v = 0.0f` is OpenCL's alone.
 *   make_float4(a, b, c, d)  instead of (float4)(a, b, c, d); also make_float2, _int2, _int4,
 *                            _uint2, _uint4, _double2.
 *   v.x v.y v.z v.w          elements of two and four; v.s0 to v.sf those of 8 and 16. No swizzles.
 *                            By number: `union { VECTOR(float, n) vector; float each[n]; }`.
 *   LOAD(float, n, i, p)     vector number i of p, a pointer to float of any address space; aligned
 *                            as a float is.
 *   STORE(float, n, v, i, p) stores it. vload2, vload4, ... and vstore2, ... exist as well.
 *   ((VECTOR(float, n) *)p)  with the address space, for memory aligned as the vector is: one
 *                            access of up to 16 bytes.
 *   #ifdef ONE_CPP           true in CUDA and HIP.
 *   (type){...}              not in C++: initialise a variable instead. Conversions from void * are
 *                            explicit in C++.
 */
#ifndef ONE_SOURCE_H
#define ONE_SOURCE_H

#define ONE_JOIN_TEXT(a, b) a##b
#define ONE_JOIN(a, b) ONE_JOIN_TEXT(a, b)

#define VECTOR(type, n) ONE_JOIN(type##_by_, n)
#define SPLAT(type, n, x) ONE_JOIN(splat_##type##_, n)(x)
#define LOAD(type, n, i, p) ONE_JOIN(load_by_, n)(i, p)
#define STORE(type, n, v, i, p) ONE_JOIN(store_by_, n)(v, i, p)

#define load_by_1(i, p) ((p)[i])
#define load_by_2(i, p) vload2(i, p)
#define load_by_4(i, p) vload4(i, p)
#define load_by_8(i, p) vload8(i, p)
#define load_by_16(i, p) vload16(i, p)
#define store_by_1(v, i, p) ((p)[i] = (v))
#define store_by_2(v, i, p) vstore2(v, i, p)
#define store_by_4(v, i, p) vstore4(v, i, p)
#define store_by_8(v, i, p) vstore8(v, i, p)
#define store_by_16(v, i, p) vstore16(v, i, p)

/* Defined where the source is C++: by the compilers of CUDA and HIP. */
#if defined(__CUDACC__) || defined(__HIP__)
#define ONE_CPP 1
#endif

#ifndef ONE_CPP

#define FUNCTION static inline
#define WORK_GROUP(x, y, z) __attribute__((reqd_work_group_size(x, y, z)))
#define LOCAL_POINTER __local
#define CONSTANT_POINTER __constant
#define CONSTANT_VARIABLE(type, name, count)
#define CONSTANT_PARAMETER(type, name) __constant type *name,

#define float_by_1 float
#define float_by_2 float2
#define float_by_4 float4
#define float_by_8 float8
#define float_by_16 float16
#define int_by_1 int
#define int_by_2 int2
#define int_by_4 int4
#define int_by_8 int8
#define int_by_16 int16
#define uint_by_1 uint
#define uint_by_2 uint2
#define uint_by_4 uint4
#define uint_by_8 uint8
#define uint_by_16 uint16
#define double_by_1 double
#define double_by_2 double2
#define double_by_4 double4
#define double_by_8 double8
#define double_by_16 double16

#define splat_float_1(x) ((float)(x))
#define splat_float_2(x) ((float2)(x))
#define splat_float_4(x) ((float4)(x))
#define splat_float_8(x) ((float8)(x))
#define splat_float_16(x) ((float16)(x))
#define splat_int_1(x) ((int)(x))
#define splat_int_2(x) ((int2)(x))
#define splat_int_4(x) ((int4)(x))
#define splat_int_8(x) ((int8)(x))
#define splat_int_16(x) ((int16)(x))
#define splat_uint_1(x) ((uint)(x))
#define splat_uint_2(x) ((uint2)(x))
#define splat_uint_4(x) ((uint4)(x))
#define splat_uint_8(x) ((uint8)(x))
#define splat_uint_16(x) ((uint16)(x))
#define splat_double_1(x) ((double)(x))
#define splat_double_2(x) ((double2)(x))
#define splat_double_4(x) ((double4)(x))
#define splat_double_8(x) ((double8)(x))
#define splat_double_16(x) ((double16)(x))

#define make_float2(a, b) ((float2)(a, b))
#define make_float4(a, b, c, d) ((float4)(a, b, c, d))
#define make_int2(a, b) ((int2)(a, b))
#define make_int4(a, b, c, d) ((int4)(a, b, c, d))
#define make_uint2(a, b) ((uint2)(a, b))
#define make_uint4(a, b, c, d) ((uint4)(a, b, c, d))
#define make_double2(a, b) ((double2)(a, b))

#else

/*
 * Code that a parameter's value leaves out is no mistake: unreachable loops, unused functions and
 * variables.
 */
#ifdef __CUDACC__
#pragma nv_diag_suppress 111, 128, 177, 550
#endif

#define __kernel extern "C" __global__
#define __global
#define __private
#define __local __shared__
#define __constant __constant__
#define restrict __restrict__
#define FUNCTION static __device__ __forceinline__
#define WORK_GROUP(x, y, z) __launch_bounds__((x) * (y) * (z))
#define LOCAL_POINTER
#define CONSTANT_POINTER const
#define CONSTANT_VARIABLE(type, name, count) __constant__ type name[count];
#define CONSTANT_PARAMETER(type, name)

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
#ifndef __HIP__ /* which has it as `unsigned long` */
typedef unsigned long long ulong;
#endif

/* Work-items. */
FUNCTION size_t get_local_id(int d) { return d == 0 ? threadIdx.x : d == 1 ? threadIdx.y : threadIdx.z; }
FUNCTION size_t get_group_id(int d) { return d == 0 ? blockIdx.x : d == 1 ? blockIdx.y : blockIdx.z; }
FUNCTION size_t get_local_size(int d) { return d == 0 ? blockDim.x : d == 1 ? blockDim.y : blockDim.z; }
FUNCTION size_t get_num_groups(int d) { return d == 0 ? gridDim.x : d == 1 ? gridDim.y : gridDim.z; }
FUNCTION size_t get_global_id(int d) { return get_group_id(d) * get_local_size(d) + get_local_id(d); }
FUNCTION size_t get_global_size(int d) { return get_num_groups(d) * get_local_size(d); }

#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define barrier(fence) __syncthreads()
#define mem_fence(fence) __threadfence_block()

/*
 * Functions of scalars; fabs, fmin, fmax, fma, sqrt, rsqrt, floor, min, max and the like are CUDA's
 * too.
 */
FUNCTION float mad(float a, float b, float c) { return fmaf(a, b, c); }
FUNCTION double mad(double a, double b, double c) { return fma(a, b, c); }
FUNCTION int mad24(int a, int b, int c) { return __mul24(a, b) + c; }
FUNCTION int mul24(int a, int b) { return __mul24(a, b); }
FUNCTION int clamp(int x, int low, int high) { return min(max(x, low), high); }
FUNCTION float clamp(float x, float low, float high) { return fminf(fmaxf(x, low), high); }
FUNCTION float mix(float a, float b, float t) { return a + (b - a) * t; }

FUNCTION float native_sqrt(float x)
{
#ifdef __HIP__
    return __builtin_amdgcn_sqrtf(x);
#else
    float root;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
#endif
}

FUNCTION float native_rsqrt(float x) { return rsqrtf(x); }
FUNCTION float native_recip(float x) { return __fdividef(1.0f, x); }
FUNCTION float native_divide(float a, float b) { return __fdividef(a, b); }
FUNCTION float native_sin(float x) { return __sinf(x); }
FUNCTION float native_cos(float x) { return __cosf(x); }
FUNCTION float native_exp(float x) { return __expf(x); }
FUNCTION float native_exp2(float x) { return exp2f(x); }
FUNCTION float native_exp10(float x) { return __exp10f(x); }
FUNCTION float native_log(float x) { return __logf(x); }
FUNCTION float native_log2(float x) { return __log2f(x); }
FUNCTION float native_log10(float x) { return __log10f(x); }
FUNCTION float native_powr(float x, float y) { return __powf(x, y); }
#define half_sqrt native_sqrt
#define half_rsqrt native_rsqrt
#define half_recip native_recip
#define half_divide native_divide

FUNCTION float as_float(uint x) { return __uint_as_float(x); }
FUNCTION float as_float(int x) { return __int_as_float(x); }
FUNCTION int as_int(float x) { return __float_as_int(x); }
FUNCTION uint as_uint(float x) { return __float_as_uint(x); }
#define convert_float(x) ((float)(x))
#define convert_int(x) ((int)(x))
#define convert_uint(x) ((uint)(x))
#define popcount(x) __popc(x)

/* Atomic operations on 32 bits; each returns the old value. */
template <class T> FUNCTION T atomic_add(T *at, T x) { return atomicAdd(at, x); }
template <class T> FUNCTION T atomic_sub(T *at, T x) { return atomicSub(at, x); }
template <class T> FUNCTION T atomic_min(T *at, T x) { return atomicMin(at, x); }
template <class T> FUNCTION T atomic_max(T *at, T x) { return atomicMax(at, x); }
template <class T> FUNCTION T atomic_and(T *at, T x) { return atomicAnd(at, x); }
template <class T> FUNCTION T atomic_or(T *at, T x) { return atomicOr(at, x); }
template <class T> FUNCTION T atomic_xor(T *at, T x) { return atomicXor(at, x); }
template <class T> FUNCTION T atomic_xchg(T *at, T x) { return atomicExch(at, x); }
template <class T> FUNCTION T atomic_cmpxchg(T *at, T old, T x) { return atomicCAS(at, old, x); }
template <class T> FUNCTION T atomic_inc(T *at) { return atomicAdd(at, (T)1); }
template <class T> FUNCTION T atomic_dec(T *at) { return atomicSub(at, (T)1); }

/*
 * Vectors. CUDA's own have two and four elements and no arithmetic; those of 8 and 16 are ours. HIP's own have an
 * arithmetic that clashes with the one below, so that they are ours as well.
 */
#ifdef __HIP__
#define ONE_SHORT(type, two, four)                                                                             \
    struct __align__(two) ONE_JOIN(one_, ONE_JOIN(type, 2)) { type x, y; };                                    \
    struct __align__(four) ONE_JOIN(one_, ONE_JOIN(type, 4)) { type x, y, z, w; };

ONE_SHORT(float, 8, 16)
ONE_SHORT(int, 8, 16)
ONE_SHORT(uint, 8, 16)
struct __align__(16) one_double2 { double x, y; };
#define float2 one_float2
#define float4 one_float4
#define int2 one_int2
#define int4 one_int4
#define uint2 one_uint2
#define uint4 one_uint4
#define double2 one_double2
#define make_float2(a, b) (one_float2{(a), (b)})
#define make_float4(a, b, c, d) (one_float4{(a), (b), (c), (d)})
#define make_int2(a, b) (one_int2{(a), (b)})
#define make_int4(a, b, c, d) (one_int4{(a), (b), (c), (d)})
#define make_uint2(a, b) (one_uint2{(a), (b)})
#define make_uint4(a, b, c, d) (one_uint4{(a), (b), (c), (d)})
#define make_double2(a, b) (one_double2{(a), (b)})
#endif

#define ONE_WIDE(type)                                                                                         \
    struct __align__(16) ONE_JOIN(type, 8) { type s0, s1, s2, s3, s4, s5, s6, s7; };                           \
    struct __align__(16) ONE_JOIN(type, 16) { type s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf; };

ONE_WIDE(float)
ONE_WIDE(int)
ONE_WIDE(uint)
ONE_WIDE(double)

/* CUDA 13 has a double4 for each alignment and deprecates the plain one. */
struct __align__(16) one_double4 { double x, y, z, w; };
#define double4 one_double4

/*
 * An array of the elements of vector `v`: the compiler keeps it in registers, since every index is
 * constant.
 */
#define ONE_EACH(type, v) (reinterpret_cast<type *>(&(v)))
#define ONE_OF(type, v) (reinterpret_cast<const type *>(&(v)))

#define ONE_OPERATOR(type, name, n, op)                                                                        \
    FUNCTION name operator op(name a, name b)                                                                  \
    {                                                                                                          \
        _Pragma("unroll") for (int i = 0; i < n; i++) ONE_EACH(type, a)[i] op##= ONE_OF(type, b)[i];           \
        return a;                                                                                              \
    }                                                                                                          \
    FUNCTION name operator op(name a, type b)                                                                  \
    {                                                                                                          \
        _Pragma("unroll") for (int i = 0; i < n; i++) ONE_EACH(type, a)[i] op##= b;                            \
        return a;                                                                                              \
    }                                                                                                          \
    FUNCTION name operator op(type a, name b)                                                                  \
    {                                                                                                          \
        _Pragma("unroll") for (int i = 0; i < n; i++) ONE_EACH(type, b)[i] = a op ONE_EACH(type, b)[i];        \
        return b;                                                                                              \
    }                                                                                                          \
    FUNCTION name &operator op##=(name &a, name b) { return a = a op b; }                                      \
    FUNCTION name &operator op##=(name &a, type b) { return a = a op b; }

#define ONE_VECTOR(type, name, n)                                                                              \
    typedef name type##_by_##n;                                                                                \
    FUNCTION name splat_##type##_##n(type x)                                                                   \
    {                                                                                                          \
        name v;                                                                                                \
        _Pragma("unroll") for (int i = 0; i < n; i++) ONE_EACH(type, v)[i] = x;                                \
        return v;                                                                                              \
    }                                                                                                          \
    ONE_OPERATOR(type, name, n, +)                                                                             \
    ONE_OPERATOR(type, name, n, -)                                                                             \
    ONE_OPERATOR(type, name, n, *)                                                                             \
    ONE_OPERATOR(type, name, n, /)                                                                             \
    FUNCTION name operator-(name a)                                                                            \
    {                                                                                                          \
        _Pragma("unroll") for (int i = 0; i < n; i++) ONE_EACH(type, a)[i] = -ONE_EACH(type, a)[i];            \
        return a;                                                                                              \
    }                                                                                                          \
    FUNCTION name mad(name a, name b, name c)                                                                  \
    {                                                                                                          \
        _Pragma("unroll") for (int i = 0; i < n; i++) ONE_EACH(type, c)[i] += ONE_OF(type, a)[i] * ONE_OF(type, b)[i]; \
        return c;                                                                                              \
    }                                                                                                          \
    FUNCTION name fma(name a, name b, name c) { return mad(a, b, c); }                                         \
    FUNCTION type dot(name a, name b)                                                                          \
    {                                                                                                          \
        type sum = 0;                                                                                          \
        _Pragma("unroll") for (int i = 0; i < n; i++) sum += ONE_OF(type, a)[i] * ONE_OF(type, b)[i];          \
        return sum;                                                                                            \
    }                                                                                                          \
    FUNCTION name vload##n(size_t at, const type *from)                                                        \
    {                                                                                                          \
        name v;                                                                                                \
        _Pragma("unroll") for (int i = 0; i < n; i++) ONE_EACH(type, v)[i] = from[at * n + i];                 \
        return v;                                                                                              \
    }                                                                                                          \
    FUNCTION void vstore##n(name v, size_t at, type *to)                                                       \
    {                                                                                                          \
        _Pragma("unroll") for (int i = 0; i < n; i++) to[at * n + i] = ONE_OF(type, v)[i];                     \
    }

#define ONE_VECTORS(type)                                                                                      \
    typedef type type##_by_1;                                                                                  \
    FUNCTION type splat_##type##_1(type x) { return x; }                                                       \
    ONE_VECTOR(type, ONE_JOIN(type, 2), 2)                                                                     \
    ONE_VECTOR(type, ONE_JOIN(type, 4), 4)                                                                     \
    ONE_VECTOR(type, ONE_JOIN(type, 8), 8)                                                                     \
    ONE_VECTOR(type, ONE_JOIN(type, 16), 16)

ONE_VECTORS(float)
ONE_VECTORS(int)
ONE_VECTORS(uint)
ONE_VECTORS(double)

#endif
#endif
