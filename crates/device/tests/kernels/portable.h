/* One source for every backend: work-items in OpenCL, a loop over them in C. */
#ifdef __OPENCL_VERSION__
#define KERNEL kernel void
#define GLOBAL global
#define CONSTANT constant
#define SCRATCH local
#define ITEMS(i, dimension, count) int i = get_global_id(dimension); if (i < (count))
#define FENCE barrier(CLK_LOCAL_MEM_FENCE)
#else
#define KERNEL void
#define GLOBAL
#define CONSTANT
#define SCRATCH
#define ITEMS(i, dimension, count) for (int i = 0; i < (count); i++)
#define FENCE
#endif
