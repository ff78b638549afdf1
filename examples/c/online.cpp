// An application that tunes its own matrix product while it runs, for sizes that change from call to
// call, and begins the next time with what it has found.
//
//   online [CALLS [WISDOM [compare]]]
//
// With `compare` it measures every configuration for every size at the end. Then it repeats all calls,
// each beside the same call of an application that always knew the best.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <random>
#include <string>
#include <tunesmith.hpp>
#include <vector>

namespace {

using Matrix = std::vector<float>;

/// The processor time of this thread, which other programs on the machine do not prolong.
double seconds() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The application's function: C = A B of n x n matrices, in blocks of `depth` rows and `width` columns
/// of B. ROWS x COLUMNS sums are kept in registers.
template <int ROWS, int COLUMNS>
void product(int n, const float* a, const float* b, float* c, int depth, int width) {
    for (int k0 = 0; k0 < n; k0 += depth) {
        const int k1 = std::min(n, k0 + depth);
        for (int j0 = 0; j0 < n; j0 += width) {
            const int j1 = std::min(n, j0 + width);
            for (int i = 0; i < n; i += ROWS) {
                for (int j = j0; j < j1; j += COLUMNS) {
                    float sums[ROWS][COLUMNS] = {};
                    for (int k = k0; k < k1; ++k)
                        for (int y = 0; y < ROWS; ++y)
                            for (int x = 0; x < COLUMNS; ++x) sums[y][x] += a[(i + y) * n + k] * b[k * n + j + x];
                    for (int y = 0; y < ROWS; ++y)
                        for (int x = 0; x < COLUMNS; ++x)
                            c[(i + y) * n + j + x] = (k0 == 0 ? 0 : c[(i + y) * n + j + x]) + sums[y][x];
                }
            }
        }
    }
}

using Product = void (*)(int, const float*, const float*, float*, int, int);

Product variant(int64_t rows, int64_t columns) {
    switch (rows * 100 + columns) {
        case 104: return product<1, 4>;
        case 108: return product<1, 8>;
        case 116: return product<1, 16>;
        case 204: return product<2, 4>;
        case 208: return product<2, 8>;
        case 216: return product<2, 16>;
        case 404: return product<4, 4>;
        case 408: return product<4, 8>;
        default: return product<4, 16>;
    }
}

/// The values of a configuration.
struct Choice {
    explicit Choice(const tunesmith::Config& config)
        : product(variant(config.integer("ROWS").value(), config.integer("COLUMNS").value())),
          depth(static_cast<int>(config.integer("DEPTH").value())),
          width(static_cast<int>(config.integer("WIDTH").value())) {}

    Product product;
    int depth, width;
};

struct Problem {
    explicit Problem(int n) : n(n), a(size()), b(size()), c(size()) {
        for (size_t at = 0; at < size(); ++at) {
            a[at] = static_cast<float>(at % 7) - 3;
            b[at] = static_cast<float>(at % 5) - 2;
        }
    }

    size_t size() const { return static_cast<size_t>(n) * static_cast<size_t>(n); }

    /// Computes the product, and returns its time.
    double run(const Choice& choice) {
        const double start = seconds();
        choice.product(n, a.data(), b.data(), c.data(), choice.depth, choice.width);
        return seconds() - start;
    }

    /// Compares some elements with sums computed one by one; the numbers are small and whole.
    bool is_right() const {
        for (int at = 0; at < 50; ++at) {
            const int i = (at * 13) % n, j = (at * 29) % n;
            float sum = 0;
            for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
            if (sum != c[i * n + j]) return false;
        }
        return true;
    }

    int n;
    Matrix a, b, c;
};

tunesmith::Result<tunesmith::Space> space() {
    return tunesmith::Space::Builder()
        .integers("ROWS", {1, 2, 4})
        .integers("COLUMNS", {4, 8, 16})
        .integers("DEPTH", {16, 32, 64, 128, 256})
        .integers("WIDTH", {16, 32, 64, 128, 256})
        .build();
}

/// A call of the application.
struct Call {
    int n;
    Choice choice;
    /// The seconds that the library took.
    double tuning;
    /// Nothing was left to try for this size.
    bool is_settled;
};

/// The time of some calls, and of the same calls with the best configuration of each size.
struct Part {
    double took = 0, best = 0;
    int calls = 0;

    void print(const char* name) const {
        if (calls > 0) std::printf("  %-16s %5d calls %8.1f ms  slowdown %6.1f %%\n", name, calls, 1e3 * took, 100 * (took / best - 1));
    }
};

/// The fastest configuration for a size: the fastest of all are measured again.
Choice fastest(const tunesmith::Space& space, Problem& problem) {
    auto median = [&](const Choice& choice, int runs) {
        std::vector<double> times;
        for (int run = 0; run < runs; ++run) times.push_back(problem.run(choice));
        std::sort(times.begin(), times.end());
        return times[times.size() / 2];
    };
    std::vector<std::pair<double, Choice>> found;
    for (uint64_t at = 0; at < space.size().value(); ++at) {
        Choice choice(space.at(at).value());
        found.emplace_back(median(choice, 3), choice);
    }
    auto is_faster = [](const auto& one, const auto& other) { return one.first < other.first; };
    std::sort(found.begin(), found.end(), is_faster);
    found.erase(found.begin() + 8, found.end());
    for (auto& [time, choice] : found) time = median(choice, 21);
    return std::min_element(found.begin(), found.end(), is_faster)->second;
}

/// Prints how much longer the calls take than those of an application that always knew the best. Both
/// are repeated in turn, so that a change of the machine touches both alike.
void compare(const tunesmith::Space& space, std::map<int, Problem>& problems, const std::vector<Call>& calls) {
    std::map<int, Choice> best;
    for (auto& [n, problem] : problems) best.emplace(n, fastest(space, problem));
    Part first, rest, last, settled;
    for (size_t at = 0; at < calls.size(); ++at) {
        const Call& call = calls[at];
        Problem& problem = problems.at(call.n);
        // What runs first loads the matrices into the caches.
        double again = at % 2 ? problem.run(best.at(call.n)) : 0;
        double took = call.tuning + problem.run(call.choice);
        if (at % 2 == 0) again = problem.run(best.at(call.n));
        auto add = [&](Part& part) { part.took += took, part.best += again, part.calls += 1; };
        add(at < 200 ? first : rest);
        if (at + 500 >= calls.size()) add(last);
        if (call.is_settled) add(settled);
    }
    std::printf("against always knowing the best:\n");
    first.print("first calls");
    rest.print("later calls");
    last.print("last calls");
    settled.print("after exploring");
}

}  // namespace

int main(int count, char** arguments) {
    const int calls = count > 1 ? std::atoi(arguments[1]) : 2000;
    tunesmith::OnlineOptions options;
    options.candidates = 12;
    if (count > 2) options.wisdom = arguments[2];

    auto space = ::space();
    if (!space) return std::fprintf(stderr, "%s\n", space.error().message.c_str()), 1;
    // What the application would do without tuning.
    auto initial = space->config("ROWS=1,COLUMNS=8,DEPTH=32,WIDTH=32").value();
    auto online = tunesmith::Online::create("product", "this CPU", *space, initial, options);
    if (!online) return std::fprintf(stderr, "%s\n", online.error().message.c_str()), 1;

    std::map<int, Problem> problems;
    for (int n : {48, 96, 144, 192, 256}) problems.emplace(n, Problem(n));
    std::mt19937 random(1);
    std::vector<Call> made;
    double share = 0;
    for (int call = 0; call < calls; ++call) {
        auto& [n, problem] = *std::next(problems.begin(), static_cast<int>(random() % problems.size()));
        const bool is_settled = online->is_settled({{"N", static_cast<double>(n)}}).value();
        double start = seconds();
        auto one = online->begin({{"N", static_cast<double>(n)}});
        if (!one) return std::fprintf(stderr, "%s\n", one.error().message.c_str()), 1;
        Choice choice(one->config());
        double took = problem.run(choice);
        one->end(took).value();
        made.push_back({n, choice, seconds() - start - took, is_settled});
        if (call % 100 == 0 && !problem.is_right()) return std::fprintf(stderr, "the product is wrong\n"), 1;
        auto cost = online->cost().value();
        if (call >= 100) share = std::max(share, cost.excess / cost.useful);
    }

    if (count > 3) compare(*space, problems, made);
    auto cost = online->cost().value();
    std::printf("tuning cost %.1f ms, %.2f %% of the other calls; at most %.2f %%, budget 5 %%\n", 1e3 * cost.excess,
                100 * cost.excess / cost.useful, 100 * share);
    for (auto& [n, problem] : problems) {
        auto config = online->best({{"N", static_cast<double>(n)}}).value();
        std::printf("  N=%-4d %s%s\n", n, config.print().value().c_str(),
                    online->is_settled({{"N", static_cast<double>(n)}}).value() ? "" : " (exploring)");
    }
    for (const auto& warning : online->warnings()) std::fprintf(stderr, "warning: %s\n", warning.c_str());
    return 0;
}
