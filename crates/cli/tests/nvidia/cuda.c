/*
 * As much of CUDA's driver as scripts/gpu_check/by_events.py calls, over the runtime in cudart.c. Its events take the
 * time of the processor.
 */
#include "cudart.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

int cudaSetDevice(int);
int cudaMalloc(void **, size_t);
int cudaDeviceSynchronize(void);

int cuInit(unsigned flags)
{
    return flags ? 1 : 0;
}

int cuDeviceGet(int *device, int number)
{
    return cudaSetDevice(*device = number);
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = context;
    return device;
}

int cuCtxSetCurrent(void *context)
{
    return context ? 0 : 1;
}

int cuMemAlloc_v2(unsigned long long *address, size_t bytes)
{
    void *memory;
    const int status = cudaMalloc(&memory, bytes);
    *address = (unsigned long long)memory;
    return status;
}

int cuMemsetD32_v2(unsigned long long address, unsigned value, size_t words)
{
    unsigned *memory = (unsigned *)fake_memory((void *)address, 4 * words);
    if (!memory) return 1;
    while (words--) *memory++ = value;
    return 0;
}

int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t bytes, void *stream)
{
    void *const target = fake_memory((void *)to, bytes), *const source = fake_memory((void *)from, bytes);
    if (!target || !source || stream) return 1;
    memcpy(target, source, bytes);
    return 0;
}

int cuEventCreate(void **event, unsigned flags)
{
    *event = malloc(sizeof(struct timespec));
    return flags ? 1 : 0;
}

int cuEventRecord(void *event, void *stream)
{
    const int status = cudaDeviceSynchronize();
    clock_gettime(CLOCK_MONOTONIC, event);
    return stream ? 1 : status;
}

int cuEventSynchronize(void *event)
{
    return event ? 0 : 1;
}

int cuEventElapsedTime(float *milliseconds, void *start, void *end)
{
    const struct timespec *from = start, *to = end;
    *milliseconds = (to->tv_sec - from->tv_sec) * 1e3f + (to->tv_nsec - from->tv_nsec) * 1e-6f;
    return 0;
}
