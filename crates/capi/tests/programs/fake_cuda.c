/* Stands for CUDA's driver (-DCUDA) or for NVRTC (-DNVRTC) where there is no GPU. One kernel exists:
 * add(const float *a, const float *b, float *c, int n), or a template of that name. The driver's memory
 * is the host's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef NVRTC

struct program {
    char name[100];
    char code[1000];
    const char *log;
};

int nvrtcCreateProgram(struct program **p, const char *source, const char *name, int n, void *h, void *i) {
    (void)name, (void)h, (void)i;
    if (n != 0 || strstr(source, "__global__") == NULL) return 3;
    *p = calloc(1, sizeof **p);
    return 0;
}
int nvrtcDestroyProgram(struct program **p) { return free(*p), *p = NULL, 0; }
int nvrtcAddNameExpression(struct program *p, const char *name) {
    return snprintf(p->name, sizeof p->name, "_Z%s", name) < 0;
}
int nvrtcCompileProgram(struct program *p, int count, const char *const *options) {
    for (int at = 0; at < count; at++) {
        strcat(strcat(p->code, options[at]), " ");
        if (strcmp(options[at], "-DGROUP=3") == 0) p->log = "error: no such group";
    }
    return p->log ? 6 : 0;
}
int nvrtcGetLoweredName(struct program *p, const char *name, const char **lowered) {
    if (strncmp(name, "add", 3) != 0) return 10;
    return *lowered = p->name, 0;
}
int nvrtcGetProgramLogSize(struct program *p, size_t *size) { return *size = strlen(p->log) + 1, 0; }
int nvrtcGetProgramLog(struct program *p, char *log) { return strcpy(log, p->log), 0; }
int nvrtcGetCUBINSize(struct program *p, size_t *size) { return *size = strlen(p->code) + 1, 0; }
int nvrtcGetCUBIN(struct program *p, char *code) { return strcpy(code, p->code), 0; }
int nvrtcGetPTXSize(struct program *p, size_t *size) { return nvrtcGetCUBINSize(p, size); }
int nvrtcGetPTX(struct program *p, char *code) { return nvrtcGetCUBIN(p, code); }
int nvrtcGetNumSupportedArchs(int *count) { return *count = 3, 0; }
int nvrtcGetSupportedArchs(int *list) { return list[0] = 80, list[1] = 90, list[2] = 100, 0; }
const char *nvrtcGetErrorString(int status) { return status == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_OTHER"; }

#else

typedef unsigned int uint;
static int depth, modules, events; /* contexts pushed; objects that are open */
static double now;                 /* of the device, in ms */

/* The program asks what is still open. */
int fake_open(void) { return depth + modules + events; }

int cuCtxGetCurrent(void **context) { return *context = (void *)0x10, 0; }
int cuStreamGetCtx(void *stream, void **context) {
    if (stream != (void *)0x20) return 400;
    return *context = (void *)0x10, 0;
}
int cuCtxPushCurrent_v2(void *context) { return depth++, context == (void *)0x10 ? 0 : 201; }
int cuCtxPopCurrent_v2(void **context) { return depth--, *context = (void *)0x10, 0; }
int cuCtxGetDevice(int *device) { return *device = 7, depth > 0 ? 0 : 201; }
int cuDeviceGetAttribute(int *value, int which, int device) {
    const char *capability = getenv("FAKE_CAPABILITY");
    int number = capability ? atoi(capability) : 90;
    *value = which == 75 ? number / 10 : number % 10;
    return device == 7 ? 0 : 101;
}
int cuModuleLoadData(void **module, const void *code) {
    if (depth == 0) return 201;
    int is_elf = memcmp(code, "\177ELF", 4) == 0, is_text = strstr(code, "--gpu-architecture") != NULL;
    if (!is_elf && !is_text && strstr(code, ".version") == NULL) return 200;
    if (getenv("FAKE_OPTION") && strstr(code, getenv("FAKE_OPTION")) == NULL) return 200;
    return *module = is_text ? strdup(code) : strdup("GROUP=1 "), modules++, 0;
}
int cuModuleUnload(void *module) { return free(module), modules--, depth > 0 ? 0 : 201; }
int cuModuleGetFunction(void **function, void *module, const char *name) {
    return *function = module, strstr(name, "add") ? 0 : 500;
}
int cuFuncSetAttribute(void *function, int which, int value) {
    return function && which == 8 && value <= 200000 ? 0 : 1;
}
int cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *size) {
    if (index > 3) return 1;
    return *offset = 8 * index, *size = index == 3 ? 4 : 8, function ? 0 : 1;
}
int cuLaunchKernel(void *function, uint gx, uint gy, uint gz, uint bx, uint by, uint bz, uint shared, void *stream,
                   void **values, void **extra) {
    if (depth == 0 || stream != (void *)0x20 || extra || gy != 1 || gz != 1 || by != 1 || bz != 1) return 1;
    if (bx > 1024) return 701;
    if (shared > 200000) return 1;
    const char *group = strstr(function, "GROUP=");
    const float *a = *(float **)values[0], *b = *(float **)values[1];
    float *c = *(float **)values[2];
    for (int at = 0; at < *(int *)values[3]; at++) c[at] = a[at] + b[at];
    now += 0.1 + 1.0 / (group ? atoi(group + 6) : 1);
    return gx > 0 ? 0 : 1;
}
int cuEventCreate(void **event, uint flags) { return *event = calloc(1, sizeof(double)), events++, (int)flags; }
int cuEventDestroy_v2(void *event) { return free(event), events--, 0; }
int cuEventRecord(double *event, void *stream) { return *event = now, stream == (void *)0x20 ? 0 : 400; }
int cuEventSynchronize(void *event) { return event ? 0 : 400; }
int cuEventElapsedTime(float *ms, double *start, double *end) { return *ms = (float)(*end - *start), 0; }
int cuGetErrorName(int status, const char **name) {
    return *name = status == 701 ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES" : "CUDA_ERROR_OF_THE_FAKE", 0;
}

#endif
