/* Finds the fastest block of a matrix transposition: the library says what to try, this program runs
 * it and tells how long it took. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <tunesmith.h>

enum { N = 1024 };
static float from[N * N];
float to[N * N]; /* seen by other files, so that no compiler leaves the work out */

static void transpose(int rows, int columns) {
    for (int i = 0; i < N; i += rows)
        for (int j = 0; j < N; j += columns)
            for (int y = i; y < i + rows; y++)
                for (int x = j; x < j + columns; x++) to[x * N + y] = from[y * N + x];
}

static double seconds(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void check(ts_status status) {
    if (status != TS_OK) {
        fprintf(stderr, "%s\n", ts_message());
        exit(1);
    }
}

/* Returns the seconds of the fastest of three runs, or -1 if the result is wrong. */
static double measure(ts_config config) {
    int64_t rows, columns;
    check(ts_config_int(config, "ROWS", &rows));
    check(ts_config_int(config, "COLUMNS", &columns));
    double best = 1e9;
    for (int run = 0; run < 3; run++) {
        double start = seconds();
        transpose((int)rows, (int)columns);
        double took = seconds() - start;
        if (took > 0 && took < best) best = took;
    }
    for (int i = 0; i < N; i++)
        if (to[i * N + (i * 7) % N] != from[((i * 7) % N) * N + i]) return -1;
    return best;
}

int main(void) {
    for (int i = 0; i < N * N; i++) from[i] = (float)i;

    ts_space_builder builder;
    ts_space space;
    check(ts_space_builder_new(&builder));
    check(ts_space_builder_values(builder, "ROWS", "[2**i for i in range(11)]"));
    check(ts_space_builder_values(builder, "COLUMNS", "[2**i for i in range(11)]"));
    check(ts_space_builder_constraint(builder, "16 <= ROWS * COLUMNS <= 65536"));
    check(ts_space_builder_build(builder, &space));

    ts_search search;
    check(ts_search_new(space, NULL, 1, 40, &search));
    for (int evaluation = 0; evaluation < 40; evaluation++) {
        ts_config config;
        size_t count;
        ts_status status = ts_search_ask(search, 1, &config, &count);
        if (status == TS_END) break;
        check(status);
        double took = measure(config);
        if (took < 0)
            check(ts_search_fail(search, config, TS_FAILURE_CORRECTNESS, NULL));
        else
            check(ts_search_tell(search, config, took));
        check(ts_config_close(config));
    }

    ts_config best;
    double cost;
    char text[100];
    check(ts_search_best(search, &best, &cost));
    check(ts_config_print(best, text, sizeof text, NULL));
    printf("%s: %.3f ms\n", text, 1e3 * cost);
    check(ts_config_close(best));
    check(ts_search_close(search));
    check(ts_space_close(space));
    return 0;
}
