/*
 * Multiplies matrices by CLBlast on OpenCL device number DEVICE. The device uses the host's memory, so that a call is
 * the time until the product is done; a device with memory of its own keeps the matrices there between the calls.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef void *handle;
enum { READ_WRITE = 1, USE_HOST_MEMORY = 8, MAP_READ = 1, MOST = 16 };
#define ALL_DEVICES 0xFFFFFFFFul

static int (*sgemm)(int, int, int, size_t, size_t, size_t, float, handle, size_t, size_t, handle, size_t, size_t, float,
                    handle, size_t, size_t, handle *, handle *);
static handle (*create_buffer)(handle, uint64_t, size_t, void *, int *);
static void *(*map)(handle, handle, uint32_t, uint64_t, size_t, size_t, uint32_t, const handle *, handle *, int *);
static int (*unmap)(handle, handle, void *, uint32_t, const handle *, handle *);
static int (*finish)(handle);
static int (*release)(handle);

static handle context, queue, buffers[3];
static const void *known[3];

static void fail(const char *what, const char *reason)
{
    fprintf(stderr, "%s: %s\n", what, reason ? reason : "it failed");
    exit(3);
}

static void *find(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found) fail("CLBlast cannot be opened", name);
    return found;
}

/* Finds device number DEVICE, in the order in which Tunesmith counts: the devices of one driver after the other's. */
static handle device(void *opencl)
{
    int (*platforms)(uint32_t, handle *, uint32_t *) = find(opencl, "clGetPlatformIDs");
    int (*devices)(handle, uint64_t, uint32_t, handle *, uint32_t *) = find(opencl, "clGetDeviceIDs");
    handle drivers[MOST], all[MOST];
    uint32_t count = 0, number = DEVICE;
    if (platforms(MOST, drivers, &count)) fail("CLBlast finds no device", "clGetPlatformIDs");
    for (uint32_t i = 0; i < count && i < MOST; i++) {
        uint32_t own = 0;
        if (devices(drivers[i], ALL_DEVICES, MOST, all, &own)) continue;
        if (number < own) return all[number];
        number -= own;
    }
    fail("CLBlast finds no device", "its number is too large");
    return 0;
}

static void open_library(void)
{
    void *clblast = dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!clblast) fail("CLBlast cannot be opened", dlerror());
    void *opencl = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!opencl) fail("OpenCL cannot be opened", dlerror());
    handle (*create_context)(const void *, uint32_t, const handle *, void *, void *, int *) =
        find(opencl, "clCreateContext");
    handle (*create_queue)(handle, handle, uint64_t, int *) = find(opencl, "clCreateCommandQueue");
    sgemm = find(clblast, "CLBlastSgemm");
    create_buffer = find(opencl, "clCreateBuffer");
    map = find(opencl, "clEnqueueMapBuffer");
    unmap = find(opencl, "clEnqueueUnmapMemObject");
    finish = find(opencl, "clFinish");
    release = find(opencl, "clReleaseMemObject");
    handle chosen = device(opencl);
    int error = 0;
    context = create_context(0, 1, &chosen, 0, 0, &error);
    if (error) fail("CLBlast has no context", "clCreateContext");
    queue = create_queue(context, chosen, 0, &error);
    if (error) fail("CLBlast has no queue", "clCreateCommandQueue");
}

/* Returns the buffer over the host's memory at `data`. */
static handle buffer(int place, const void *data, size_t bytes)
{
    int error = 0;
    if (known[place] == data) return buffers[place];
    if (known[place]) release(buffers[place]);
    buffers[place] = create_buffer(context, READ_WRITE | USE_HOST_MEMORY, bytes, (void *)data, &error);
    if (error) fail("CLBlast has no buffer", "clCreateBuffer");
    known[place] = data;
    return buffers[place];
}

void compute(const float *a, const float *b, float *c)
{
    enum { ROWS_FIRST = 101, COLUMNS_FIRST = 102, AS_IT_IS = 111, TRANSPOSED = 112 };
    if (!sgemm) open_library();
    const size_t bytes = sizeof(float) * M * N;
    handle left = buffer(0, a, sizeof(float) * M * K), right = buffer(1, b, sizeof(float) * K * N);
    handle result = buffer(2, c, bytes);
    int error = sgemm(COLUMNS ? COLUMNS_FIRST : ROWS_FIRST, A_T ? TRANSPOSED : AS_IT_IS, B_T ? TRANSPOSED : AS_IT_IS, M,
                      N, K, 1.0f, left, 0, A_T != COLUMNS ? M : K, right, 0, B_T != COLUMNS ? K : N, 0.0f, result, 0,
                      COLUMNS ? M : N, &queue, 0);
    if (error || finish(queue)) fail("CLBlast failed", "CLBlastSgemm");
    void *mapped = map(queue, result, 1, MAP_READ, 0, bytes, 0, 0, 0, &error);
    if (error || unmap(queue, result, mapped, 0, 0, 0) || finish(queue)) fail("CLBlast failed", "its result");
}
