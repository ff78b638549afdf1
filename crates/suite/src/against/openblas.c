/* Multiplies matrices by OpenBLAS on one thread. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef void sgemm_function(int order, int a_form, int b_form, int m, int n, int k, float alpha, const float *a, int lda,
                            const float *b, int ldb, float beta, float *c, int ldc);

static sgemm_function *sgemm;

/*
 * Names the kernels for the widest vectors of the processor. OpenBLAS chooses by a list of processors; on one that is
 * newer than the library, it takes kernels without vectors, which are several times slower. A user's choice stands.
 */
static void choose_kernels(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        setenv("OPENBLAS_CORETYPE", "SKYLAKEX", 0);
    else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        setenv("OPENBLAS_CORETYPE", "HASWELL", 0);
#endif
}

static void open_library(void)
{
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    choose_kernels();
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    sgemm = library ? (sgemm_function *)dlsym(library, "cblas_sgemm") : 0;
    if (!sgemm) {
        const char *reason = dlerror();
        fprintf(stderr, "OpenBLAS cannot be opened: %s\n", reason ? reason : "it lacks cblas_sgemm");
        exit(3);
    }
    void (*threads)(int) = (void (*)(int))dlsym(library, "openblas_set_num_threads");
    if (threads) threads(1);
}

void compute(const float *a, const float *b, float *c)
{
    enum { ROWS_FIRST = 101, COLUMNS_FIRST = 102, AS_IT_IS = 111, TRANSPOSED = 112 };
    if (!sgemm) open_library();
    sgemm(COLUMNS ? COLUMNS_FIRST : ROWS_FIRST, A_T ? TRANSPOSED : AS_IT_IS, B_T ? TRANSPOSED : AS_IT_IS, M, N, K, 1.0f,
          a, A_T != COLUMNS ? M : K, b, B_T != COLUMNS ? K : N, 0.0f, c, COLUMNS ? M : N);
}
