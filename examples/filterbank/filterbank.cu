/* Filterbank correlation in CUDA; what it does is said in filterbank_passes.h. */
#define KERNEL extern "C" __global__
#define GLOBAL
#define LOCAL __shared__
#define LOCAL_POINTER
#define INLINE static __device__ __forceinline__
#define BARRIER __syncthreads()

#define LOCAL_X threadIdx.x
#define LOCAL_Y threadIdx.y
#define GROUP_X blockIdx.x
#define GROUP_Y blockIdx.y

#define DRAW(tickets) atomicAdd(tickets, 1)
/* __ldg reads through the texture units' cache, as a fetch of a one-dimensional texture does. */
#define READ(x, i) (use_tex1d ? __ldg(&(x)[i]) : (x)[i])
#define PRODUCT_24(a, b) __umul24(a, b)
#define ADD(sum, factor, vector) (sum) = multiply_add(sum, factor, vector)
#define ADDED(a, b) multiply_add(a, 1.0f, b)
#define ZERO_4 make_float4(0.0f, 0.0f, 0.0f, 0.0f)

INLINE float4 multiply_add(float4 sum, float factor, float4 vector)
{
    return make_float4(sum.x + factor * vector.x, sum.y + factor * vector.y, sum.z + factor * vector.z,
                       sum.w + factor * vector.w);
}

#include "filterbank_passes.h"
