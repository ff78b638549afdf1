// A kernel runs on the application's own CUDA stream, by the wrapper. `fake_cuda.c` takes the driver's place.
#include <cstdio>
#include <cstdlib>
#include <tunesmith.hpp>
#include <vector>

using namespace tunesmith;

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition);       \
            std::exit(1);                                                      \
        }                                                                      \
    } while (false)

static const char* source = "template <class T> __global__ void add(const T *a, const T *b, T *c, const int n) {}";

int main() {
    auto space = Space::Builder().integers("GROUP", {1, 16, 64}).build().value();
    auto initial = space.config("GROUP=1").value();
    OnlineOptions options;
    options.strategy = "exhaustive";
    options.slowdown = 1000;
    auto online = Online::create("add", "device", space, initial, options).value();

    CHECK(Launcher::opencl(online, nullptr, source, "add").error().status == TS_NULL);
    CHECK(Launcher::cuda(online, reinterpret_cast<void*>(0x21), source, "add<float>").error().status == TS_DEVICE);
    auto launcher = Launcher::cuda(online, reinterpret_cast<void*>(0x20), source, "add<float>").value();
    const int n = 1000;
    std::vector<float> a(n, 1), b(n, 2), c(n);
    CHECK(launcher.items("N") && launcher.group("GROUP"));
    CHECK(launcher.group("GROUP +").error().status == TS_BAD_VALUE);
    const float* pointers[] = {a.data(), b.data(), c.data()};
    for (uint32_t at = 0; at < 3; ++at) CHECK(launcher.argument(at, pointers[at]));
    CHECK(launcher.argument(3, n) && launcher.local(4, 1024));
    for (int call = 0; call < 100; ++call) CHECK(launcher.run({{"N", n}}).value() > 0);
    CHECK(c[n - 1] == 3 && online.best({{"N", n}})->integer("GROUP").value() == 64);
    return 0;
}
