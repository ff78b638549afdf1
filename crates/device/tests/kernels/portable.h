/*
 * One source for every backend: work-items in OpenCL, CUDA and HIP, a loop over them in C. Local memory is a parameter,
 * or in CUDA and HIP a variable of the kernel.
 */
#if defined(__OPENCL_VERSION__)
#define KERNEL kernel void
#define GLOBAL global
#define CONSTANT constant
#define LOCAL(type, name) local type *name,
#define USE_LOCAL(type, name)
#define ITEMS(i, dimension, count) int i = get_global_id(dimension); if (i < (count))
#define FENCE barrier(CLK_LOCAL_MEM_FENCE)
#elif defined(ON_HOST) || defined(__CUDACC__) || defined(__HIPCC__)
/* The sources say `extern "C" __global__ void` in the place of KERNEL: the tuner looks for that word. */
#define GLOBAL
#define CONSTANT
#define LOCAL(type, name)
#ifdef ON_HOST
#define USE_LOCAL(type, name) type *name = (type *)shared_memory;
#else
#define USE_LOCAL(type, name) extern __shared__ type name[];
#endif
#define ID(axis) (int)(blockIdx.axis * blockDim.axis + threadIdx.axis)
#define ITEMS(i, dimension, count) \
    int i = (dimension) == 0 ? ID(x) : (dimension) == 1 ? ID(y) : ID(z); if (i < (count))
#define FENCE __syncthreads()
#else
#define KERNEL void
#define GLOBAL
#define CONSTANT
#define LOCAL(type, name) type *name,
#define USE_LOCAL(type, name)
#define ITEMS(i, dimension, count) for (int i = 0; i < (count); i++)
#define FENCE
#endif
