/*
 * CUDA kernels on the processor, for tests of what they compute: include this, then the kernel's source, then call on_grid. The
 * threads of a block are coroutines that take turns at barriers. Only what the examples use is here.
 */
#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <ucontext.h>
#include <vector>

struct uint3 {
    unsigned x, y, z;
};

struct alignas(16) float4 {
    float x, y, z, w;
};

static inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}

static uint3 threadIdx, blockIdx, blockDim, gridDim;

#define __global__
#define __device__
#define __constant__ static
/* Static where it has a size, and defined by the test where it has none. */
#define __shared__ thread_local
#define __restrict__ __restrict
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) alignas(n)

/* Images of one channel. Textures are read at the nearest pixel, and at the edge outside of the image. */
struct HostImage {
    float *pixels;
    int width, height;
};

typedef const HostImage *cudaTextureObject_t;
typedef const HostImage *cudaSurfaceObject_t;

template <typename T> static inline T tex2D(cudaTextureObject_t image, float x, float y)
{
    const int column = std::floor(x), row = std::floor(y);
    const int i = column < 0 ? 0 : column < image->width ? column : image->width - 1;
    const int j = row < 0 ? 0 : row < image->height ? row : image->height - 1;

    return image->pixels[j * image->width + i];
}

static inline void surf2Dwrite(float value, cudaSurfaceObject_t image, int x_in_bytes, int y)
{
    image->pixels[y * image->width + x_in_bytes / (int)sizeof(float)] = value;
}

namespace emulation {

struct Thread {
    ucontext_t context;
    uint3 index;
    bool ended;
    std::vector<char> stack;
};

static ucontext_t scheduler;
static Thread *running;
static const std::function<void()> *kernel;

static void run()
{
    (*kernel)();
    running->ended = true;
}

/* Lets a thread go on to its next barrier or to its end. */
static void go_on(Thread &thread)
{
    running = &thread;
    threadIdx = thread.index;
    swapcontext(&scheduler, &thread.context);
}

static void block(std::vector<Thread> &threads)
{
    const size_t stack = 64 << 10;

    for (size_t i = 0; i < threads.size(); i++) {
        Thread &thread = threads[i];
        const unsigned x = blockDim.x, y = blockDim.y;

        thread.index = {unsigned(i) % x, unsigned(i) / x % y, unsigned(i) / (x * y)};
        thread.ended = false;
        thread.stack.resize(stack);
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = thread.stack.data();
        thread.context.uc_stack.ss_size = stack;
        thread.context.uc_link = &scheduler;
        makecontext(&thread.context, run, 0);
    }
    for (bool some = true; some;) {
        some = false;
        for (Thread &thread : threads)
            if (!thread.ended) {
                go_on(thread);
                some = true;
            }
    }
}

}

static inline void __syncthreads()
{
    swapcontext(&emulation::running->context, &emulation::scheduler);
}

/* Runs a kernel on all blocks of a grid, one after the other. */
static inline void on_grid(uint3 grid, uint3 local, const std::function<void()> &kernel)
{
    std::vector<emulation::Thread> threads(local.x * local.y * local.z);

    emulation::kernel = &kernel;
    gridDim = grid;
    blockDim = local;
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                blockIdx = {x, y, z};
                emulation::block(threads);
            }
}
