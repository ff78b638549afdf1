/* Filterbank correlation in OpenCL; what it does is said in filterbank_passes.h. */
#define KERNEL __kernel __attribute__((reqd_work_group_size(block_w, block_h, 1)))
#define GLOBAL __global
#define LOCAL __local
#define LOCAL_POINTER __local
#define INLINE static inline
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)

#define LOCAL_X ((unsigned int)get_local_id(0))
#define LOCAL_Y ((unsigned int)get_local_id(1))
#define GROUP_X ((unsigned int)get_group_id(0))
#define GROUP_Y ((unsigned int)get_group_id(1))

#define DRAW(tickets) atomic_inc(tickets)
#define READ(x, i) ((x)[i])
#define PRODUCT_24(a, b) mul24(a, b)
#define ADD(sum, factor, vector) ((sum) += (factor) * (vector))
#define ADDED(a, b) ((a) + (b))
#define ZERO_4 ((float4)(0.0f))

#include "filterbank_passes.h"
