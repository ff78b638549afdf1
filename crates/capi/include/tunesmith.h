/* Tunesmith for C: search spaces, ask and tell, selection among known configurations, and tuning
 * while an application runs. Generated from crates/capi; docs/c.md explains it.
 *
 * Every function that can fail returns a ts_status, and ts_message() says more. Handles are values
 * that may be copied; what opens one says which function closes it. A handle that was closed, was
 * never set ({0}) or is of another type gives an error.
 *
 * Texts are UTF-8 and end with a zero; they are only read during the call. A pointer is NULL or valid
 * for what the function reads or writes. NULL where a value is needed gives TS_NULL.
 *
 * Any thread may call any function at any time. */

#ifndef TUNESMITH_H
#define TUNESMITH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The answer of a function. `ts_message` says more about anything but `TS_OK` and `TS_END`.
typedef enum ts_status {
    // The function did what it was called for.
    TS_OK = 0,
    // The search is over: nothing is left to ask for.
    TS_END = 1,
    // A pointer is NULL, or a handle was never set.
    TS_NULL = 2,
    // The handle was closed.
    TS_CLOSED = 3,
    // The handle is of another type.
    TS_WRONG_HANDLE = 4,
    // A text is not UTF-8.
    TS_NOT_TEXT = 5,
    // A number, a name or an expression is refused.
    TS_BAD_VALUE = 6,
    // There is nothing of this name or for this question.
    TS_NOT_FOUND = 7,
    // The value is of another type.
    TS_WRONG_TYPE = 8,
    // The configuration was told before.
    TS_TOLD_TWICE = 9,
    // The buffer is too small. The length says how long the text is.
    TS_TOO_SMALL = 10,
    // A bug of Tunesmith. The object of the call should be closed.
    TS_PANIC = 11,
    // The device or its compiler refused. The message has the compiler's log.
    TS_DEVICE = 12,
} ts_status;

// The origin of a choice.
typedef enum ts_source {
    // Measured on this device for this input.
    TS_SOURCE_EXACT = 0,
    // Predicted for this device.
    TS_SOURCE_PREDICTED = 1,
    // Measured on this device for the nearest input.
    TS_SOURCE_NEAREST_INPUT = 2,
    // Predicted from other devices.
    TS_SOURCE_PREDICTED_ELSEWHERE = 3,
    // Measured on another device.
    TS_SOURCE_OTHER_DEVICE = 4,
    // The default.
    TS_SOURCE_DEFAULT = 5,
    // The most robust of the configurations measured on this device, since the input is far from
    // all that were measured.
    TS_SOURCE_ROBUST = 6,
} ts_source;

// The reason why a configuration has no cost.
typedef enum ts_failure {
    // It does not compile.
    TS_FAILURE_COMPILE = 0,
    // It crashed or stopped with an error.
    TS_FAILURE_RUNTIME = 1,
    // It did not end in time.
    TS_FAILURE_TIMEOUT = 2,
    // Its result is wrong.
    TS_FAILURE_CORRECTNESS = 3,
    // The device refused it.
    TS_FAILURE_CONSTRAINTS = 4,
} ts_failure;

// A configuration: values of parameters by name.
typedef struct ts_config {
    // Private.
    uint64_t id;
} ts_config;

// A space that is being described.
typedef struct ts_space_builder {
    // Private.
    uint64_t id;
} ts_space_builder;

// A search space.
typedef struct ts_space {
    // Private.
    uint64_t id;
} ts_space;

// A search that is asked for configurations and told their costs.
typedef struct ts_search {
    // Private.
    uint64_t id;
} ts_search;

// A choice among known configurations.
typedef struct ts_selector {
    // Private.
    uint64_t id;
} ts_selector;

// A size of an input.
typedef struct ts_size {
    // Its name.
    const char *name;
    // Its value.
    double value;
} ts_size;

// Says where a choice comes from.
typedef struct ts_choice {
    // Its origin.
    enum ts_source source;
    // The distance of the input from those that were measured, in doublings of sizes.
    double distance;
    // The time that was measured, in milliseconds, or NaN.
    double time_ms;
    // True if the choice rests on no measurement near the input.
    bool is_doubtful;
} ts_choice;

// Settings of tuning while an application runs. Begin with `ts_online_defaults`.
typedef struct ts_online_options {
    // The strategy that proposes candidates, as for `ts_search_new`. NULL is the recommended one.
    const char *strategy;
    // The file of wisdom that results are read from and appended to. NULL keeps them in memory.
    const char *wisdom;
    // The work of a call, an expression over the sizes such as `2 * M * N * K`. With it, similar
    // sizes are tuned together. NULL tunes every input for itself.
    const char *work;
    // The seed of the strategy. 0 is another one in every process, as suits processes that share a
    // file.
    uint64_t seed;
    // The number of candidates for each input.
    size_t candidates;
    // Maximum cost of all trials together, as a share of the time of the other calls.
    double slowdown;
    // The assumed slowdown of a trial relative to the best known configuration.
    double worst;
    // Number of calls that decide about a candidate.
    size_t samples;
    // The share by which a candidate must beat the best known configuration to replace it.
    double margin;
    // The others are tried again once the best known configuration takes this many times as long as
    // when it won.
    double drift;
    // Sizes that differ by less than about this many doublings are tuned together, if `work` is
    // given.
    double resolution;
} ts_online_options;

// Tuning while an application runs.
typedef struct ts_online {
    // Private.
    uint64_t id;
} ts_online;

// A call of the application that has begun and not ended.
typedef struct ts_call {
    // Private.
    uint64_t id;
} ts_call;

// A kernel that the library compiles and launches on the application's device.
typedef struct ts_launcher {
    // Private.
    uint64_t id;
} ts_launcher;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the message of the latest fault on this thread, or an empty text. It is valid until the
// thread calls another function of Tunesmith.
const char *ts_message(void);

// Returns the version of Tunesmith.
const char *ts_version(void);

// Gets the value of a parameter of integers or booleans.
enum ts_status ts_config_int(struct ts_config config, const char *name, int64_t *value);

// Gets the value of a parameter of numbers or booleans.
enum ts_status ts_config_float(struct ts_config config, const char *name, double *value);

// Gets the value of a parameter of booleans or integers: true unless it is 0.
enum ts_status ts_config_bool(struct ts_config config, const char *name, bool *value);

// Copies the value of any parameter as a text, as a compiler takes it in `-DNAME=VALUE`.
//
// Writes at most `capacity` bytes with the closing zero, and the length without it to `length`.
// `buffer` may be NULL to ask for the length alone, and `length` may be NULL.
enum ts_status ts_config_text(struct ts_config config,
                              const char *name,
                              char *buffer,
                              size_t capacity,
                              size_t *length);

// Gets the number of parameters.
enum ts_status ts_config_count(struct ts_config config, size_t *count);

// Copies the name of the parameter at `index`, counted from 0, as `ts_config_text` copies a value.
enum ts_status ts_config_name(struct ts_config config,
                              size_t index,
                              char *buffer,
                              size_t capacity,
                              size_t *length);

// Copies the whole configuration as `NAME=VALUE,NAME=VALUE`, as `ts_config_text` copies a value.
enum ts_status ts_config_print(struct ts_config config,
                               char *buffer,
                               size_t capacity,
                               size_t *length);

// Closes a configuration.
enum ts_status ts_config_close(struct ts_config config);

// Begins the description of a space.
enum ts_status ts_space_builder_new(struct ts_space_builder *builder);

// Adds a tuning parameter of integers. Parameters keep the order in which they were added.
enum ts_status ts_space_builder_ints(struct ts_space_builder builder,
                                     const char *name,
                                     const int64_t *values,
                                     size_t count);

// Adds a tuning parameter of floating-point numbers.
enum ts_status ts_space_builder_floats(struct ts_space_builder builder,
                                       const char *name,
                                       const double *values,
                                       size_t count);

// Adds a tuning parameter of texts.
enum ts_status ts_space_builder_texts(struct ts_space_builder builder,
                                      const char *name,
                                      const char *const *values,
                                      size_t count);

// Adds a tuning parameter that is off (false) or on (true).
enum ts_status ts_space_builder_switch(struct ts_space_builder builder, const char *name);

// Adds a tuning parameter whose values a Python expression lists: `[1, 2, 4]`, `range(8, 65, 8)` or
// `[2**i for i in range(5)]`.
enum ts_status ts_space_builder_values(struct ts_space_builder builder,
                                       const char *name,
                                       const char *values);

// Defines an integer that constraints may name, such as a problem size or a limit of a device.
enum ts_status ts_space_builder_constant(struct ts_space_builder builder,
                                         const char *name,
                                         int64_t value);

// Adds a constraint: a condition over parameters and constants in Python's syntax, such as
// `TILE % THREADS == 0 and TILE * TILE <= 4096`.
enum ts_status ts_space_builder_constraint(struct ts_space_builder builder, const char *constraint);

// Builds the space and closes the builder. After an error, the builder is still open.
enum ts_status ts_space_builder_build(struct ts_space_builder builder, struct ts_space *space);

// Closes a builder whose space is not wanted.
enum ts_status ts_space_builder_close(struct ts_space_builder builder);

// Gets the number of configurations. A space of more than 2^64 - 1 gives `TS_BAD_VALUE`; see
// `ts_space_size_text`.
enum ts_status ts_space_size(struct ts_space space, uint64_t *size);

// Copies the number of configurations in decimal digits, as `ts_config_text` copies a value.
enum ts_status ts_space_size_text(struct ts_space space,
                                  char *buffer,
                                  size_t capacity,
                                  size_t *length);

// Gets the configuration at `index`, counted from 0. Close it with `ts_config_close`.
enum ts_status ts_space_at(struct ts_space space, uint64_t index, struct ts_config *config);

// Gets the index of a configuration.
enum ts_status ts_space_index(struct ts_space space, struct ts_config config, uint64_t *index);

// Finds out whether the space has a configuration.
enum ts_status ts_space_contains(struct ts_space space, struct ts_config config, bool *contains);

// Draws a configuration uniformly. The same seed gives the same one. Close it with
// `ts_config_close`.
enum ts_status ts_space_sample(struct ts_space space, uint64_t seed, struct ts_config *config);

// Gets the configuration with the given values, written `NAME=VALUE,NAME=VALUE`. A parameter that
// is not named takes its first value. Close it with `ts_config_close`.
enum ts_status ts_space_config(struct ts_space space, const char *values, struct ts_config *config);

// Closes a space. Searches and tuning of it go on.
enum ts_status ts_space_close(struct ts_space space);

// Begins a search of `space`.
//
// `strategy` is written as on the command line, `NAME` or `NAME(option=value, ...)`; NULL is the
// recommended one. `budget` is the number of evaluations that are intended, which cooling schedules
// use; 0 says nothing. The same seed, questions and answers give the same configurations.
enum ts_status ts_search_new(struct ts_space space,
                             const char *strategy,
                             uint64_t seed,
                             uint64_t budget,
                             struct ts_search *search);

// Asks for at most `room` configurations to evaluate, and writes them to `configs` and their number
// to `count`. None of them was told or asked for before. Close each with `ts_config_close`.
//
// No configurations mean that the strategy waits for an answer. `TS_END` means that it has nothing
// left to ask.
enum ts_status ts_search_ask(struct ts_search search,
                             size_t room,
                             struct ts_config *configs,
                             size_t *count);

// Tells the cost of a configuration: a finite number of any sign and unit, smaller is better. Answers may
// come in any order, and for configurations that were not asked for.
// A cost that is no finite number is refused, and the configuration counts as failed at run time,
// so that the strategy goes on.
enum ts_status ts_search_tell(struct ts_search search,
                              struct ts_config config,
                              double cost);

// Tells that a configuration failed, with a `ts_failure`. `message` may be NULL.
enum ts_status ts_search_fail(struct ts_search search,
                              struct ts_config config,
                              int32_t failure,
                              const char *message);

// Gets the best configuration told so far, and its cost unless `cost` is NULL. Close it with
// `ts_config_close`. `TS_NOT_FOUND` means that no cost was told yet.
enum ts_status ts_search_best(struct ts_search search, struct ts_config *config, double *cost);

// Gets the number of configurations that were told, failures included.
enum ts_status ts_search_told(struct ts_search search, size_t *count);

// Closes a search.
enum ts_status ts_search_close(struct ts_search search);

// Opens files of wisdom and timing models. Never fails because of a file; see
// `ts_selector_warning`.
enum ts_status ts_selector_open(const char *const *paths,
                                size_t count,
                                struct ts_selector *selector);

// Chooses a configuration for an input of `kernel` on `device`. `choice` may be NULL. Close the
// configuration with `ts_config_close`. `TS_NOT_FOUND` means that not even a default is known.
enum ts_status ts_selector_select(struct ts_selector selector,
                                  const char *kernel,
                                  const char *device,
                                  const struct ts_size *sizes,
                                  size_t count,
                                  struct ts_config *config,
                                  struct ts_choice *choice);

// Gets the number of warnings about the files.
enum ts_status ts_selector_warnings(struct ts_selector selector, size_t *count);

// Copies the warning at `index`, counted from 0, as `ts_config_text` copies a value.
enum ts_status ts_selector_warning(struct ts_selector selector,
                                   size_t index,
                                   char *buffer,
                                   size_t capacity,
                                   size_t *length);

// Closes a selector.
enum ts_status ts_selector_close(struct ts_selector selector);

// Returns the default settings.
struct ts_online_options ts_online_defaults(void);

// Tunes `kernel` on `device` among the configurations of `space`, while the application runs.
//
// `initial` is the configuration that the application would use without tuning. Any two texts name
// the kernel and the device; results in a file are kept by them. `options` may be NULL.
enum ts_status ts_online_new(const char *kernel,
                             const char *device,
                             struct ts_space space,
                             struct ts_config initial,
                             const struct ts_online_options *options,
                             struct ts_online *online);

// Begins a call for an input. `config` is the configuration to run with; it belongs to the call and
// is closed with it.
//
// Every call that begins has to end: by `ts_call_end` with the kernel's time, by `ts_call_stop` now,
// by `ts_call_fail` if the configuration failed, or by `ts_call_abandon`.
enum ts_status ts_online_begin(struct ts_online online,
                               const struct ts_size *sizes,
                               size_t count,
                               struct ts_call *call,
                               struct ts_config *config);

// Ends a call whose kernel took `seconds`.
enum ts_status ts_call_end(struct ts_call call, double seconds);

// Ends a call. Its time is that since it began.
enum ts_status ts_call_stop(struct ts_call call);

// Ends a call whose configuration failed. It is not tried again. If `repeat` becomes true, another
// configuration is there: begin the call again. `repeat` may be NULL.
enum ts_status ts_call_fail(struct ts_call call, bool *repeat);

// Ends a call that was given up for a reason that has nothing to do with its configuration.
enum ts_status ts_call_abandon(struct ts_call call);

// Counts the seconds that the application took to prepare the configuration of a call, to compile it
// for example. They are part of the cost of tuning: the next candidate begins only when the budget
// covers as much again.
enum ts_status ts_call_prepared(struct ts_call call,
                                double seconds);

// Finds out whether a call tries a candidate, and the seconds after which it has lost (infinity if it
// is no trial): an application that can stop its kernel does so then, and calls `ts_call_fail`. Either
// pointer may be NULL.
enum ts_status ts_call_trial(struct ts_call call,
                             bool *is_trial,
                             double *limit);

// Gets the best configuration known for an input. Close it with `ts_config_close`.
enum ts_status ts_online_best(struct ts_online online,
                              const struct ts_size *sizes,
                              size_t count,
                              struct ts_config *config);

// Finds out whether nothing is left to try for an input.
enum ts_status ts_online_is_settled(struct ts_online online,
                                    const struct ts_size *sizes,
                                    size_t count,
                                    bool *is_settled);

// Gets the seconds that tuning has cost, and those of all calls with the best known configurations.
// Either pointer may be NULL.
enum ts_status ts_online_cost(struct ts_online online, double *excess, double *useful);

// Gets the number of warnings about the file and about the work of inputs.
enum ts_status ts_online_warnings(struct ts_online online, size_t *count);

// Copies the warning at `index`, counted from 0, as `ts_config_text` copies a value.
enum ts_status ts_online_warning(struct ts_online online,
                                 size_t index,
                                 char *buffer,
                                 size_t capacity,
                                 size_t *length);

// Closes the tuning. Results are in the file already. Calls that have begun may still end.
enum ts_status ts_online_close(struct ts_online online);

// Prepares the kernel `name` of an OpenCL source for calls on the application's command queue.
//
// `queue` is a `cl_command_queue` with profiling, whose context and device are used. Parameters reach
// the source as `-DNAME=VALUE`, beside `options` (NULL for none). The queue and all buffers must
// outlive the launcher.
enum ts_status ts_launcher_opencl(struct ts_online online,
                                  void *queue,
                                  const char *source,
                                  const char *name,
                                  const char *options,
                                  struct ts_launcher *launcher);

// Prepares the kernel `name` of a CUDA source for calls on the application's stream.
//
// `stream` is a `CUstream` or `cudaStream_t`; NULL is the default stream of the calling thread's
// context. NVRTC compiles `source` for the stream's device; `name` may have template arguments.
// Parameters reach the source as `-DNAME=VALUE`, beside `options` (NULL for none). The context, the
// stream and all memory must outlive the launcher.
enum ts_status ts_launcher_cuda(struct ts_online online,
                                void *stream,
                                const char *source,
                                const char *name,
                                const char *options,
                                struct ts_launcher *launcher);

// Sets the work-items (threads) of a launch along x, y and z: expressions over sizes and parameters,
// such as `N // TILE`. NULL is 1. They are rounded up to whole groups.
enum ts_status ts_launcher_items(struct ts_launcher launcher,
                                 const char *x,
                                 const char *y,
                                 const char *z);

// Sets the work-items of a group along x, y and z, as `ts_launcher_items` does.
enum ts_status ts_launcher_group(struct ts_launcher launcher,
                                 const char *x,
                                 const char *y,
                                 const char *z);

// Sets the argument `index` of the kernel, counted from 0, to a copy of the `size` bytes at `value`,
// as `clSetKernelArg` takes it: a `cl_mem`, a pointer to the device's memory, or a number. NULL is local
// memory of `size` bytes, which is an argument in OpenCL and dynamic shared memory in CUDA, after all
// arguments. It holds until it is set again.
enum ts_status ts_launcher_argument(struct ts_launcher launcher,
                                    uint32_t index,
                                    size_t size,
                                    const void *value);

// Runs the kernel once for an input, with the best known configuration or with a candidate, and waits
// for it. `seconds` (NULL if unwanted) is its time by the device's clock. A candidate that does not
// compile or run is replaced by another configuration; `TS_DEVICE` means that the initial one failed.
enum ts_status ts_launcher_run(struct ts_launcher launcher,
                               const struct ts_size *sizes,
                               size_t count,
                               double *seconds);

// Closes a launcher.
enum ts_status ts_launcher_close(struct ts_launcher launcher);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TUNESMITH_H */
