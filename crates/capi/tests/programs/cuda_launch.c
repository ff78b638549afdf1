/* A kernel runs on the application's own CUDA stream. `fake_cuda.c` takes the driver's place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tunesmith.h>

int fake_open(void);

static void check(int line, ts_status status) {
    if (status != TS_OK) {
        fprintf(stderr, "line %d: %s\n", line, ts_message());
        exit(1);
    }
}
#define WORKS(call) check(__LINE__, call)

/* Prints the message of a call that has to fail with TS_DEVICE. */
static void fails(int line, ts_status status) {
    if (status != TS_DEVICE) {
        fprintf(stderr, "line %d: %d\n", line, (int)status);
        exit(1);
    }
    printf("%s\n", ts_message());
}
#define FAILS(call) fails(__LINE__, call)

/* GROUP = 3 does not compile; more than 1,024 threads cannot be launched. */
static const char *source =
    "#if GROUP == 3\n#error no such group\n#endif\n"
    "template <class T> __global__ void add(const T *a, const T *b, T *c, const int n) {\n"
    "    const int i = blockIdx.x * GROUP + threadIdx.x;\n"
    "    if (i < n) c[i] = a[i] + b[i];\n"
    "}\n";

enum { N = 1000 };
static float a[N], b[N], c[N];

int main(void) {
    ts_space_builder builder;
    ts_space space;
    ts_config initial;
    WORKS(ts_space_builder_new(&builder));
    WORKS(ts_space_builder_values(builder, "GROUP", "[1, 3, 16, 64, 2048]"));
    WORKS(ts_space_builder_build(builder, &space));
    WORKS(ts_space_config(space, "GROUP=1", &initial));
    ts_online online;
    ts_online_options options = ts_online_defaults();
    options.strategy = "exhaustive";
    options.slowdown = 1000; /* so that a short test tries everything */
    WORKS(ts_online_new("add", "device", space, initial, &options, &online));

    void *stream = (void *)0x20, *wrong = (void *)0x21;
    ts_launcher launcher;
    FAILS(ts_launcher_cuda(online, wrong, source, "add<float>", NULL, &launcher));
    WORKS(ts_launcher_cuda(online, stream, source, "add<float>", "--use_fast_math -lineinfo", &launcher));
    WORKS(ts_launcher_items(launcher, "N", NULL, NULL));
    WORKS(ts_launcher_group(launcher, "GROUP", NULL, NULL));
    for (int i = 0; i < N; i++) a[i] = (float)i, b[i] = (float)(2 * i);
    const float *pointers[] = {a, b, c};
    for (uint32_t at = 0; at < 3; at++) WORKS(ts_launcher_argument(launcher, at, sizeof pointers[at], &pointers[at]));
    ts_size size = {"N", N};
    int n = N;
    FAILS(ts_launcher_run(launcher, &size, 1, NULL));
    short narrow = N;
    WORKS(ts_launcher_argument(launcher, 3, sizeof narrow, &narrow));
    FAILS(ts_launcher_run(launcher, &size, 1, NULL));
    WORKS(ts_launcher_argument(launcher, 3, sizeof n, &n));
    WORKS(ts_launcher_argument(launcher, 5, sizeof n, &n));
    FAILS(ts_launcher_run(launcher, &size, 1, NULL)); /* 4 was never set */
    WORKS(ts_launcher_argument(launcher, 4, 100000, NULL));
    FAILS(ts_launcher_run(launcher, &size, 1, NULL)); /* the kernel has no argument 4 */
    WORKS(ts_launcher_argument(launcher, 5, 64, NULL));
    double seconds = 0;
    for (int call = 0; call < 100; call++) {
        memset(c, 0, sizeof c);
        WORKS(ts_launcher_run(launcher, &size, 1, &seconds));
        if (!(seconds > 0 && seconds < 0.01)) return 3;
        for (int i = 0; i < N; i++)
            if (c[i] != (float)(3 * i)) return 4;
    }
    ts_config best;
    char text[100];
    WORKS(ts_online_best(online, &size, 1, &best));
    WORKS(ts_config_print(best, text, sizeof text, NULL));
    printf("%s\n", text);
    WORKS(ts_config_close(best));
    WORKS(ts_launcher_close(launcher));
    WORKS(ts_online_close(online));
    WORKS(ts_config_close(initial));
    WORKS(ts_space_close(space));
    return fake_open() == 0 ? 0 : 5;
}
