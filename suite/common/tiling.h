/*
 * Tiling of multi-dimensional loops over work-groups and work-items, with the parameters of ATF's case studies.
 *
 * A loop nest has dimensions L_1, L_2, ... of its result and possibly R_1, over which it reduces. Per dimension X:
 *
 *   NUM_WG_X      work-groups along X. Each takes every NUM_WG_X-th local block.
 *   NUM_WI_X      work-items of a group along X. Each takes every NUM_WI_X-th private block of a local block.
 *   L_CB_SIZE_X   extent of a local block: what a work-group computes at a time.
 *   P_CB_SIZE_X   extent of a private block: what a work-item computes at a time.
 *   OCL_DIM_X     dimension of the work-items that X lies on. Those from 2 on share dimension 2, the lowest fastest.
 *
 * Of the nest:
 *
 *   CACHE_L_CB           1 copies the inputs of a local block to local memory.
 *   CACHE_P_CB           1 copies the inputs of a private block to private memory.
 *   L_CB_RES_DEST_LEVEL  where results of a local block are accumulated: 2 global, 1 local, 0 private memory.
 *   P_CB_RES_DEST_LEVEL  where results of a private block are accumulated: at L_CB_RES_DEST_LEVEL, or nearer.
 *
 * Private memory has no limit that a program could ask for. Beyond 8 KiB of a work-item or 256 KiB of a work-group (the
 * registers of a GPU's multiprocessor), private arrays lie in a buffer in global memory, where a compiler for a GPU
 * would put them too. The problem file repeats the condition in the extent of that buffer.
 */
#ifndef TILING_H
#define TILING_H

#include "one_source.h"


/* `n` if dimension X shares the last dimension of the work-items with one of number `order` and runs faster, else 1. */
#define FOLDED(X, order, n) (OCL_DIM_##X >= 2 && OCL_DIM_##X < (order) ? (n) : 1)

/* The number of this work-group, and of this work-item in it, along X. The kernel defines FOLDED_WG and FOLDED_WI. */
#define GROUP(X)                                                                                                      \
    ((int)(OCL_DIM_##X < 2 ? get_group_id(OCL_DIM_##X) : get_group_id(2) / FOLDED_WG(OCL_DIM_##X) % NUM_WG_##X))
#define ITEM(X)                                                                                                       \
    ((int)(OCL_DIM_##X < 2 ? get_local_id(OCL_DIM_##X) : get_local_id(2) / FOLDED_WI(OCL_DIM_##X) % NUM_WI_##X))

/* The number of this work-item in its group, and of this group, in the order of the device. */
#define FLAT_ITEM ((int)(get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2))))
#define FLAT_GROUP (get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2)))

/* Private blocks of a work-item in a local block, along X; where number `step` of them begins in the local block. */
#define STEPS(X) (L_CB_SIZE_##X / P_CB_SIZE_##X / NUM_WI_##X)
#define BEGIN(X, step) (((step) * NUM_WI_##X + ITEM(X)) * P_CB_SIZE_##X)

/* A barrier, which a group of one work-item does not need. */
#define MEET(fence)                                                                                                   \
    if (ITEMS > 1) barrier(fence)

/* Dynamic local memory: the last parameter in OpenCL, no parameter in CUDA, which LOCAL_BEGIN declares. */
#ifdef ONE_CPP
#define LOCAL_PARAMETER
#define LOCAL_BEGIN extern __shared__ float local_block[];
#else
#define LOCAL_PARAMETER , __local float *local_block
#define LOCAL_BEGIN
#endif

/*
 * Private arrays. The kernel defines PRIVATE, the floats of a work-item in all of its arrays, and ITEMS of a group, and
 * has a parameter `spill`. `offset` is what the arrays before this one take.
 */
#define SPILLED (PRIVATE * (ITEMS > 32 ? ITEMS : 32) > 65536)
#define PRIVATE_BEGIN                                                                                                 \
    __global float *const spilled = spill + (SPILLED ? (FLAT_GROUP * ITEMS + FLAT_ITEM) * PRIVATE : 0);
#define IN_GLOBAL(type, name, offset) __global type *const name = (__global type *)(spilled + (offset));
#define IN_PRIVATE(type, name, size) type name[(size) > 0 ? (size) : 1];

#endif
