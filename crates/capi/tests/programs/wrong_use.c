/* Wrong use of every kind of function is answered with an error that says what is wrong. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tunesmith.h>

static int faults = 0;

static void expect(int line, ts_status status, ts_status wanted, const char *words) {
    if (status != wanted || strstr(ts_message(), words) == NULL) {
        fprintf(stderr, "line %d: status %d, not %d: %s\n", line, (int)status, (int)wanted, ts_message());
        faults++;
    }
}

static void good(int line, ts_status status) {
    if (status != TS_OK) {
        fprintf(stderr, "line %d: status %d: %s\n", line, (int)status, ts_message());
        exit(1);
    }
}

#define REFUSES(call, status, words) expect(__LINE__, call, status, words)
#define WORKS(call) good(__LINE__, call)

static ts_space make_space(void) {
    ts_space_builder builder;
    ts_space space;
    const int64_t tiles[] = {8, 16, 32};
    const double shares[] = {0.5, 1.0};
    const char *orders[] = {"ij", "ji"};
    WORKS(ts_space_builder_new(&builder));
    WORKS(ts_space_builder_ints(builder, "TILE", tiles, 3));
    WORKS(ts_space_builder_floats(builder, "SHARE", shares, 2));
    WORKS(ts_space_builder_texts(builder, "ORDER", orders, 2));
    WORKS(ts_space_builder_switch(builder, "PAD"));
    WORKS(ts_space_builder_constant(builder, "N", 16));
    WORKS(ts_space_builder_constraint(builder, "TILE <= N or not PAD"));

    REFUSES(ts_space_builder_ints(builder, NULL, tiles, 3), TS_NULL, "`name` is NULL");
    REFUSES(ts_space_builder_ints(builder, "X", NULL, 3), TS_NULL, "`values` is NULL");
    REFUSES(ts_space_builder_ints(builder, "X", tiles, 0), TS_BAD_VALUE, "has no values");
    REFUSES(ts_space_builder_ints(builder, "X", tiles, (size_t)-1), TS_BAD_VALUE, "more than fit into memory");
    REFUSES(ts_space_builder_ints(builder, "\xff", tiles, 3), TS_NOT_TEXT, "is not UTF-8");
    REFUSES(ts_space_builder_values(builder, "X", "[1, 2"), TS_BAD_VALUE, "the values of parameter `X`");
    REFUSES(ts_space_builder_values(builder, "X", "[1, 1]"), TS_BAD_VALUE, "twice");
    REFUSES(ts_space_builder_constraint(builder, "TILE <="), TS_BAD_VALUE, "expression ends");
    REFUSES(ts_space_builder_build(builder, NULL), TS_NULL, "`space` is NULL");
    WORKS(ts_space_builder_build(builder, &space));
    REFUSES(ts_space_builder_switch(builder, "LATE"), TS_CLOSED, "the ts_space_builder was closed before");
    return space;
}

static void spaces(ts_space space) {
    ts_space_builder builder;
    ts_space empty;
    ts_config config;
    uint64_t number;
    double real;
    int64_t integer;
    bool truth;
    char text[100];
    size_t length;

    WORKS(ts_space_builder_new(&builder));
    REFUSES(ts_space_builder_build(builder, &empty), TS_BAD_VALUE, "no tuning parameters");
    WORKS(ts_space_builder_values(builder, "A", "range(10)"));
    WORKS(ts_space_builder_constraint(builder, "A > 10"));
    REFUSES(ts_space_builder_build(builder, &empty), TS_BAD_VALUE, "A > 10");
    WORKS(ts_space_builder_close(builder));
    REFUSES(ts_space_builder_close(builder), TS_CLOSED, "closed before");

    WORKS(ts_space_size(space, &number));
    if (number != 20) faults++;
    REFUSES(ts_space_size(space, NULL), TS_NULL, "`size` is NULL");
    REFUSES(ts_space_at(space, 20, &config), TS_NOT_FOUND, "no index 20 of 20");
    REFUSES(ts_space_config(space, "TILE=32,PAD=1", &config), TS_BAD_VALUE, "violates `TILE <= N or not PAD`");
    REFUSES(ts_space_config(space, "TILES=32", &config), TS_BAD_VALUE, "TILE");
    REFUSES(ts_space_config(space, "TILE=33", &config), TS_BAD_VALUE, "33");
    REFUSES(ts_space_config(space, "TILE", &config), TS_BAD_VALUE, "`TILE` is no NAME=VALUE");
    WORKS(ts_space_config(space, "TILE=16, PAD=true, ORDER=ji, SHARE=1", &config));
    WORKS(ts_space_index(space, config, &number));

    WORKS(ts_config_int(config, "TILE", &integer));
    WORKS(ts_config_float(config, "SHARE", &real));
    WORKS(ts_config_bool(config, "PAD", &truth));
    WORKS(ts_config_text(config, "ORDER", text, sizeof text, NULL));
    if (integer != 16 || real != 1.0 || !truth || strcmp(text, "ji") != 0) faults++;
    REFUSES(ts_config_int(config, "SHARE", &integer), TS_WRONG_TYPE, "is a float, not an integer; call ts_config_float");
    REFUSES(ts_config_float(config, "ORDER", &real), TS_WRONG_TYPE, "call ts_config_text");
    REFUSES(ts_config_int(config, "TIEL", &integer), TS_NOT_FOUND, "did you mean `TILE`?");
    REFUSES(ts_config_int(config, "TILE", NULL), TS_NULL, "`value` is NULL");
    REFUSES(ts_config_text(config, "ORDER", text, 2, &length), TS_TOO_SMALL, "2 bytes; 3 are needed");
    if (length != 2) faults++;
    REFUSES(ts_config_name(config, 4, text, sizeof text, NULL), TS_NOT_FOUND, "no parameter 4 of 4");
    WORKS(ts_config_print(config, NULL, 0, &length));
    WORKS(ts_config_close(config));
    REFUSES(ts_config_int(config, "TILE", &integer), TS_CLOSED, "the ts_config was closed before");
    REFUSES(ts_config_close(config), TS_CLOSED, "closed before");
}

static void handles(ts_space space) {
    ts_config never = {0}, disguised = {space.id}, invented = {12345}, later = {space.id + 1000000};
    int64_t integer;
    REFUSES(ts_config_int(never, "TILE", &integer), TS_NULL, "the ts_config was never set");
    REFUSES(ts_config_int(disguised, "TILE", &integer), TS_WRONG_HANDLE, "the handle is a ts_space; a ts_config is needed");
    REFUSES(ts_config_int(invented, "TILE", &integer), TS_WRONG_HANDLE, "is no handle");
    REFUSES(ts_config_close(later), TS_WRONG_HANDLE, "is no handle");
}

static void searches(ts_space space) {
    ts_search search;
    ts_config config, best;
    size_t count;
    double cost;
    REFUSES(ts_search_new(space, "anealing", 1, 0, &search), TS_BAD_VALUE, "did you mean `annealing`?");
    REFUSES(ts_search_new(space, NULL, 1, 0, NULL), TS_NULL, "`search` is NULL");
    WORKS(ts_search_new(space, "exhaustive", 1, 0, &search));
    REFUSES(ts_search_best(search, &best, NULL), TS_NOT_FOUND, "no cost was told yet");
    REFUSES(ts_search_ask(search, 1, NULL, &count), TS_NULL, "`configs` is NULL");
    WORKS(ts_search_ask(search, 1, &config, &count));
    REFUSES(ts_search_fail(search, config, 17, NULL), TS_BAD_VALUE, "17 is no ts_failure");
    WORKS(ts_search_tell(search, config, 2.0));
    REFUSES(ts_search_tell(search, config, 1.0), TS_TOLD_TWICE, "was told before");
    WORKS(ts_config_close(config));
    const double none[2] = {NAN, -INFINITY};
    for (int at = 0; at < 2; at++) {
        WORKS(ts_search_ask(search, 1, &config, &count));
        REFUSES(ts_search_tell(search, config, none[at]), TS_BAD_VALUE, "finite number");
        REFUSES(ts_search_tell(search, config, 1.0), TS_TOLD_TWICE, "was told before");
        WORKS(ts_config_close(config));
    }
    for (int at = 3; at < 20; at++) {
        WORKS(ts_search_ask(search, 1, &config, &count));
        WORKS(ts_search_fail(search, config, TS_FAILURE_COMPILE, NULL));
        WORKS(ts_config_close(config));
    }
    if (ts_search_ask(search, 1, &config, &count) != TS_END || count != 0) faults++;
    WORKS(ts_search_best(search, &best, &cost));
    if (cost != 2.0) faults++;
    WORKS(ts_config_close(best));
    WORKS(ts_search_close(search));
    REFUSES(ts_search_tell(search, best, 1.0), TS_CLOSED, "the ts_search was closed before");
}

/* Costs of any sign rank: a negative score, a zero, and the negatives of a rate that is maximised. */
static void ranks(ts_space space) {
    const double costs[3][3] = {{-1.0, -3.0, -5.0}, {2.0, 1.0, 0.0}, {-10.0, -20.0, -30.0}};
    for (int objective = 0; objective < 3; objective++) {
        ts_search search;
        ts_config config, best;
        char last[200], found[200];
        size_t count;
        double cost;
        WORKS(ts_search_new(space, "exhaustive", 1, 0, &search));
        for (int at = 0; at < 3; at++) {
            WORKS(ts_search_ask(search, 1, &config, &count));
            WORKS(ts_search_tell(search, config, costs[objective][at]));
            WORKS(ts_config_print(config, last, sizeof last, NULL));
            WORKS(ts_config_close(config));
        }
        WORKS(ts_search_best(search, &best, &cost));
        WORKS(ts_config_print(best, found, sizeof found, NULL));
        if (cost != costs[objective][2] || strcmp(found, last) != 0) faults++;
        WORKS(ts_config_close(best));
        WORKS(ts_search_close(search));
    }
}

static void selectors(void) {
    ts_selector selector;
    ts_config config;
    size_t count;
    char text[200];
    const char *paths[] = {"/nowhere/k.wisdom"};
    ts_size sizes[] = {{"N", 64}, {NULL, 1}};
    WORKS(ts_selector_open(paths, 1, &selector));
    WORKS(ts_selector_warnings(selector, &count));
    if (count != 1) faults++;
    WORKS(ts_selector_warning(selector, 0, text, sizeof text, NULL));
    if (strstr(text, "/nowhere/k.wisdom") == NULL) faults++;
    REFUSES(ts_selector_warning(selector, 1, text, sizeof text, NULL), TS_NOT_FOUND, "no warning 1 of 1");
    REFUSES(ts_selector_select(selector, "k", "d", sizes, 1, &config, NULL), TS_NOT_FOUND, "nothing is known of kernel `k`");
    REFUSES(ts_selector_select(selector, "k", "d", sizes, 2, &config, NULL), TS_NULL, "`name of a size` is NULL");
    WORKS(ts_selector_close(selector));
}

static void online(ts_space space) {
    ts_online tuning;
    ts_online_options options = ts_online_defaults();
    ts_config initial, config;
    ts_call call;
    ts_size n = {"N", 64};
    bool flag;
    double limit;
    int64_t tile;
    WORKS(ts_space_at(space, 0, &initial));
    options.slowdown = -1;
    REFUSES(ts_online_new("k", "d", space, initial, &options, &tuning), TS_BAD_VALUE, "`slowdown` is -1; it is at least 0");
    options.slowdown = NAN;
    REFUSES(ts_online_new("k", "d", space, initial, &options, &tuning), TS_BAD_VALUE, "`slowdown` is NaN");
    options = ts_online_defaults();
    options.work = "N *";
    REFUSES(ts_online_new("k", "d", space, initial, &options, &tuning), TS_BAD_VALUE, "the work `N *`");
    REFUSES(ts_online_new(NULL, "d", space, initial, NULL, &tuning), TS_NULL, "`kernel` is NULL");
    WORKS(ts_online_new("k", "d", space, initial, NULL, &tuning));

    REFUSES(ts_online_begin(tuning, NULL, 1, &call, &config), TS_NULL, "`sizes` is NULL");
    REFUSES(ts_online_begin(tuning, &n, 1, NULL, &config), TS_NULL, "`call` is NULL");
    WORKS(ts_online_begin(tuning, &n, 1, &call, &config));
    WORKS(ts_config_int(config, "TILE", &tile));
    WORKS(ts_call_trial(call, &flag, &limit));
    if (flag || limit != INFINITY) faults++;
    REFUSES(ts_call_end(call, -1.0), TS_BAD_VALUE, "a time of -1 seconds");
    REFUSES(ts_call_end(call, NAN), TS_BAD_VALUE, "a time of NaN seconds");
    WORKS(ts_call_end(call, 1e-3));
    REFUSES(ts_call_end(call, 1e-3), TS_CLOSED, "the ts_call was closed before");
    REFUSES(ts_config_int(config, "TILE", &tile), TS_CLOSED, "closed before");
    WORKS(ts_online_begin(tuning, &n, 1, &call, &config));
    WORKS(ts_online_close(tuning));
    REFUSES(ts_online_best(tuning, &n, 1, &config), TS_CLOSED, "the ts_online was closed before");
    WORKS(ts_call_fail(call, &flag));
    if (flag) faults++;
    WORKS(ts_config_close(initial));
}

int main(void) {
    ts_space space = make_space();
    spaces(space);
    handles(space);
    searches(space);
    ranks(space);
    selectors();
    online(space);
    WORKS(ts_space_close(space));
    return faults == 0 ? 0 : 1;
}
