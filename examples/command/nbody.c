/* Bodies that attract each other: the kind of loop that compilers' options are about.
 *
 * nbody BODIES STEPS moves the bodies and prints where one of them ends, the energy before and after, and the time of
 * the steps. The sum over all other bodies is a reduction, which only -ffast-math lets a compiler reorder and so
 * compute with vectors; -march decides how wide these are. TILE bodies are looked at in a row, REAL is the type.
 */

#include <stdio.h>
#include <stdlib.h>
#include <tgmath.h>
#include <time.h>

#ifndef TILE
#define TILE 64
#endif

#ifndef REAL
#define REAL double
#endif

typedef REAL real;

static real *x, *y, *z, *vx, *vy, *vz, *mass;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

/* A linear congruential generator: the same bodies everywhere. */
static real uniform(void)
{
    static unsigned long long state = 42;
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (real)(state >> 40) / (1 << 24) - (real)0.5;
}

static real *array(int n)
{
    real *values = calloc(n, sizeof *values);
    if (!values)
        exit(1);
    return values;
}

static void create(int n)
{
    real **arrays[] = {&x, &y, &z, &vx, &vy, &vz, &mass};
    for (int i = 0; i < 7; ++i)
        *arrays[i] = array(n);
    for (int i = 0; i < n; ++i) {
        x[i] = uniform(), y[i] = uniform(), z[i] = uniform();
        mass[i] = (real)1 / n;
    }
}

/* Softening keeps close bodies from flying apart. */
static const real soft = (real)1e-2;

static real inverse_distance(real dx, real dy, real dz)
{
    return 1 / sqrt(dx * dx + dy * dy + dz * dz + soft);
}

static void pull(int i, int first, int last, real dt)
{
    real ax = 0, ay = 0, az = 0;
    for (int j = first; j < last; ++j) {
        real dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
        real inverse = inverse_distance(dx, dy, dz);
        real pull = mass[j] * inverse * inverse * inverse;
        ax += pull * dx, ay += pull * dy, az += pull * dz;
    }
    vx[i] += dt * ax, vy[i] += dt * ay, vz[i] += dt * az;
}

static void step(int n, real dt)
{
    for (int first = 0; first < n; first += TILE)
        for (int i = 0; i < n; ++i)
            pull(i, first, first + TILE < n ? first + TILE : n, dt);
    for (int i = 0; i < n; ++i)
        x[i] += dt * vx[i], y[i] += dt * vy[i], z[i] += dt * vz[i];
}

/* In double precision, whatever the bodies are kept in. */
static double energy(int n)
{
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += 0.5 * mass[i] * (vx[i] * vx[i] + vy[i] * vy[i] + vz[i] * vz[i]);
        for (int j = i + 1; j < n; ++j)
            sum -= mass[i] * mass[j] * inverse_distance(x[i] - x[j], y[i] - y[j], z[i] - z[j]);
    }
    return sum;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000, steps = argc > 2 ? atoi(argv[2]) : 10;
    create(n);
    double before = energy(n);
    double start = seconds();
    for (int i = 0; i < steps; ++i)
        step(n, (real)1e-3);
    double time = seconds() - start;
    double after = energy(n);
    printf("energy %.12f to %.12f\n", before, after);
    printf("drift %.3e\n", fabs(after / before - 1));
    printf("position %.12f %.12f %.12f\n", (double)x[n / 2], (double)y[n / 2], (double)z[n / 2]);
    printf("%d steps in %.6f s\n", steps, time);
    return 0;
}
