/* b += a and c = 2 * a, each MODE with a fault of its own. Compiles as C and as C++. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Out of the optimiser's sight, which would leave out what has no effect. */
static void *(*volatile allocate)(size_t) = malloc;
static void (*volatile give_back)(void *) = free;
static volatile int one = 1;
static int launches = 0;

static int deep(volatile int *above)
{
    volatile int here[256];
    here[0] = above[0];
    return one ? deep(here) + here[0] : 0;
}

#if MODE == 17
void defined_nowhere(void);
#endif

void kernel(const float *a, float *b, float *c, int n)
{
    launches++;
    for (int i = 0; i < n; i++) {
        b[i] += a[i];
        if (MODE == 10 && i == 7)
            continue;
        c[i] = 2 * a[i];
    }
#if MODE == 1
    this does not compile;
#elif MODE == 2
    *(volatile int *)(size_t)(one - 1) = 1;
#elif MODE == 3
    fprintf(stderr, "kernel: assertion failed\n");
    abort();
#elif MODE == 4
    while (one) { }
#elif MODE == 5
    c[0] = (float)deep(&launches);
#elif MODE == 6
    ((volatile float *)c)[n] = 1;
#elif MODE == 7
    ((volatile float *)c)[-2] = 1;
#elif MODE == 8
    ((volatile float *)a)[3] = 5;
#elif MODE == 9
    c[5] += 1;
    c[9] += 1;
#elif MODE == 11
    c[2] = NAN;
#elif MODE == 12
    exit(0);
#elif MODE == 13
    exit(3);
#elif MODE == 14
    printf("{\"Finished\":null}\n");
    fflush(stdout);
#elif MODE == 15
    b[1] += (float)launches;
#elif MODE == 16
    c[0] += (float)(launches - 1);
#elif MODE == 17
    defined_nowhere();
#elif MODE == 18
    if (launches == 2)
        abort();
#elif MODE == 20
    /* Leaves a damaged list of free memory behind, over which only the next user of this size stumbles. */
    if (launches == 1) {
        void *first = allocate(1000), *second = allocate(1000);
        give_back(first);
        give_back(second);
        *(volatile size_t *)second = 1;
    }
#elif MODE == 21
    void *first = allocate(1000), *second = allocate(1000);
    give_back(second);
    give_back(first);
#endif
}

#ifdef __cplusplus
}
#endif
