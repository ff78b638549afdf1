/* Counts the primes up to a limit with a sieve that works block by block, and prints the time it took. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

/* Marks the multiples of the odd numbers up to the root of `limit` in `small`. */
static void sieve_small(unsigned char *small, long root)
{
    for (long i = 3; i * i <= root; i += 2)
        if (!small[i])
            for (long j = i * i; j <= root; j += 2 * i)
                small[j] = 1;
}

static long count_primes(long limit)
{
    long root = 1;
    while (root * root < limit)
        ++root;
    unsigned char *small = calloc(root + 1, 1), *block = malloc(BLOCK);
    if (!small || !block)
        exit(1);
    sieve_small(small, root);
    long count = limit >= 2;
    for (long low = 3; low <= limit; low += 2L * BLOCK) {
        /* block[k] stands for the odd number low + 2k */
        long odds = (limit - low) / 2 + 1 < BLOCK ? (limit - low) / 2 + 1 : BLOCK;
        memset(block, 0, odds);
        for (long i = 3; i <= root && i * i <= low + 2 * (odds - 1); i += 2) {
            if (small[i])
                continue;
            long first = i * i > low ? i * i : low + (i - low % i) % i;
            first += first % 2 ? 0 : i;
            for (long k = (first - low) / 2; k < odds; k += i)
                block[k] = 1;
        }
        for (long k = 0; k < odds; ++k)
            count += !block[k];
    }
    free(small);
    free(block);
    return count;
}

int main(int argc, char **argv)
{
    double start = now_ms();
    long count = count_primes(argc > 1 ? atol(argv[1]) : 1000000);
    printf("%ld primes\nsieved in %.3f ms\n", count, now_ms() - start);
    return 0;
}
