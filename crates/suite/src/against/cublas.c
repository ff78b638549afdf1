/*
 * Multiplies matrices by cuBLAS. The declarations are those of cublas_api.h of cuBLAS 12.0. The default math mode
 * computes in full single precision, without TF32; it is set here, whatever becomes the default later.
 */

/* cublasOperation_t, cublasMath_t */
enum { AS_IT_IS = 0, TRANSPOSED = 1, DEFAULT_MATH = 0 };

typedef int sgemm_function(void *handle, int a_form, int b_form, int m, int n, int k, const float *alpha,
                           const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc);

struct plan {
    void *handle;
    sgemm_function *sgemm;
};

static void check_cublas(const char *what, int status)
{
    char text[32];
    snprintf(text, sizeof text, "status %d", status);
    if (status) fail(what, text);
}

static const void *prepare(const struct call *call)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so", 0};
    static const char what[] = "cuBLAS cannot be opened";
    static struct plan plan;
    (void)call;
    void *library = open_one(what, names);
    int (*create)(void **) = find(library, what, "cublasCreate_v2");
    int (*choose)(void *, int) = find(library, what, "cublasSetMathMode");
    plan.sgemm = find(library, what, "cublasSgemm_v2");
    check_cublas("cuBLAS cannot start (cublasCreate)", create(&plan.handle));
    check_cublas("cuBLAS has no default math mode", choose(plan.handle, DEFAULT_MATH));
    return &plan;
}

/*
 * cuBLAS takes columns that are contiguous. Rows that are contiguous are the columns of the transposed matrix: the
 * product of the transposed matrices in the other order is the transposed product.
 */
static void run(const struct call *call)
{
    const struct plan *plan = call->plan;
    const float one = 1.0f, zero = 0.0f;
    const int a_form = A_T ? TRANSPOSED : AS_IT_IS, lda = A_T != COLUMNS ? M : K;
    const int b_form = B_T ? TRANSPOSED : AS_IT_IS, ldb = B_T != COLUMNS ? K : N;
    check_cublas("cuBLAS fails (cublasSgemm)",
                 COLUMNS ? plan->sgemm(plan->handle, a_form, b_form, M, N, K, &one, call->a, lda, call->b, ldb, &zero,
                                       call->c, M)
                         : plan->sgemm(plan->handle, b_form, a_form, N, M, K, &one, call->b, ldb, call->a, lda, &zero,
                                       call->c, N));
}
