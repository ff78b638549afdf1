/*
 * Convolves images with filters by cuDNN, by the algorithm that cuDNN finds to be the fastest. The declarations are
 * those of cudnn_graph_v9.h, cudnn_ops_v9.h and cudnn_cnn_v9.h of cuDNN 9.1; cuDNN 8 has the same functions. Images
 * and filters lie channel by channel (NCHW). By default, cuDNN would round the factors to TF32 on GPUs that can; the
 * math type FMA keeps full single precision.
 */

/* cudnnTensorFormat_t, cudnnDataType_t, cudnnMathType_t, cudnnConvolutionMode_t, cudnnConvolutionFwdAlgo_t */
enum { NCHW = 0, FLOAT = 0, FMA_MATH = 3, CONVOLUTION = 0, CROSS_CORRELATION = 1, ALGORITHMS = 8 };

/* cudnnMathType_t: those that may round. */
enum { TENSOR_MATH = 1, TENSOR_MATH_WITH_CONVERSION = 2 };

/* cudnnConvolutionFwdAlgoPerf_t */
struct found {
    int algorithm, status;
    float time;
    size_t memory;
    int determinism, math, reserved[3];
};

typedef int forward_function(void *handle, const void *alpha, void *image_form, const void *image, void *filter_form,
                             const void *filter, void *convolution, int algorithm, void *space, size_t bytes,
                             const void *beta, void *output_form, void *output);

struct plan {
    void *handle, *image, *filter, *convolution, *output; /* the last four are descriptors */
    int algorithm;
    void *space;
    size_t bytes;
    forward_function *forward;
    const char *(*describe)(int);
    void *library;
};

static const char missing[] = "cuDNN cannot be opened";

static void check_cudnn(const struct plan *plan, const char *what, int status)
{
    if (status) fail(what, plan->describe(status));
}

static void *descriptor(const struct plan *plan, const char *name)
{
    int (*create)(void **) = find(plan->library, missing, name);
    void *made = 0;
    check_cudnn(plan, name, create(&made));
    return made;
}

/* Describes the operands, which have no padding; the filter moves by one pixel. */
static void describe_operands(struct plan *plan)
{
    int (*tensor)(void *, int, int, int, int, int, int) = find(plan->library, missing, "cudnnSetTensor4dDescriptor");
    int (*filter)(void *, int, int, int, int, int, int) = find(plan->library, missing, "cudnnSetFilter4dDescriptor");
    int (*convolution)(void *, int, int, int, int, int, int, int, int) =
        find(plan->library, missing, "cudnnSetConvolution2dDescriptor");
    int (*math)(void *, int) = find(plan->library, missing, "cudnnSetConvolutionMathType");
    static const char what[] = "cuDNN refuses the operands";
    plan->image = descriptor(plan, "cudnnCreateTensorDescriptor");
    plan->output = descriptor(plan, "cudnnCreateTensorDescriptor");
    plan->filter = descriptor(plan, "cudnnCreateFilterDescriptor");
    plan->convolution = descriptor(plan, "cudnnCreateConvolutionDescriptor");
    check_cudnn(plan, what, tensor(plan->image, NCHW, FLOAT, IMAGES, CHANNELS, HEIGHT + FILTER_HEIGHT - 1,
                                   WIDTH + FILTER_WIDTH - 1));
    check_cudnn(plan, what, tensor(plan->output, NCHW, FLOAT, IMAGES, FILTERS, HEIGHT, WIDTH));
    check_cudnn(plan, what, filter(plan->filter, FLOAT, NCHW, FILTERS, CHANNELS, FILTER_HEIGHT, FILTER_WIDTH));
    check_cudnn(plan, what, convolution(plan->convolution, 0, 0, 1, 1, 1, 1, FLIPPED ? CONVOLUTION : CROSS_CORRELATION,
                                        FLOAT));
    check_cudnn(plan, what, math(plan->convolution, FMA_MATH));
}

/* Has cuDNN time its algorithms. It returns them in the order of their times, those that failed too. */
static void choose_algorithm(struct plan *plan, const struct call *call)
{
    int (*search)(void *, void *, void *, void *, void *, int, int *, struct found *) =
        find(plan->library, missing, "cudnnFindConvolutionForwardAlgorithm");
    struct found found[ALGORITHMS];
    int count = 0;
    check_cudnn(plan, "cuDNN finds no algorithm", search(plan->handle, plan->image, plan->filter, plan->convolution,
                                                         plan->output, ALGORITHMS, &count, found));
    for (int i = 0; i < count; i++) {
        if (found[i].status || found[i].math == TENSOR_MATH || found[i].math == TENSOR_MATH_WITH_CONVERSION) continue;
        plan->algorithm = found[i].algorithm;
        plan->bytes = found[i].memory;
        if (plan->bytes) plan->space = on_device(call, plan->bytes);
        return;
    }
    fail("cuDNN finds no algorithm", "none of its algorithms computes this convolution in single precision");
}

static const void *prepare(const struct call *call)
{
    static const char *const names[] = {"libcudnn.so.9", "libcudnn.so.8", "libcudnn.so", 0};
    static struct plan plan;
    plan.library = open_one(missing, names);
    plan.describe = find(plan.library, missing, "cudnnGetErrorString");
    plan.forward = find(plan.library, missing, "cudnnConvolutionForward");
    plan.handle = descriptor(&plan, "cudnnCreate");
    describe_operands(&plan);
    choose_algorithm(&plan, call);
    return &plan;
}

static void run(const struct call *call)
{
    const struct plan *plan = call->plan;
    const float one = 1.0f, zero = 0.0f;
    check_cudnn(plan, "cuDNN fails (cudnnConvolutionForward)",
                plan->forward(plan->handle, &one, plan->image, call->a, plan->filter, call->b, plan->convolution,
                              plan->algorithm, plan->space, plan->bytes, &zero, plan->output, call->c));
}
