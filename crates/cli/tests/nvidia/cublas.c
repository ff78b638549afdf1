/*
 * cuBLAS over the runtime in cudart.c. It takes columns that are contiguous, and refuses what the real one refuses:
 * a handle that is none, forms that are none, leading dimensions that are too small. It also refuses operands that
 * reach beyond the device's memory. FAKE_FAULT=product makes its results wrong.
 */
#include "cudart.h"
#include <stdlib.h>

enum { NOT_INITIALIZED = 1, INVALID_VALUE = 7, EXECUTION_FAILED = 13, MAGIC = 0xB1A5 };

struct handle {
    int magic, math;
};

static int is_open(const struct handle *handle)
{
    return handle && handle->magic == MAGIC;
}

int cublasCreate_v2(void **made)
{
    struct handle *handle = malloc(sizeof *handle);
    *handle = (struct handle){MAGIC, -1};
    *made = handle;
    fake_log("create");
    return 0;
}

int cublasSetMathMode(void *handle, int mode)
{
    if (!is_open(handle)) return NOT_INITIALIZED;
    ((struct handle *)handle)->math = mode;
    return 0;
}

struct product {
    int a_form, b_form, m, n, k, lda, ldb, ldc;
    const float *a, *b;
    float *c, alpha, beta;
};

static void multiply(void *data)
{
    const struct product *p = data;
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->m; i++) {
            float sum = 0, *to = &p->c[i + (size_t)j * p->ldc];
            for (int l = 0; l < p->k; l++)
                sum += p->a[p->a_form ? l + (size_t)i * p->lda : i + (size_t)l * p->lda]
                       * p->b[p->b_form ? j + (size_t)l * p->ldb : l + (size_t)j * p->ldb];
            *to = p->alpha * sum + (p->beta != 0 ? p->beta * *to : 0);
        }
    free(data);
}

/* Returns the memory of a matrix, or 0 if it reaches beyond the device's. */
static float *matrix(const void *device, int rows, int columns, int leading)
{
    return fake_memory(device, sizeof(float) * ((size_t)leading * (columns - 1) + rows));
}

int cublasSgemm_v2(void *handle, int a_form, int b_form, int m, int n, int k, const float *alpha, const void *a,
                   int lda, const void *b, int ldb, const float *beta, void *c, int ldc)
{
    const int a_rows = a_form ? k : m, b_rows = b_form ? n : k;
    if (!is_open(handle)) return NOT_INITIALIZED;
    if ((unsigned)a_form > 1 || (unsigned)b_form > 1 || m < 0 || n < 0 || k < 0) return INVALID_VALUE;
    if (lda < a_rows || ldb < b_rows || ldc < m || ((struct handle *)handle)->math != 0) return INVALID_VALUE;
    struct product *made = malloc(sizeof *made);
    *made = (struct product){a_form, b_form, m, n, k, lda, ldb, ldc, matrix(a, a_rows, a_form ? m : k, lda),
                             matrix(b, b_rows, b_form ? k : n, ldb), matrix(c, m, n, ldc), *alpha, *beta};
    if (!made->a || !made->b || !made->c) return EXECUTION_FAILED;
    const char *fault = getenv("FAKE_FAULT");
    if (fault && fault[0] == 'p') made->alpha += 1;
    fake_log("sgemm");
    return fake_enqueue(multiply, made) ? EXECUTION_FAILED : 0;
}
