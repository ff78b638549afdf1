#include <math.h>

/* The step as one writes it first: a body is four floats in a row. */
void naive(const float dt, const float damping, const float softening, const float *restrict bodies,
           const float *restrict velocities, float *restrict new_bodies, float *restrict new_velocities)
{
    for (int i = 0; i < N; i++) {
        const float x = bodies[4 * i], y = bodies[4 * i + 1], z = bodies[4 * i + 2];
        float ax = 0, ay = 0, az = 0;

        for (int j = 0; j < N; j++) {
            const float dx = bodies[4 * j] - x, dy = bodies[4 * j + 1] - y, dz = bodies[4 * j + 2] - z;
            const float square = dx * dx + dy * dy + dz * dz + softening;
            const float pull = bodies[4 * j + 3] / (square * sqrtf(square));
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }

        const float vx = (velocities[4 * i] + dt * ax) * damping;
        const float vy = (velocities[4 * i + 1] + dt * ay) * damping;
        const float vz = (velocities[4 * i + 2] + dt * az) * damping;
        new_velocities[4 * i] = vx, new_velocities[4 * i + 1] = vy;
        new_velocities[4 * i + 2] = vz, new_velocities[4 * i + 3] = 0;
        new_bodies[4 * i] = x + dt * vx, new_bodies[4 * i + 1] = y + dt * vy;
        new_bodies[4 * i + 2] = z + dt * vz, new_bodies[4 * i + 3] = bodies[4 * i + 3];
    }
}
