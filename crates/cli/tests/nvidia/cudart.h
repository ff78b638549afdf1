/* The parts of the runtime in cudart.c that the libraries over it use. */
#include <stddef.h>

/* Returns what the device has at an address, or 0 if these bytes are not all the device's. */
float *fake_memory(const void *device, size_t bytes);

/* Has work done when somebody waits for the device. Returns an error of the runtime. */
int fake_enqueue(void (*run)(void *), void *data);

/* Adds a line to the log. */
void fake_log(const char *line);
