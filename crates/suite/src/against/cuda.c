/*
 * What cublas.c and cudnn.c share; one of them follows. Three functions make a measurement: `upload` copies the
 * operands A and B to CUDA device number DEVICE, `compute` computes C there, and `download` copies C back. Only the
 * second counts: it takes no copies, and lasts until the device is done.
 *
 * Each function is compiled into a library of its own. `upload` opens everything once, and passes a `call` to the
 * others. Nothing is closed: a measurement has a process of its own, with which the driver takes everything back.
 *
 * The declarations are those of driver_types.h and cuda_runtime_api.h of CUDA 12.9; cudart of CUDA 11 and 13 has the
 * same functions. Any of them serves: memory belongs to the process's primary context, which all libraries share.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* cudaMemcpyKind */
enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2 };

struct call {
    float *a, *b, *c; /* in the device's memory */
    const void *plan; /* the library's own part */
    int (*synchronize)(void);
    int (*copy)(void *, const void *, size_t, int);
    const char *(*describe)(int);
};

static int (*allocate)(void **, size_t);
static int (*fill)(void *, int, size_t);

/* Opens the library and prepares its call. */
static const void *prepare(const struct call *call);

/* Enqueues the computation. */
static void run(const struct call *call);

/* Prints the reason and ends the process as it is: what the device holds ends with it. */
static void fail(const char *what, const char *reason)
{
    fprintf(stderr, "%s: %s\n", what, reason ? reason : "it failed");
    _exit(3);
}

static void check(const struct call *call, const char *what, int error)
{
    if (error) fail(what, call->describe(error));
}

/* The folders in which libraries are looked for: first the loader's own, which include those of LD_LIBRARY_PATH. */
static const char *folder(int number)
{
    switch (number) {
    case 0: return "";
    case 1: return getenv("TUNESMITH_NVIDIA");
    case 2: return "/usr/local/cuda/lib64";
    default: return "/opt/cuda/lib64";
    }
}

/*
 * Opens the first of these libraries that is there. If none can be opened, the reason is that of a library which is
 * there but lacks another one, if there is such a library.
 */
static void *open_one(const char *what, const char *const *names)
{
    char reason[512] = "";
    for (int number = 0; number < 4; number++)
        for (const char *const *name = names; folder(number) && *name; name++) {
            char path[1024];
            snprintf(path, sizeof path, "%s%s%s", folder(number), number ? "/" : "", *name);
            void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
            if (library) return library;
            const char *error = dlerror();
            if (!error) error = *name;
            const int lacks_another = strncmp(error, path, strlen(path)) != 0;
            if (!reason[0] || lacks_another) snprintf(reason, sizeof reason, "%s", error);
            if (lacks_another) fail(what, reason);
        }
    fail(what, reason);
    return 0;
}

static void *find(void *library, const char *what, const char *name)
{
    void *found = dlsym(library, name);
    if (!found) fail(what, name);
    return found;
}

static void *on_device(const struct call *call, size_t bytes)
{
    void *memory = 0;
    check(call, "CUDA has no memory for the operands", allocate(&memory, bytes));
    return memory;
}

static void open_device(struct call *call)
{
    static const char *const names[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "libcudart.so", 0};
    static const char what[] = "CUDA's runtime cannot be opened";
    void *cuda = open_one(what, names);
    int (*choose)(int) = find(cuda, what, "cudaSetDevice");
    allocate = find(cuda, what, "cudaMalloc");
    fill = find(cuda, what, "cudaMemset");
    call->copy = find(cuda, what, "cudaMemcpy");
    call->describe = find(cuda, what, "cudaGetErrorString");
    call->synchronize = find(cuda, what, "cudaDeviceSynchronize");
    check(call, "CUDA cannot use the device", choose(DEVICE));
    call->a = on_device(call, sizeof(float) * A_COUNT);
    call->b = on_device(call, sizeof(float) * B_COUNT);
    call->c = on_device(call, sizeof(float) * C_COUNT);
    call->plan = prepare(call);
}

/* What `upload` has opened, and the host's memory that the device has copies of. */
static struct call own;
static const float *copied[2];

static void copy_operand(int number, float *there, const float *here, size_t count)
{
    if (copied[number] == here) return;
    check(&own, "CUDA copies no operand", own.copy(there, here, sizeof(float) * count, HOST_TO_DEVICE));
    copied[number] = here;
}

void upload(const float *a, const float *b, struct call **shared)
{
    if (!own.plan) open_device(&own);
    copy_operand(0, own.a, a, A_COUNT);
    copy_operand(1, own.b, b, B_COUNT);
    /* No result of an earlier call may pass for this one's: every element becomes a NaN. */
    check(&own, "CUDA fills no memory", fill(own.c, 0xFF, sizeof(float) * C_COUNT));
    check(&own, "CUDA fails", own.synchronize());
    *shared = &own;
}

void compute(struct call **shared)
{
    const struct call *call = *shared;
    run(call);
    check(call, "CUDA fails", call->synchronize());
}

void download(float *c, struct call **shared)
{
    const struct call *call = *shared;
    check(call, "CUDA copies no result", call->copy(c, call->c, sizeof(float) * C_COUNT, DEVICE_TO_HOST));
}
