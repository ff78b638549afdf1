/* Opens and closes spaces, searches and online tuners many times, and prints what the process holds.
 *
 *     leaks [COUNT]     10,000 by default
 *
 * Each round has a space, a search that is asked and told, and an online tuner with calls. Fails if
 * descriptors are left, or if the memory grows by more than a mebibyte after the first tenth. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <tunesmith.h>
#include <unistd.h>

enum { EVALUATIONS = 8, CALLS = 6, MOST_KIB = 1024 };

static void check(ts_status status) {
    if (status != TS_OK) {
        fprintf(stderr, "%s\n", ts_message());
        exit(1);
    }
}

/* Returns the resident memory in KiB. */
static long memory(void) {
    long all, resident;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &all, &resident) != 2) exit(2);
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static long descriptors(void) {
    long count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder) != NULL) count++;
    closedir(folder);
    return count - 3; /* ".", ".." and the folder itself */
}

static void search(ts_space space, uint64_t seed) {
    ts_search search;
    ts_config config;
    check(ts_search_new(space, NULL, seed, EVALUATIONS, &search));
    for (int evaluation = 0; evaluation < EVALUATIONS; evaluation++) {
        size_t count;
        if (ts_search_ask(search, 1, &config, &count) == TS_END || count == 0) break;
        if (evaluation % 4 == 3)
            check(ts_search_fail(search, config, TS_FAILURE_RUNTIME, "on purpose"));
        else
            check(ts_search_tell(search, config, 1.0 + evaluation));
        check(ts_config_close(config));
    }
    check(ts_search_best(search, &config, NULL));
    check(ts_config_close(config));
    check(ts_search_close(search));
}

static void tune_online(ts_space space) {
    ts_online online;
    ts_config initial;
    check(ts_space_config(space, "ROWS=1,COLUMNS=1", &initial));
    check(ts_online_new("kernel", "device", space, initial, NULL, &online));
    for (int call = 0; call < CALLS; call++) {
        ts_size sizes[] = {{"N", 64.0 * (1 + call % 2)}};
        ts_call begun;
        ts_config config;
        check(ts_online_begin(online, sizes, 1, &begun, &config));
        check(ts_call_end(begun, 1e-3));
    }
    check(ts_online_close(online));
    check(ts_config_close(initial));
}

static void one_round(uint64_t seed) {
    ts_space_builder builder;
    ts_space space;
    check(ts_space_builder_new(&builder));
    check(ts_space_builder_values(builder, "ROWS", "[1, 2, 4, 8]"));
    check(ts_space_builder_values(builder, "COLUMNS", "[1, 2, 4, 8]"));
    check(ts_space_builder_constraint(builder, "ROWS * COLUMNS <= 32"));
    check(ts_space_builder_build(builder, &space));
    search(space, seed);
    tune_online(space);
    check(ts_space_close(space));
}

int main(int count, char **arguments) {
    long rounds = count > 1 ? atol(arguments[1]) : 10000;
    long first = 0, left = 0;
    for (long round = 1; round <= rounds; round++) {
        one_round((uint64_t)round);
        if (round == rounds / 10) first = memory(), left = descriptors();
        if (round == rounds / 10 || round == rounds / 2 || round == rounds)
            printf("C: after %ld: %ld KiB, %ld descriptors\n", round, memory(), descriptors());
    }
    return memory() > first + MOST_KIB || descriptors() != left;
}
