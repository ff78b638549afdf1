/*
 * CUDA's runtime with one device whose work is done by the processor, and only when somebody waits for it. It is
 * strict where the real one is undefined or forgiving:
 *
 * - Memory of the device has addresses that the host cannot read, and begins with NaNs.
 * - A copy while work is under way fails, because what is to be copied may not be there yet.
 * - A pointer that is none of the device's, or too short a piece of memory, is an error.
 *
 * Every call of interest is a line of the file that FAKE_LOG names.
 */
#define _GNU_SOURCE
#include "cudart.h"
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { INVALID_VALUE = 1, NO_MEMORY = 2, INVALID_DEVICE = 101, NOT_READY = 600, MOST = 64, PAGE = 4096 };

static struct block {
    char *device, *memory;
    size_t bytes;
} blocks[MOST];

static struct work {
    void (*run)(void *);
    void *data;
} queue[MOST];

static int queued, is_chosen;

void fake_log(const char *line)
{
    const char *path = getenv("FAKE_LOG");
    const int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    char text[128];
    strcpy(text, line);
    strcat(text, "\n");
    if (file >= 0 && write(file, text, strlen(text)) < 0) abort();
    close(file);
}

float *fake_memory(const void *device, size_t bytes)
{
    const char *at = device;
    for (int i = 0; i < MOST; i++)
        if (blocks[i].device && at >= blocks[i].device && at < blocks[i].device + blocks[i].bytes) {
            const size_t offset = at - blocks[i].device;
            return bytes <= blocks[i].bytes - offset ? (float *)(blocks[i].memory + offset) : 0;
        }
    return 0;
}

int fake_enqueue(void (*run)(void *), void *data)
{
    if (!is_chosen || queued == MOST) return INVALID_VALUE;
    queue[queued++] = (struct work){run, data};
    return 0;
}

int cudaSetDevice(int number)
{
    fake_log("device");
    is_chosen = number == 0;
    return is_chosen ? 0 : INVALID_DEVICE;
}

int cudaMalloc(void **memory, size_t bytes)
{
    const size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    int i = 0;
    while (i < MOST && blocks[i].device) i++;
    if (!is_chosen || !bytes || i == MOST) return INVALID_VALUE;
    void *device = mmap(0, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (device == MAP_FAILED) return NO_MEMORY;
    blocks[i] = (struct block){device, malloc(bytes), bytes};
    memset(blocks[i].memory, 0xFF, bytes);
    fake_log("malloc");
    *memory = device;
    return 0;
}

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2 };
    if (queued) return NOT_READY;
    const float *memory = fake_memory(kind == HOST_TO_DEVICE ? to : from, bytes);
    if (!memory || (kind != HOST_TO_DEVICE && kind != DEVICE_TO_HOST)) return INVALID_VALUE;
    fake_log(kind == HOST_TO_DEVICE ? "to device" : "to host");
    if (kind == HOST_TO_DEVICE) memcpy((void *)memory, from, bytes);
    else memcpy(to, memory, bytes);
    return 0;
}

struct filling {
    void *memory;
    int value;
    size_t bytes;
};

static void fill(void *data)
{
    const struct filling *filling = data;
    memset(filling->memory, filling->value, filling->bytes);
    free(data);
}

int cudaMemset(void *device, int value, size_t bytes)
{
    void *memory = fake_memory(device, bytes);
    if (!memory) return INVALID_VALUE;
    struct filling *filling = malloc(sizeof *filling);
    *filling = (struct filling){memory, value, bytes};
    fake_log("fill");
    return fake_enqueue(fill, filling);
}

int cudaDeviceSynchronize(void)
{
    fake_log("synchronize");
    for (int i = 0; i < queued; i++) queue[i].run(queue[i].data);
    queued = 0;
    return 0;
}

const char *cudaGetErrorString(int error)
{
    switch (error) {
    case INVALID_DEVICE: return "invalid device ordinal";
    case NO_MEMORY: return "out of memory";
    case NOT_READY: return "device not ready";
    default: return "invalid argument";
    }
}
