/*
 * Direct Coulomb summation on a regular grid of N x N x N points (KTT's counter paper, section 2.1):
 *
 *     energy[z][y][x] = sum over the atoms a of w_a / |(x, y, z) * spacing - position_a|
 *
 * w is the charge of an atom divided by 4 pi epsilon_0. N, ATOMS (sizes) and the tuning parameters
 * are macros. One source for OpenCL and CUDA.
 *
 *   WORK_GROUP_SIZE_X, _Y, _Z   the work-group. The points of a work-item follow one another along z,
 *                               those of a work-group along x and y too.
 *   Z_ITERATIONS                points of a work-item. Each atom that it loads serves all of them, and
 *                               so do the squares of the distances along x and y.
 *   INNER_UNROLL_FACTOR         unrolling of the loop over these points; 0 leaves it to the compiler.
 *   USE_SOA                     0: an atom is a float4; 1: four arrays hold x, y, z and w.
 *   VECTOR_SIZE                 atoms that a work-item takes at once, in the elements of a vector. Only
 *                               four arrays can be loaded so.
 *   USE_CONSTANT_MEMORY         1: the atoms come through constant memory (OpenCL).
 */
#include "../common/one_source.h"

#if USE_CONSTANT_MEMORY
#define ATOM_POINTER CONSTANT_POINTER
#else
#define ATOM_POINTER __global const
#endif

#if INNER_UNROLL_FACTOR == 0
#define UNROLL
#else
#define PRAGMA(text) _Pragma(#text)
#define UNROLL_BY(factor) PRAGMA(unroll factor)
#define UNROLL UNROLL_BY(INNER_UNROLL_FACTOR)
#endif

typedef VECTOR(float, VECTOR_SIZE) vec;

/* Adds the elements of a vector by halves. */
#define SUM_1(v) (v)
#define SUM_2(v) ((v).x + (v).y)
#define SUM_4(v) (SUM_2((v).lo) + SUM_2((v).hi))
#define SUM_8(v) (SUM_4((v).lo) + SUM_4((v).hi))
#define SUM_16(v) (SUM_8((v).lo) + SUM_8((v).hi))
#define SUM(v) ONE_JOIN(SUM_, VECTOR_SIZE)(v)

__kernel WORK_GROUP(WORK_GROUP_SIZE_X, WORK_GROUP_SIZE_Y, WORK_GROUP_SIZE_Z)
void coulomb3d(ATOM_POINTER float4 *restrict atoms, ATOM_POINTER vec *restrict atoms_x,
               ATOM_POINTER vec *restrict atoms_y, ATOM_POINTER vec *restrict atoms_z,
               ATOM_POINTER vec *restrict atoms_w, const float spacing, __global float *restrict energy)
{
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2) * Z_ITERATIONS;
    const float at_x = spacing * x, at_y = spacing * y, at_z = spacing * z;
    vec sums[Z_ITERATIONS];

    for (int i = 0; i < Z_ITERATIONS; i++)
        sums[i] = SPLAT(float, VECTOR_SIZE, 0.0f);

    for (int a = 0; a < ATOMS / VECTOR_SIZE; a++) {
#if USE_SOA
        const vec dx = at_x - atoms_x[a], dy = at_y - atoms_y[a], w = atoms_w[a];
        vec dz = at_z - atoms_z[a];
#else
        const float4 atom = atoms[a];
        const float dx = at_x - atom.x, dy = at_y - atom.y, w = atom.w;
        float dz = at_z - atom.z;
#endif
        const vec across = dx * dx + dy * dy;

        UNROLL
        for (int i = 0; i < Z_ITERATIONS; i++) {
            sums[i] += w * native_rsqrt(across + dz * dz);
            dz += spacing;
        }
    }

    for (int i = 0; i < Z_ITERATIONS; i++)
        energy[((z + i) * N + y) * N + x] = SUM(sums[i]);
}
