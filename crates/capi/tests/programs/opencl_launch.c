/* A kernel runs on the application's own command queue: candidates are compiled, launched and timed by
 * the library. Exits with 77 where there is no OpenCL device. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tunesmith.h>

static void check(int line, ts_status status) {
    if (status != TS_OK) {
        fprintf(stderr, "line %d: %s\n", line, ts_message());
        exit(1);
    }
}
#define WORKS(call) check(__LINE__, call)

/* GROUP = 3 does not compile. */
static const char *source =
    "#if GROUP == 3\n#error no such group\n#endif\n"
    "__kernel void add(__global const float *a, __global const float *b, __global float *c, const int n) {\n"
    "    for (int i = get_global_id(0) * STEP; i < min(n, (int)(get_global_id(0) + 1) * STEP); i++)\n"
    "        c[i] = a[i] + b[i];\n"
    "}\n";

int main(void) {
    cl_platform_id platform;
    cl_device_id device;
    cl_uint count = 0;
    if (clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS || count == 0) return 77;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, &count) != CL_SUCCESS || count == 0) return 77;
    cl_int error;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &error);
    cl_command_queue blind = clCreateCommandQueue(context, device, 0, &error);

    enum { N = 1 << 16 };
    float *host = malloc(N * sizeof *host);
    for (int i = 0; i < N; i++) host[i] = (float)(i % 100);
    cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    cl_mem a = clCreateBuffer(context, flags, N * sizeof *host, host, &error);
    cl_mem b = clCreateBuffer(context, flags, N * sizeof *host, host, &error);
    cl_mem c = clCreateBuffer(context, flags, N * sizeof *host, host, &error);

    ts_space_builder builder;
    ts_space space;
    ts_config initial;
    WORKS(ts_space_builder_new(&builder));
    WORKS(ts_space_builder_values(builder, "GROUP", "[1, 3, 16, 64]"));
    WORKS(ts_space_builder_values(builder, "STEP", "[1, 4, 16]"));
    WORKS(ts_space_builder_build(builder, &space));
    WORKS(ts_space_config(space, "GROUP=1,STEP=1", &initial));

    ts_online online;
    ts_online_options options = ts_online_defaults();
    options.strategy = "exhaustive";
    options.slowdown = 1000; /* so that a short test tries everything */
    WORKS(ts_online_new("add", "device", space, initial, &options, &online));

    ts_launcher launcher;
    if (ts_launcher_opencl(online, blind, source, "add", NULL, &launcher) != TS_DEVICE ||
        strstr(ts_message(), "CL_QUEUE_PROFILING_ENABLE") == NULL)
        return 2;
    if (ts_launcher_opencl(online, NULL, source, "add", NULL, &launcher) != TS_NULL) return 3;
    WORKS(ts_launcher_opencl(online, queue, source, "add", "-cl-mad-enable", &launcher));
    WORKS(ts_launcher_items(launcher, "ceildiv(N, STEP)", NULL, NULL));
    WORKS(ts_launcher_group(launcher, "GROUP", NULL, NULL));
    int n = N;
    ts_size size = {"N", N};
    double seconds = 0, total = 0;
    WORKS(ts_launcher_argument(launcher, 0, sizeof a, &a));
    WORKS(ts_launcher_argument(launcher, 1, sizeof b, &b));
    WORKS(ts_launcher_argument(launcher, 3, sizeof n, &n));
    if (ts_launcher_run(launcher, &size, 1, &seconds) != TS_DEVICE) return 4;
    if (strstr(ts_message(), "argument 2 of the kernel was never set") == NULL) return 5;
    WORKS(ts_launcher_argument(launcher, 2, sizeof c, &c));
    bool is_settled = false;
    for (int call = 0; call < 300 || !is_settled; call++) {
        if (call == 100000) return 8;
        WORKS(ts_launcher_run(launcher, &size, 1, &seconds));
        if (!(seconds > 0)) return 6;
        total += seconds;
        /* A single slow call on a busy machine puts off what is tried next. */
        WORKS(ts_online_is_settled(online, &size, 1, &is_settled));
    }
    clEnqueueReadBuffer(queue, c, CL_TRUE, 0, N * sizeof *host, host, 0, NULL, NULL);
    for (int i = 0; i < N; i++)
        if (host[i] != (float)(2 * (i % 100))) return 7;

    ts_config best;
    char text[100];
    double excess;
    WORKS(ts_online_best(online, &size, 1, &best));
    WORKS(ts_config_print(best, text, sizeof text, NULL));
    WORKS(ts_online_cost(online, &excess, NULL));
    printf("%s, tuning cost %.1f ms, all kernels %.1f ms\n", text, 1e3 * excess, 1e3 * total);
    if (strstr(text, "GROUP=3,") != NULL) return 9;
    if (excess <= 0) return 10; /* the compiler's time is part of it */

    WORKS(ts_config_close(best));
    WORKS(ts_launcher_close(launcher));
    if (ts_launcher_run(launcher, &size, 1, NULL) != TS_CLOSED) return 11;
    WORKS(ts_online_close(online));
    WORKS(ts_config_close(initial));
    WORKS(ts_space_close(space));
    clReleaseMemObject(a), clReleaseMemObject(b), clReleaseMemObject(c);
    clReleaseCommandQueue(queue), clReleaseCommandQueue(blind), clReleaseContext(context);
    free(host);
    return 0;
}
