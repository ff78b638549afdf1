/*
 * Probabilistic record linkage: finds for each new record the known record that most likely describes the same person.
 * L_1 are the new records, R_1 the known ones. `tiling.h` says what the parameters mean.
 *
 * A record is a row of ATTRIBUTES codes, 0 if unknown. The weight of a pair is the sum over the attributes: `agree`
 * where the codes are equal, `differ` where they are not, nothing where one is unknown. Of equal weights the first
 * match wins.
 *
 * `match` compares all pairs, or with NUM_WG_R_1 > 1 finds a candidate per work-group along R_1. `choose` takes the
 * best.
 */
#include "tiling.h"

#define FOLDED_WG(order) 1
#define FOLDED_WI(order) 1
#define ITEMS (NUM_WI_L_1 * NUM_WI_R_1)

/* Extents of the local and of the private block. */
#define TILE_1 L_CB_SIZE_L_1
#define TILE_R L_CB_SIZE_R_1
#define PART_1 P_CB_SIZE_L_1
#define PART_R P_CB_SIZE_R_1

/* Work-items along R_1 search apart: candidates of a record that a group keeps in global memory. */
#define OWN_CANDIDATES (L_CB_RES_DEST_LEVEL == 2 ? NUM_WI_R_1 : 1)
#define CANDIDATES (NUM_WG_R_1 * OWN_CANDIDATES)

/* Words of private arrays, and of arrays in local memory. Problem files repeat these sums. */
#define PART_APART (P_CB_RES_DEST_LEVEL < L_CB_RES_DEST_LEVEL)
#define PRIVATE_TILE (L_CB_RES_DEST_LEVEL == 0 ? TILE_1 / NUM_WI_L_1 : 0)
#define PRIVATE_PART (PART_APART && P_CB_RES_DEST_LEVEL == 0 ? PART_1 : 0)
#define PRIVATE_NEW (CACHE_P_CB * PART_1 * ATTRIBUTES)
#define PRIVATE_KNOWN (CACHE_P_CB * PART_R * ATTRIBUTES)
#define PRIVATE_RESULTS (2 * PRIVATE_TILE + 2 * PRIVATE_PART)
#define PRIVATE (PRIVATE_RESULTS + PRIVATE_NEW + PRIVATE_KNOWN)
#define LOCAL_NEW (CACHE_L_CB * TILE_1 * ATTRIBUTES)
#define LOCAL_KNOWN (CACHE_L_CB * TILE_R * ATTRIBUTES)
#define LOCAL_TILE (L_CB_RES_DEST_LEVEL == 1 ? NUM_WI_R_1 * TILE_1 : 0)

#if SPILLED
#define ARRAY(type, name, offset, size) IN_GLOBAL(type, name, offset)
#else
#define ARRAY(type, name, offset, size) IN_PRIVATE(type, name, size)
#endif

#if PART_1 * PART_R <= 16
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

/* Codes of records from the origin of the local block, and from that of the private block. */
#if CACHE_L_CB
#define IN_TILE_NEW(i, t) local_new[(i) * ATTRIBUTES + (t)]
#define IN_TILE_KNOWN(k, t) local_known[(k) * ATTRIBUTES + (t)]
#else
#define IN_TILE_NEW(i, t) records[(first + (i)) * ATTRIBUTES + (t)]
#define IN_TILE_KNOWN(k, t) known[(inner + (k)) * ATTRIBUTES + (t)]
#endif
#if CACHE_P_CB
#define IN_PART_NEW(p, t) private_new[(p) * ATTRIBUTES + (t)]
#define IN_PART_KNOWN(r, t) private_known[(r) * ATTRIBUTES + (t)]
#else
#define IN_PART_NEW(p, t) IN_TILE_NEW(i + (p), t)
#define IN_PART_KNOWN(r, t) IN_TILE_KNOWN(k + (r), t)
#endif

/* The result of the local block at element p of the private block at i: `what` is weight or match. */
#if L_CB_RES_DEST_LEVEL == 2
#define TILE_RESULT(what, p) own_##what[first + i + (p)]
#elif L_CB_RES_DEST_LEVEL == 1
#define TILE_RESULT(what, p) local_##what[ITEM(R_1) * TILE_1 + i + (p)]
#else
#define TILE_RESULT(what, p) private_##what[step_1 * PART_1 + (p)]
#endif
#if !PART_APART
#define PART_RESULT(what, p) TILE_RESULT(what, p)
#elif P_CB_RES_DEST_LEVEL == 1
#define PART_RESULT(what, p) local_part_##what[p]
#else
#define PART_RESULT(what, p) private_part_##what[p]
#endif

/* All private blocks of this work-item in the local block, and all elements of one. */
#define EACH_PART for (int step_1 = 0, i = BEGIN(L_1, 0); step_1 < STEPS(L_1); step_1++, i = BEGIN(L_1, step_1))
#define EACH_ELEMENT UNROLL for (int p = 0; p < PART_1; p++)

/* No match yet: every pair has a larger weight. */
#define NOTHING -1e30f
#define BETTER(weight, match, than_weight, than_match)                                                                \
    ((weight) > (than_weight) || ((weight) == (than_weight) && (match) < (than_match)))

__kernel void match(__global const int *restrict records, __global const int *restrict known,
                    CONSTANT_POINTER float *restrict agree, CONSTANT_POINTER float *restrict differ,
                    __global float *best_weight, __global int *best_match, __global float *weights,
                    __global int *matches, __global float *spill LOCAL_PARAMETER)
{
    LOCAL_BEGIN
    PRIVATE_BEGIN
    ARRAY(float, private_weight, 0, PRIVATE_TILE)
    ARRAY(int, private_match, PRIVATE_TILE, PRIVATE_TILE)
    ARRAY(float, private_part_weight, 2 * PRIVATE_TILE, PRIVATE_PART)
    ARRAY(int, private_part_match, 2 * PRIVATE_TILE + PRIVATE_PART, PRIVATE_PART)
    ARRAY(int, private_new, PRIVATE_RESULTS, PRIVATE_NEW)
    ARRAY(int, private_known, PRIVATE_RESULTS + PRIVATE_NEW, PRIVATE_KNOWN)
    LOCAL_POINTER int *const local_new = (LOCAL_POINTER int *)local_block;
    LOCAL_POINTER int *const local_known = local_new + LOCAL_NEW;
    LOCAL_POINTER float *const local_weight = local_block + LOCAL_NEW + LOCAL_KNOWN;
    LOCAL_POINTER int *const local_match = local_known + LOCAL_KNOWN + LOCAL_TILE;
    LOCAL_POINTER float *const local_part_weight = local_weight + 2 * LOCAL_TILE + FLAT_ITEM * 2 * PART_1;
    LOCAL_POINTER int *const local_part_match = local_match + LOCAL_TILE + (FLAT_ITEM * 2 + 1) * PART_1;
    LOCAL_POINTER float *const exchange_weight = local_weight;
    LOCAL_POINTER int *const exchange_match = local_match + ITEMS;

    /* Where this work-item searches, if in global memory, and where its group's result goes. */
    const int mine = GROUP(R_1) * OWN_CANDIDATES;
    __global float *const weight_to = NUM_WG_R_1 > 1 ? weights + mine * NEW : best_weight;
    __global int *const match_to = NUM_WG_R_1 > 1 ? matches + mine * NEW : best_match;
    __global float *const own_weight = CANDIDATES > 1 ? weights + (mine + ITEM(R_1)) * NEW : best_weight;
    __global int *const own_match = CANDIDATES > 1 ? matches + (mine + ITEM(R_1)) * NEW : best_match;

    for (int first = GROUP(L_1) * TILE_1; first < NEW; first += NUM_WG_L_1 * TILE_1)
    {
        EACH_PART EACH_ELEMENT
        {
            TILE_RESULT(weight, p) = NOTHING;
            TILE_RESULT(match, p) = KNOWN;
        }
        for (int inner = GROUP(R_1) * TILE_R; inner < KNOWN; inner += NUM_WG_R_1 * TILE_R)
        {
#if CACHE_L_CB
            for (int x = FLAT_ITEM; x < LOCAL_NEW; x += ITEMS) local_new[x] = records[first * ATTRIBUTES + x];
            for (int x = FLAT_ITEM; x < LOCAL_KNOWN; x += ITEMS) local_known[x] = known[inner * ATTRIBUTES + x];
            MEET(CLK_LOCAL_MEM_FENCE);
#endif
            EACH_PART
            {
#if CACHE_P_CB
                for (int p = 0; p < PART_1; p++)
                    for (int t = 0; t < ATTRIBUTES; t++) IN_PART_NEW(p, t) = IN_TILE_NEW(i + p, t);
#endif
#if PART_APART
                EACH_ELEMENT
                {
                    PART_RESULT(weight, p) = NOTHING;
                    PART_RESULT(match, p) = KNOWN;
                }
#endif
                for (int step_r = 0, k = BEGIN(R_1, 0); step_r < STEPS(R_1); step_r++, k = BEGIN(R_1, step_r))
                {
#if CACHE_P_CB
                    for (int r = 0; r < PART_R; r++)
                        for (int t = 0; t < ATTRIBUTES; t++) IN_PART_KNOWN(r, t) = IN_TILE_KNOWN(k + r, t);
#endif
                    UNROLL for (int r = 0; r < PART_R; r++) EACH_ELEMENT
                    {
                        float weight = 0.0f;
                        for (int t = 0; t < ATTRIBUTES; t++)
                        {
                            const int one = IN_PART_NEW(p, t), other = IN_PART_KNOWN(r, t);
                            weight += one == 0 || other == 0 ? 0.0f : one == other ? agree[t] : differ[t];
                        }
                        if (BETTER(weight, inner + k + r, PART_RESULT(weight, p), PART_RESULT(match, p)))
                        {
                            PART_RESULT(weight, p) = weight;
                            PART_RESULT(match, p) = inner + k + r;
                        }
                    }
                }
#if PART_APART
                EACH_ELEMENT
                if (BETTER(PART_RESULT(weight, p), PART_RESULT(match, p),
                           TILE_RESULT(weight, p), TILE_RESULT(match, p)))
                {
                    TILE_RESULT(weight, p) = PART_RESULT(weight, p);
                    TILE_RESULT(match, p) = PART_RESULT(match, p);
                }
#endif
            }
#if CACHE_L_CB
            MEET(CLK_LOCAL_MEM_FENCE);
#endif
        }

        /* Takes the best that the work-items along R_1 have, and stores it where it is not yet. */
#if NUM_WI_R_1 > 1
        MEET(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        EACH_PART for (int p = 0; p < PART_1; p++)
        {
#if L_CB_RES_DEST_LEVEL == 2
#define OTHERS(what) own_##what[other * NEW + first + i + p]
#elif L_CB_RES_DEST_LEVEL == 1
#define OTHERS(what) local_##what[other * TILE_1 + i + p]
#else
#define OTHERS(what) exchange_##what[ITEM(L_1) * NUM_WI_R_1 + other]
            exchange_weight[ITEM(L_1) * NUM_WI_R_1 + ITEM(R_1)] = TILE_RESULT(weight, p);
            exchange_match[ITEM(L_1) * NUM_WI_R_1 + ITEM(R_1)] = TILE_RESULT(match, p);
            MEET(CLK_LOCAL_MEM_FENCE);
#endif
            if (ITEM(R_1) == 0)
            {
                float weight = NOTHING;
                int match = KNOWN;
                for (int other = 0; other < NUM_WI_R_1; other++)
                    if (BETTER(OTHERS(weight), OTHERS(match), weight, match))
                    {
                        weight = OTHERS(weight);
                        match = OTHERS(match);
                    }
                weight_to[first + i + p] = weight;
                match_to[first + i + p] = match;
            }
#if L_CB_RES_DEST_LEVEL == 0
            MEET(CLK_LOCAL_MEM_FENCE);
#endif
        }
        MEET(CLK_LOCAL_MEM_FENCE);
#elif L_CB_RES_DEST_LEVEL < 2
        EACH_PART EACH_ELEMENT
        {
            weight_to[first + i + p] = TILE_RESULT(weight, p);
            match_to[first + i + p] = TILE_RESULT(match, p);
        }
#endif
    }
}

__kernel void choose(__global const float *restrict weights, __global const int *restrict matches,
                     __global float *restrict best_weight, __global int *restrict best_match)
{
#if NUM_WG_R_1 > 1
    for (int x = get_global_id(0); x < NEW; x += get_global_size(0))
    {
        float weight = NOTHING;
        int match = KNOWN;
        for (int first = 0; first < NUM_WG_R_1; first += TILE_R)
            for (int group = first; group < first + TILE_R; group++)
            {
                const int at = group * OWN_CANDIDATES * NEW + x;
                if (BETTER(weights[at], matches[at], weight, match))
                {
                    weight = weights[at];
                    match = matches[at];
                }
            }
        best_weight[x] = weight;
        best_match[x] = match;
    }
#endif
}
