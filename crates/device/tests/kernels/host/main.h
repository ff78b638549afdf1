/*
 * Runs one launch of a kernel on the processor: reads the launch and the device's memory, maps the memory at the
 * device's own addresses, and writes it back afterwards.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <tuple>
#include <type_traits>
#include <utility>

/* A variable in constant memory. */
struct Variable {
    const char *name;
    void *place;
    size_t bytes;
};

struct Block {
    uint64_t address, bytes;
};

/* Ends the process as a driver would refuse the launch. */
static void refuse(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(3);
}

static void receive(void *to, size_t bytes)
{
    if (fread(to, 1, bytes, stdin) != bytes) refuse("the launch is cut off");
}

static uint64_t receive_number()
{
    uint64_t number;
    receive(&number, sizeof number);
    return number;
}

static std::string receive_bytes()
{
    std::string bytes(receive_number(), '\0');
    receive(&bytes[0], bytes.size());
    return bytes;
}

static void map_block(const Block &block)
{
    void *place = reinterpret_cast<void *>(block.address);
    void *mapped = mmap(place, block.bytes + !block.bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (mapped != place) refuse("the device's addresses are taken");
    receive(place, block.bytes);
}

template <typename... P, size_t... I>
static void launch(void (*kernel)(P...), uint3 grid, uint3 local, const std::vector<std::string> &bytes,
                   std::index_sequence<I...>)
{
    std::tuple<std::remove_const_t<P>...> values;
    if (bytes.size() != sizeof...(P)) refuse("another number of parameters");
    ((bytes[I].size() == sizeof(P) ? (void)memcpy((void *)&std::get<I>(values), bytes[I].data(), sizeof(P))
                                   : refuse("a parameter of another size")), ...);
    on_grid(grid, local, [&] { kernel(std::get<I>(values)...); });
}

template <typename... P> static int run_on_host(void (*kernel)(P...), const Variable *variables)
{
    uint3 extents[2];
    for (uint3 &extent : extents) {
        extent.x = receive_number();
        extent.y = receive_number();
        extent.z = receive_number();
    }
    std::vector<std::string> parameters(receive_number());
    for (std::string &bytes : parameters) bytes = receive_bytes();
    std::vector<std::pair<std::string, uint64_t>> constants(receive_number());
    for (auto &constant : constants) {
        constant.first = receive_bytes();
        constant.second = receive_number();
    }
    std::vector<Block> blocks(receive_number());
    for (Block &block : blocks) {
        block.address = receive_number();
        block.bytes = receive_number();
        map_block(block);
    }
    for (const auto &constant : constants)
        for (const Variable *known = variables; known->name; known++)
            if (constant.first == known->name) memcpy(known->place, reinterpret_cast<void *>(constant.second), known->bytes);
    launch(kernel, extents[0], extents[1], parameters, std::index_sequence_for<P...>());
    for (const Block &block : blocks) fwrite(reinterpret_cast<void *>(block.address), 1, block.bytes, stdout);
    return fflush(stdout) == 0 ? 0 : 3;
}
