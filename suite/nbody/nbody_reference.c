#include <math.h>

/* The step in double precision, body by body. */
void nbody_reference(float dt, float damping, float softening, const float *bodies, const float *velocities,
                     float *new_bodies, float *new_velocities)
{
    for (int i = 0; i < N; i++) {
        double acceleration[3] = {0, 0, 0};

        for (int j = 0; j < N; j++) {
            double d[3], square = softening;
            for (int k = 0; k < 3; k++) {
                d[k] = (double)bodies[4 * j + k] - bodies[4 * i + k];
                square += d[k] * d[k];
            }
            const double pull = bodies[4 * j + 3] / (square * sqrt(square));
            for (int k = 0; k < 3; k++)
                acceleration[k] += pull * d[k];
        }

        for (int k = 0; k < 3; k++) {
            const double velocity = (velocities[4 * i + k] + dt * acceleration[k]) * damping;
            new_velocities[4 * i + k] = velocity;
            new_bodies[4 * i + k] = bodies[4 * i + k] + dt * velocity;
        }
        new_velocities[4 * i + 3] = 0;
        new_bodies[4 * i + 3] = bodies[4 * i + 3];
    }
}
