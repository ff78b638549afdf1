/* Tunesmith for C++17: the functions of tunesmith.h as classes. docs/c.md explains them.
 *
 * Objects close themselves. Whatever can fail returns a Result, which holds a value or an Error; no
 * function throws unless a Result without a value is asked for it. A header alone: link libtunesmith.
 */
#ifndef TUNESMITH_HPP
#define TUNESMITH_HPP

#include "tunesmith.h"

#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tunesmith {

/// The reason why a function failed.
struct Error {
    ts_status status;
    std::string message;
};

/// Returns the error of the latest call on this thread.
inline Error last_error(ts_status status) { return Error{status, ts_message()}; }

namespace detail {
[[noreturn]] inline void no_value(const Error& error) {
#if defined(__cpp_exceptions)
    throw std::runtime_error(error.message);
#else
    (void)error;
    std::abort();
#endif
}
}  // namespace detail

/// A value, or the reason why there is none. `value()` throws std::runtime_error without a value, or
/// aborts where exceptions are off.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    T& value() & { return checked(), *std::get_if<0>(&state_); }
    const T& value() const& { return checked(), *std::get_if<0>(&state_); }
    T value() && { return checked(), std::move(*std::get_if<0>(&state_)); }

    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    T value_or(T other) const& { return has_value() ? *std::get_if<0>(&state_) : std::move(other); }

    /// The error. There is one unless has_value().
    const Error& error() const { return *std::get_if<1>(&state_); }

private:
    void checked() const {
        if (!has_value()) detail::no_value(error());
    }

    std::variant<T, Error> state_;
};

/// Success, or the reason for a failure.
template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : error_(std::move(error)) {}

    bool has_value() const noexcept { return !error_; }
    explicit operator bool() const noexcept { return has_value(); }
    void value() const {
        if (error_) detail::no_value(*error_);
    }
    const Error& error() const { return *error_; }

private:
    std::optional<Error> error_;
};

namespace detail {
inline Result<void> done(ts_status status) {
    if (status == TS_OK) return {};
    return last_error(status);
}

/// Copies a text of which `copy(buffer, capacity, length)` writes as much as fits.
template <class Copy>
Result<std::string> text(Copy copy) {
    std::string text(64, '\0');
    for (;;) {
        size_t length = 0;
        ts_status status = copy(&text[0], text.size() + 1, &length);
        bool fits = status != TS_TOO_SMALL;
        if (status != TS_OK && fits) return last_error(status);
        text.resize(length);
        if (fits) return text;
    }
}

/// A handle that is closed once.
template <class Handle, ts_status (*close)(Handle)>
class Owned {
public:
    Owned() = default;
    explicit Owned(Handle handle) : handle_(handle) {}
    Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, Handle{})) {}
    Owned& operator=(Owned&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Owned() {
        if (handle_.id != 0) close(handle_);
    }

    Handle get() const noexcept { return handle_; }
    Handle release() noexcept { return std::exchange(handle_, Handle{}); }

private:
    Handle handle_{};
};
}  // namespace detail

/// A configuration: values of parameters by name.
class Config {
public:
    Config() = default;
    explicit Config(ts_config handle) : handle_(handle) {}

    /// The value of a parameter of integers or booleans.
    Result<int64_t> integer(const char* name) const { return get<int64_t>(ts_config_int, name); }
    /// The value of a parameter of numbers or booleans.
    Result<double> number(const char* name) const { return get<double>(ts_config_float, name); }
    /// True unless the value of a parameter of booleans or integers is 0.
    Result<bool> truth(const char* name) const { return get<bool>(ts_config_bool, name); }
    /// The value of any parameter as a text.
    Result<std::string> text(const char* name) const {
        return detail::text([&](char* buffer, size_t capacity, size_t* length) {
            return ts_config_text(get(), name, buffer, capacity, length);
        });
    }
    /// The whole configuration as `NAME=VALUE,NAME=VALUE`.
    Result<std::string> print() const {
        return detail::text([&](char* buffer, size_t capacity, size_t* length) {
            return ts_config_print(get(), buffer, capacity, length);
        });
    }

    ts_config get() const noexcept { return handle_.get(); }
    ts_config release() noexcept { return handle_.release(); }

private:
    template <class T>
    Result<T> get(ts_status (*function)(ts_config, const char*, T*), const char* name) const {
        T value{};
        ts_status status = function(get(), name, &value);
        if (status != TS_OK) return last_error(status);
        return value;
    }

    detail::Owned<ts_config, ts_config_close> handle_;
};

/// A search space.
class Space {
public:
    class Builder;

    /// The number of configurations.
    Result<uint64_t> size() const {
        uint64_t size = 0;
        ts_status status = ts_space_size(get(), &size);
        if (status != TS_OK) return last_error(status);
        return size;
    }
    /// The configuration at `index`, counted from 0.
    Result<Config> at(uint64_t index) const { return made(ts_space_at, index); }
    /// A configuration drawn uniformly. The same seed gives the same one.
    Result<Config> sample(uint64_t seed) const { return made(ts_space_sample, seed); }
    /// The configuration with the values `NAME=VALUE,NAME=VALUE`. Others take their first value.
    Result<Config> config(const char* values) const { return made(ts_space_config, values); }
    Result<uint64_t> index(const Config& config) const {
        uint64_t index = 0;
        ts_status status = ts_space_index(get(), config.get(), &index);
        if (status != TS_OK) return last_error(status);
        return index;
    }
    Result<bool> contains(const Config& config) const {
        bool contains = false;
        ts_status status = ts_space_contains(get(), config.get(), &contains);
        if (status != TS_OK) return last_error(status);
        return contains;
    }

    ts_space get() const noexcept { return handle_.get(); }

private:
    explicit Space(ts_space handle) : handle_(handle) {}

    template <class Question>
    Result<Config> made(ts_status (*function)(ts_space, Question, ts_config*), Question question) const {
        ts_config config{};
        ts_status status = function(get(), question, &config);
        if (status != TS_OK) return last_error(status);
        return Config(config);
    }

    detail::Owned<ts_space, ts_space_close> handle_;
};

/// Describes a space. The first error of any step is that of build().
class Space::Builder {
public:
    Builder() {
        ts_space_builder builder{};
        keep(ts_space_builder_new(&builder));
        handle_ = Handle(builder);
    }

    Builder& integers(const char* name, const std::vector<int64_t>& values) {
        return keep(ts_space_builder_ints(handle_.get(), name, values.data(), values.size()));
    }
    Builder& numbers(const char* name, const std::vector<double>& values) {
        return keep(ts_space_builder_floats(handle_.get(), name, values.data(), values.size()));
    }
    Builder& texts(const char* name, const std::vector<const char*>& values) {
        return keep(ts_space_builder_texts(handle_.get(), name, values.data(), values.size()));
    }
    /// Off or on.
    Builder& toggle(const char* name) { return keep(ts_space_builder_switch(handle_.get(), name)); }
    /// The values that a Python expression lists, such as `[2**i for i in range(5)]`.
    Builder& values(const char* name, const char* expression) {
        return keep(ts_space_builder_values(handle_.get(), name, expression));
    }
    Builder& constant(const char* name, int64_t value) {
        return keep(ts_space_builder_constant(handle_.get(), name, value));
    }
    /// A condition in Python's syntax, such as `TILE % THREADS == 0`.
    Builder& constraint(const char* condition) {
        return keep(ts_space_builder_constraint(handle_.get(), condition));
    }

    Result<Space> build() {
        if (error_) return *error_;
        ts_space space{};
        ts_status status = ts_space_builder_build(handle_.get(), &space);
        if (status != TS_OK) return last_error(status);
        handle_.release();
        return Space(space);
    }

private:
    using Handle = detail::Owned<ts_space_builder, ts_space_builder_close>;

    Builder& keep(ts_status status) {
        if (status != TS_OK && !error_) error_ = last_error(status);
        return *this;
    }

    Handle handle_;
    std::optional<Error> error_;
};

/// A search that is asked for configurations and told their costs.
class Search {
public:
    /// A configuration with its cost.
    struct Best {
        Config config;
        double cost;
    };

    /// Searches `space`. `strategy` is written as on the command line; nullptr is the recommended one.
    static Result<Search> create(const Space& space, const char* strategy, uint64_t seed, uint64_t budget = 0) {
        ts_search search{};
        ts_status status = ts_search_new(space.get(), strategy, seed, budget, &search);
        if (status != TS_OK) return last_error(status);
        return Search(search);
    }

    /// At most `room` configurations to evaluate. None while the strategy waits for an answer, and
    /// none at the end of the search; see is_over().
    Result<std::vector<Config>> ask(size_t room = 1) {
        std::vector<ts_config> handles(room > 0 ? room : 1);
        size_t count = 0;
        ts_status status = ts_search_ask(get(), room, handles.data(), &count);
        is_over_ = status == TS_END;
        if (status != TS_OK && status != TS_END) return last_error(status);
        std::vector<Config> configs;
        for (size_t at = 0; at < count; ++at) configs.emplace_back(handles[at]);
        return configs;
    }
    /// True if the latest ask() found nothing left to ask.
    bool is_over() const noexcept { return is_over_; }

    /// Tells the cost of a configuration: positive, smaller is better.
    Result<void> tell(const Config& config, double cost) {
        return detail::done(ts_search_tell(get(), config.get(), cost));
    }
    Result<void> fail(const Config& config, ts_failure failure, const char* message = nullptr) {
        return detail::done(ts_search_fail(get(), config.get(), failure, message));
    }
    Result<Best> best() const {
        ts_config config{};
        double cost = 0;
        ts_status status = ts_search_best(get(), &config, &cost);
        if (status != TS_OK) return last_error(status);
        return Best{Config(config), cost};
    }

    ts_search get() const noexcept { return handle_.get(); }

private:
    explicit Search(ts_search handle) : handle_(handle) {}

    detail::Owned<ts_search, ts_search_close> handle_;
    bool is_over_ = false;
};

/// The sizes of an input: `{{"M", 512}, {"N", 64}}`.
using Sizes = std::initializer_list<ts_size>;

namespace detail {
template <class Handle>
std::vector<std::string> warnings(
    Handle handle,
    ts_status (*count_of)(Handle, size_t*),
    ts_status (*copy)(Handle, size_t, char*, size_t, size_t*)) {
    std::vector<std::string> warnings;
    size_t count = 0;
    if (count_of(handle, &count) != TS_OK) return warnings;
    for (size_t at = 0; at < count; ++at) {
        auto warning = text([&](char* buffer, size_t capacity, size_t* length) {
            return copy(handle, at, buffer, capacity, length);
        });
        if (warning) warnings.push_back(*warning);
    }
    return warnings;
}
}  // namespace detail

/// A choice among known configurations.
class Selector {
public:
    /// A configuration and what is known about it.
    struct Choice {
        Config config;
        ts_choice about;
    };

    /// Opens files of wisdom and timing models. A file that cannot be read gives a warning.
    static Result<Selector> open(const std::vector<const char*>& paths) {
        ts_selector selector{};
        ts_status status = ts_selector_open(paths.data(), paths.size(), &selector);
        if (status != TS_OK) return last_error(status);
        return Selector(selector);
    }

    Result<Choice> select(const char* kernel, const char* device, Sizes sizes) const {
        ts_config config{};
        ts_choice about{};
        ts_status status = ts_selector_select(get(), kernel, device, sizes.begin(), sizes.size(), &config, &about);
        if (status != TS_OK) return last_error(status);
        return Choice{Config(config), about};
    }
    std::vector<std::string> warnings() const {
        return detail::warnings(get(), ts_selector_warnings, ts_selector_warning);
    }

    ts_selector get() const noexcept { return handle_.get(); }

private:
    explicit Selector(ts_selector handle) : handle_(handle) {}

    detail::Owned<ts_selector, ts_selector_close> handle_;
};

/// A call of the application that has begun. It is abandoned if nothing else ends it, and has failed
/// if an exception does.
class Call {
public:
    Call(ts_call handle, ts_config config) : handle_(handle), config_(config), exceptions_(std::uncaught_exceptions()) {}
    Call(Call&& other) noexcept
        : handle_(std::exchange(other.handle_, ts_call{})),
          config_(std::move(other.config_)),
          exceptions_(other.exceptions_) {}
    Call& operator=(Call&&) = delete;
    ~Call() {
        // The configuration is closed with the call.
        config_.release();
        if (handle_.id == 0) return;
        if (std::uncaught_exceptions() > exceptions_) {
            ts_call_fail(handle_, nullptr);
        } else {
            ts_call_abandon(handle_);
        }
    }

    /// The configuration to run with.
    const Config& config() const noexcept { return config_; }
    bool is_trial() const {
        bool is_trial = false;
        ts_call_trial(handle_, &is_trial, nullptr);
        return is_trial;
    }
    /// The seconds after which a trial has lost and should stop and fail; infinity if it is no trial.
    double limit() const {
        double limit = std::numeric_limits<double>::infinity();
        ts_call_trial(handle_, nullptr, &limit);
        return limit;
    }

    /// Counts the seconds that the configuration took to prepare, such as those of a compiler.
    Result<void> prepared(double seconds) { return detail::done(ts_call_prepared(handle_, seconds)); }
    /// Ends the call with the kernel's time.
    Result<void> end(double seconds) {
        ts_status status = ts_call_end(handle_, seconds);
        if (status == TS_OK) handle_ = ts_call{};
        return detail::done(status);
    }
    /// Ends the call now.
    Result<void> stop() { return detail::done(ts_call_stop(std::exchange(handle_, ts_call{}))); }
    /// Ends the call as failed. True if it should begin again with another configuration.
    Result<bool> fail() {
        bool repeat = false;
        ts_status status = ts_call_fail(std::exchange(handle_, ts_call{}), &repeat);
        if (status != TS_OK) return last_error(status);
        return repeat;
    }

private:
    ts_call handle_;
    Config config_;
    int exceptions_;
};

/// Settings of tuning while an application runs; tunesmith.h explains them.
struct OnlineOptions {
    std::string strategy, wisdom, work;
    uint64_t seed = 0;
    size_t candidates = ts_online_defaults().candidates;
    double slowdown = ts_online_defaults().slowdown;
    double worst = ts_online_defaults().worst;
    size_t samples = ts_online_defaults().samples;
    double margin = ts_online_defaults().margin;
    double drift = ts_online_defaults().drift;
    double resolution = ts_online_defaults().resolution;
};

/// Tuning while an application runs.
class Online {
public:
    struct Cost {
        double excess, useful;
    };

    /// Tunes `kernel` on `device` among the configurations of `space`. `initial` is the configuration
    /// that the application would use without tuning.
    static Result<Online> create(
        const char* kernel,
        const char* device,
        const Space& space,
        const Config& initial,
        const OnlineOptions& options = {}) {
        auto text = [](const std::string& text) { return text.empty() ? nullptr : text.c_str(); };
        ts_online_options raw = ts_online_defaults();
        raw.strategy = text(options.strategy);
        raw.wisdom = text(options.wisdom);
        raw.work = text(options.work);
        raw.seed = options.seed;
        raw.candidates = options.candidates;
        raw.slowdown = options.slowdown;
        raw.worst = options.worst;
        raw.samples = options.samples;
        raw.margin = options.margin;
        raw.drift = options.drift;
        raw.resolution = options.resolution;
        ts_online online{};
        ts_status status = ts_online_new(kernel, device, space.get(), initial.get(), &raw, &online);
        if (status != TS_OK) return last_error(status);
        return Online(online);
    }

    /// Begins a call for an input.
    Result<Call> begin(Sizes sizes) const {
        ts_call call{};
        ts_config config{};
        ts_status status = ts_online_begin(get(), sizes.begin(), sizes.size(), &call, &config);
        if (status != TS_OK) return last_error(status);
        return Call(call, config);
    }

    /// Calls `run(config)` and times it. If it throws, its configuration has failed: another one is
    /// tried, and the exception of the default reaches the caller.
    template <class Run>
    Result<std::invoke_result_t<Run, const Config&>> call(Sizes sizes, Run&& run) const {
        for (;;) {
            auto call = begin(sizes);
            if (!call) return call.error();
#if defined(__cpp_exceptions)
            try {
                return finish(*call, run);
            } catch (...) {
                if (!call->fail().value_or(false)) throw;
            }
#else
            return finish(*call, run);
#endif
        }
    }

    /// The best configuration known for an input.
    Result<Config> best(Sizes sizes) const {
        ts_config config{};
        ts_status status = ts_online_best(get(), sizes.begin(), sizes.size(), &config);
        if (status != TS_OK) return last_error(status);
        return Config(config);
    }
    /// True if nothing is left to try for an input.
    Result<bool> is_settled(Sizes sizes) const {
        bool is_settled = false;
        ts_status status = ts_online_is_settled(get(), sizes.begin(), sizes.size(), &is_settled);
        if (status != TS_OK) return last_error(status);
        return is_settled;
    }
    /// The seconds that tuning has cost, and those of all calls with the best known configurations.
    Result<Cost> cost() const {
        Cost cost{};
        ts_status status = ts_online_cost(get(), &cost.excess, &cost.useful);
        if (status != TS_OK) return last_error(status);
        return cost;
    }
    std::vector<std::string> warnings() const {
        return detail::warnings(get(), ts_online_warnings, ts_online_warning);
    }

    ts_online get() const noexcept { return handle_.get(); }

private:
    explicit Online(ts_online handle) : handle_(handle) {}

    template <class Run>
    static Result<std::invoke_result_t<Run, const Config&>> finish(Call& call, Run& run) {
        using Value = std::invoke_result_t<Run, const Config&>;
        if constexpr (std::is_void_v<Value>) {
            run(call.config());
            return call.stop();
        } else {
            Value value = run(call.config());
            auto stopped = call.stop();
            if (!stopped) return stopped.error();
            return value;
        }
    }

    detail::Owned<ts_online, ts_online_close> handle_;
};

/// A kernel of the application, compiled for the configuration of each call and launched on the
/// application's own OpenCL queue or CUDA stream.
class Launcher {
public:
    /// A kernel of an OpenCL source. `queue` is a `cl_command_queue` with profiling.
    static Result<Launcher> opencl(
        const Online& online,
        void* queue,
        const char* source,
        const char* name,
        const char* options = nullptr) {
        ts_launcher launcher{};
        ts_status status = ts_launcher_opencl(online.get(), queue, source, name, options, &launcher);
        if (status != TS_OK) return last_error(status);
        return Launcher(launcher);
    }
    /// A kernel of a CUDA source. `stream` is a `CUstream` or `cudaStream_t`; nullptr is the default one.
    static Result<Launcher> cuda(
        const Online& online,
        void* stream,
        const char* source,
        const char* name,
        const char* options = nullptr) {
        ts_launcher launcher{};
        ts_status status = ts_launcher_cuda(online.get(), stream, source, name, options, &launcher);
        if (status != TS_OK) return last_error(status);
        return Launcher(launcher);
    }

    /// Sets the work-items (threads) along each axis: expressions over sizes and parameters.
    Result<void> items(const char* x, const char* y = nullptr, const char* z = nullptr) {
        return detail::done(ts_launcher_items(get(), x, y, z));
    }
    /// Sets the work-items of a group (the threads of a block) along each axis.
    Result<void> group(const char* x, const char* y = nullptr, const char* z = nullptr) {
        return detail::done(ts_launcher_group(get(), x, y, z));
    }
    /// Sets an argument to a copy of `value`: a `cl_mem`, a device pointer or a number.
    template <class T>
    Result<void> argument(uint32_t index, const T& value) {
        static_assert(std::is_trivially_copyable<T>::value, "an argument is passed by its bytes");
        return detail::done(ts_launcher_argument(get(), index, sizeof value, &value));
    }
    /// Sets an argument to local memory (dynamic shared memory) of `bytes` bytes.
    Result<void> local(uint32_t index, size_t bytes) {
        return detail::done(ts_launcher_argument(get(), index, bytes, nullptr));
    }
    /// Runs the kernel once, waits for it, and returns its seconds.
    Result<double> run(Sizes sizes) {
        double seconds = 0;
        ts_status status = ts_launcher_run(get(), sizes.begin(), sizes.size(), &seconds);
        if (status != TS_OK) return last_error(status);
        return seconds;
    }

    ts_launcher get() const noexcept { return handle_.get(); }

private:
    explicit Launcher(ts_launcher handle) : handle_(handle) {}
    detail::Owned<ts_launcher, ts_launcher_close> handle_;
};

}  // namespace tunesmith

#endif
