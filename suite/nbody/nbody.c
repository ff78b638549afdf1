/*
 * The step of nbody.cl for a processor.
 *
 *   TILE                   other bodies that act on all bodies before the next ones do: those in the cache.
 *   OUTER_UNROLL_FACTOR    own bodies whose sums are computed together.
 *   OWN_INNERMOST          1: the innermost loop is over the own bodies, 0: over the others. The compiler
 *                          makes vectors of it.
 *   INNER_UNROLL_FACTOR1   unrolling of the loop over the other bodies; 0 leaves it to the compiler.
 *   USE_SOA                0: a body is four floats in a row; 1: an array for each of its numbers.
 */
#include <math.h>

#if INNER_UNROLL_FACTOR1 == 0
#define UNROLL_OTHERS
#else
#define PRAGMA(text) _Pragma(#text)
#define UNROLL_BY(factor) PRAGMA(GCC unroll factor)
#define UNROLL_OTHERS UNROLL_BY(INNER_UNROLL_FACTOR1)
#endif

#if USE_SOA
#define BODY(part, place, i) bodies_##part[i]
#define VELOCITY(part, place, i) velocities_##part[i]
#else
#define BODY(part, place, i) bodies[4 * (i) + place]
#define VELOCITY(part, place, i) velocities[4 * (i) + place]
#endif

#if OWN_INNERMOST
#define EACH_PAIR                                    \
    UNROLL_OTHERS                                    \
    for (int j = others; j < others + TILE; j++)     \
        for (int k = 0; k < OUTER_UNROLL_FACTOR; k++)
#else
#define EACH_PAIR                                    \
    for (int k = 0; k < OUTER_UNROLL_FACTOR; k++)    \
        UNROLL_OTHERS                                \
        for (int j = others; j < others + TILE; j++)
#endif

static float ax[N], ay[N], az[N];

void nbody(const float dt, const float damping, const float softening, const float *restrict bodies,
           const float *restrict bodies_x, const float *restrict bodies_y, const float *restrict bodies_z,
           const float *restrict bodies_m, const float *restrict velocities, const float *restrict velocities_x,
           const float *restrict velocities_y, const float *restrict velocities_z, float *restrict new_bodies,
           float *restrict new_velocities)
{
    for (int i = 0; i < N; i++)
        ax[i] = ay[i] = az[i] = 0;

    for (int others = 0; others < N; others += TILE)
        for (int i = 0; i < N; i += OUTER_UNROLL_FACTOR) {
            float x[OUTER_UNROLL_FACTOR], y[OUTER_UNROLL_FACTOR], z[OUTER_UNROLL_FACTOR];
            float pull_x[OUTER_UNROLL_FACTOR] = {0}, pull_y[OUTER_UNROLL_FACTOR] = {0};
            float pull_z[OUTER_UNROLL_FACTOR] = {0};

            for (int k = 0; k < OUTER_UNROLL_FACTOR; k++)
                x[k] = BODY(x, 0, i + k), y[k] = BODY(y, 1, i + k), z[k] = BODY(z, 2, i + k);

            EACH_PAIR {
                const float dx = BODY(x, 0, j) - x[k], dy = BODY(y, 1, j) - y[k], dz = BODY(z, 2, j) - z[k];
                const float square = dx * dx + dy * dy + dz * dz + softening;
                const float pull = BODY(m, 3, j) / (square * sqrtf(square));
                pull_x[k] += pull * dx;
                pull_y[k] += pull * dy;
                pull_z[k] += pull * dz;
            }

            for (int k = 0; k < OUTER_UNROLL_FACTOR; k++)
                ax[i + k] += pull_x[k], ay[i + k] += pull_y[k], az[i + k] += pull_z[k];
        }

    for (int i = 0; i < N; i++) {
        const float vx = (VELOCITY(x, 0, i) + dt * ax[i]) * damping;
        const float vy = (VELOCITY(y, 1, i) + dt * ay[i]) * damping;
        const float vz = (VELOCITY(z, 2, i) + dt * az[i]) * damping;
        new_velocities[4 * i] = vx, new_velocities[4 * i + 1] = vy;
        new_velocities[4 * i + 2] = vz, new_velocities[4 * i + 3] = 0;
        new_bodies[4 * i] = BODY(x, 0, i) + dt * vx, new_bodies[4 * i + 1] = BODY(y, 1, i) + dt * vy;
        new_bodies[4 * i + 2] = BODY(z, 2, i) + dt * vz, new_bodies[4 * i + 3] = BODY(m, 3, i);
    }
}
