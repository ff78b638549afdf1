/*
 * cuDNN over the runtime in cudart.c. It checks every descriptor, and that the output has the extents which follow
 * from the others. Of its algorithms, the first fails, the second would round, and the third needs a workspace.
 * FAKE_FAULT=convolution makes its results wrong.
 */
#include "cudart.h"
#include <stdlib.h>
#include <string.h>

enum { NOT_INITIALIZED = 1, BAD_PARAM = 3, EXECUTION_FAILED = 8, NOT_SUPPORTED = 9 };
enum { TENSOR_MATH = 1, FMA_MATH = 3, FASTEST = 6, ROUNDING = 1, EXACT = 7, SPACE = 5000 };

/* A handle or a descriptor. Its numbers have the order of the arguments of the function that sets them. */
struct object {
    int kind, numbers[8], math;
};

enum { HANDLE = 11, TENSOR, FILTER, CONVOLUTION };

static int make(struct object **made, int kind)
{
    *made = calloc(1, sizeof **made);
    (*made)->kind = kind;
    fake_log("create");
    return 0;
}

int cudnnCreate(struct object **made) { return make(made, HANDLE); }
int cudnnCreateTensorDescriptor(struct object **made) { return make(made, TENSOR); }
int cudnnCreateFilterDescriptor(struct object **made) { return make(made, FILTER); }
int cudnnCreateConvolutionDescriptor(struct object **made) { return make(made, CONVOLUTION); }

const char *cudnnGetErrorString(int status)
{
    return status == BAD_PARAM ? "CUDNN_STATUS_BAD_PARAM" : "CUDNN_STATUS_EXECUTION_FAILED";
}

static int set(struct object *object, int kind, const int *numbers, size_t bytes)
{
    if (!object || object->kind != kind) return BAD_PARAM;
    memcpy(object->numbers, numbers, bytes);
    return 0;
}

int cudnnSetTensor4dDescriptor(struct object *object, int format, int type, int n, int c, int h, int w)
{
    const int numbers[] = {n, c, h, w};
    return format || type ? NOT_SUPPORTED : set(object, TENSOR, numbers, sizeof numbers);
}

int cudnnSetFilter4dDescriptor(struct object *object, int type, int format, int k, int c, int h, int w)
{
    const int numbers[] = {k, c, h, w};
    return format || type ? NOT_SUPPORTED : set(object, FILTER, numbers, sizeof numbers);
}

int cudnnSetConvolution2dDescriptor(struct object *object, int pad_h, int pad_w, int u, int v, int dilation_h,
                                    int dilation_w, int mode, int type)
{
    const int numbers[] = {pad_h, pad_w, u, v, dilation_h, dilation_w, mode};
    if (pad_h || pad_w || u != 1 || v != 1 || dilation_h != 1 || dilation_w != 1 || (unsigned)mode > 1 || type)
        return NOT_SUPPORTED;
    return set(object, CONVOLUTION, numbers, sizeof numbers);
}

int cudnnSetConvolutionMathType(struct object *object, int math)
{
    if (!object || object->kind != CONVOLUTION) return BAD_PARAM;
    object->math = math;
    return 0;
}

static int fits(const struct object *x, const struct object *w, const struct object *conv, const struct object *y)
{
    if (x->kind != TENSOR || w->kind != FILTER || conv->kind != CONVOLUTION || y->kind != TENSOR) return 0;
    return x->numbers[1] == w->numbers[1] && y->numbers[0] == x->numbers[0] && y->numbers[1] == w->numbers[0]
           && y->numbers[2] == x->numbers[2] - w->numbers[2] + 1 && y->numbers[3] == x->numbers[3] - w->numbers[3] + 1;
}

struct performance {
    int algorithm, status;
    float time;
    size_t memory;
    int determinism, math, reserved[3];
};

int cudnnFindConvolutionForwardAlgorithm(struct object *handle, struct object *x, struct object *w,
                                         struct object *conv, struct object *y, int wanted, int *count,
                                         struct performance *found)
{
    if (!handle || handle->kind != HANDLE) return NOT_INITIALIZED;
    if (!fits(x, w, conv, y) || conv->math != FMA_MATH || wanted < 3) return BAD_PARAM;
    found[0] = (struct performance){FASTEST, NOT_SUPPORTED, -1, 0, 0, FMA_MATH, {0}};
    found[1] = (struct performance){ROUNDING, 0, 0.5f, 0, 1, TENSOR_MATH, {0}};
    found[2] = (struct performance){EXACT, 0, 1.0f, SPACE, 1, FMA_MATH, {0}};
    *count = 3;
    fake_log("search");
    return 0;
}

struct convolution {
    int x[4], w[4], y[4], is_flipped;
    const float *image, *filter;
    float *output, alpha, beta;
};

static void convolve(void *data)
{
    const struct convolution *p = data;
    for (int n = 0; n < p->y[0]; n++)
        for (int k = 0; k < p->y[1]; k++)
            for (int i = 0; i < p->y[2]; i++)
                for (int j = 0; j < p->y[3]; j++) {
                    float sum = 0, *to = &p->output[((n * p->y[1] + k) * p->y[2] + i) * p->y[3] + j];
                    for (int c = 0; c < p->x[1]; c++)
                        for (int u = 0; u < p->w[2]; u++)
                            for (int v = 0; v < p->w[3]; v++) {
                                const int row = p->is_flipped ? p->w[2] - 1 - u : u;
                                const int column = p->is_flipped ? p->w[3] - 1 - v : v;
                                sum += p->image[((n * p->x[1] + c) * p->x[2] + i + u) * p->x[3] + j + v]
                                       * p->filter[((k * p->x[1] + c) * p->w[2] + row) * p->w[3] + column];
                            }
                    *to = p->alpha * sum + (p->beta != 0 ? p->beta * *to : 0);
                }
    free(data);
}

static float *tensor(const void *device, const struct object *of)
{
    return fake_memory(device, sizeof(float) * of->numbers[0] * of->numbers[1] * of->numbers[2] * of->numbers[3]);
}

int cudnnConvolutionForward(struct object *handle, const float *alpha, struct object *x, const void *image,
                            struct object *w, const void *filter, struct object *conv, int algorithm, void *space,
                            size_t bytes, const float *beta, struct object *y, void *output)
{
    if (!handle || handle->kind != HANDLE) return NOT_INITIALIZED;
    if (!fits(x, w, conv, y) || conv->math != FMA_MATH) return BAD_PARAM;
    if (algorithm != EXACT || bytes < SPACE || !fake_memory(space, bytes)) return EXECUTION_FAILED;
    struct convolution *made = malloc(sizeof *made);
    memcpy(made->x, x->numbers, sizeof made->x);
    memcpy(made->w, w->numbers, sizeof made->w);
    memcpy(made->y, y->numbers, sizeof made->y);
    made->is_flipped = conv->numbers[6] == 0;
    made->image = tensor(image, x);
    made->filter = tensor(filter, w);
    made->output = tensor(output, y);
    made->alpha = *alpha;
    made->beta = *beta;
    if (!made->image || !made->filter || !made->output) return EXECUTION_FAILED;
    const char *fault = getenv("FAKE_FAULT");
    if (fault && fault[0] == 'c') made->alpha += 1;
    fake_log("convolve");
    return fake_enqueue(convolve, made) ? EXECUTION_FAILED : 0;
}
