// The classes of tunesmith.hpp: what they return, what they close, and what exceptions do.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <tunesmith.hpp>

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            std::fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, ts_message()); \
            std::exit(1);                                                             \
        }                                                                             \
    } while (false)

using namespace tunesmith;

static Space make_space() {
    return Space::Builder().integers("TILE", {8, 16, 32}).texts("ORDER", {"ij", "ji"}).toggle("PAD").constraint("TILE < 32 or not PAD").build().value();
}

static void results() {
    auto wrong = Space::Builder().integers("A", {1, 1}).constraint("B <=").build();
    CHECK(!wrong && wrong.error().status == TS_BAD_VALUE);
    CHECK(wrong.error().message.find("twice") != std::string::npos);
    bool thrown = false;
    try {
        (void)wrong.value();
    } catch (const std::runtime_error& error) {
        thrown = std::string(error.what()) == wrong.error().message;
    }
    CHECK(thrown);
}

static void configs(const Space& space) {
    CHECK(space.size().value() == 10);
    auto config = space.config("TILE=16,PAD=1,ORDER=ji").value();
    CHECK(config.integer("TILE").value() == 16 && config.truth("PAD").value() && *config.text("ORDER") == "ji");
    CHECK(*config.print() == "TILE=16,ORDER=ji,PAD=1");
    CHECK(config.integer("ORDER").error().status == TS_WRONG_TYPE);
    CHECK(config.integer("NONE").value_or(7) == 7);
    CHECK(space.contains(config).value() && *space.at(space.index(config).value())->print() == *config.print());
    Config moved = std::move(config);
    CHECK(config.integer("TILE").error().status == TS_NULL);
    CHECK(moved.integer("TILE").value() == 16);
    auto large = Space::Builder().texts("WORD", {std::string(500, 'a').c_str()}).build().value();
    CHECK(large.at(0)->text("WORD")->size() == 500);
}

static void search(const Space& space) {
    auto search = Search::create(space, "exhaustive", 1).value();
    CHECK(search.best().error().status == TS_NOT_FOUND);
    while (true) {
        auto asked = search.ask(4).value();
        if (asked.empty()) break;
        for (const auto& config : asked) {
            int64_t tile = config.integer("TILE").value();
            auto told = tile == 32 ? search.fail(config, TS_FAILURE_COMPILE, "no")
                                   : search.tell(config, static_cast<double>(tile));
            CHECK(told);
            CHECK(search.tell(config, 1.0).error().status == TS_TOLD_TWICE);
        }
    }
    CHECK(search.is_over() && search.best()->cost == 8.0);
}

static void online(const Space& space) {
    OnlineOptions options;
    options.strategy = "exhaustive";
    options.slowdown = 1.0;
    auto online = Online::create("k", "d", space, *space.config("TILE=16"), options).value();
    CHECK(!Online::create("k", "d", space, *space.at(0), [] { OnlineOptions wrong; wrong.worst = 0.5; return wrong; }()));
    int failures = 0;
    for (int at = 0; at < 400; ++at) {
        auto call = online.begin({{"N", 64}}).value();
        int64_t tile = call.config().integer("TILE").value();
        if (tile == 32) {
            ++failures;
            CHECK(call.fail().value());
        } else {
            CHECK(call.end(1e-3 * static_cast<double>(tile)));
        }
        CHECK(call.end(1.0).error().status == TS_NULL);
    }
    CHECK(failures == 2);
    CHECK(online.best({{"N", 64}})->integer("TILE").value() == 8);
    CHECK(online.is_settled({{"N", 64}}).value());
    CHECK(online.cost()->excess > 0 && online.warnings().empty());
    // A call that nobody ends is abandoned, and the next one may try.
    for (int at = 0; at < 50; ++at) CHECK(online.begin({{"N", 65}}));
}

static void exceptions(const Space& space) {
    OnlineOptions options;
    options.strategy = "exhaustive";
    options.slowdown = 1e6;
    auto online = Online::create("k", "d", space, *space.config("TILE=16"), options).value();
    int thrown = 0;
    for (int at = 0; at < 300; ++at) {
        auto product = online.call({{"N", 1}}, [&](const Config& config) {
            if (config.integer("TILE").value() == 32) {
                ++thrown;
                throw std::runtime_error("out of registers");
            }
            return config.integer("TILE").value();
        });
        CHECK(product && *product != 32);
    }
    CHECK(thrown == 2);
    bool reached = false;
    try {
        (void)online.call({{"N", 2}}, [](const Config&) { throw std::runtime_error("the default fails"); });
    } catch (const std::runtime_error&) {
        reached = true;
    }
    CHECK(reached);
}

static void threads(const Space& space) {
    auto online = Online::create("k", "d", space, *space.at(0)).value();
    auto calls = [&] {
        for (int at = 0; at < 300; ++at) CHECK(online.call({{"N", 3}}, [](const Config& config) { CHECK(config.integer("TILE")); }));
    };
    std::thread first(calls), second(calls);
    first.join();
    second.join();
}

int main() {
    CHECK(std::string(ts_version()).find('.') != std::string::npos);
    Space space = make_space();
    results();
    configs(space);
    search(space);
    online(space);
    exceptions(space);
    threads(space);
    return 0;
}
