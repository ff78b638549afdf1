"""Scripts for Kernel Tuner, written as its documentation shows. Each is a function of `tune_kernel`.

Together they use C and OpenCL; restrictions as strings, functions and both; answers; metrics as strings
and functions; an objective other than time; grid divisors; several strategies; and caches.
"""

import numpy


def vector_add_opencl(tune_kernel, cache):
    source = """
    __kernel void vector_add(__global float *c, __global const float *a, __global const float *b, int n) {
        int i = get_global_id(0);
        if (i < n) {
            c[i] = a[i] + b[i];
        }
    }
    """
    size = 1_000_000
    random = numpy.random.default_rng(1)
    a = random.standard_normal(size).astype(numpy.float32)
    b = random.standard_normal(size).astype(numpy.float32)
    c = numpy.zeros_like(b)
    tune_params = {"block_size_x": [16, 32, 64, 128, 256, 512, 1024]}
    metrics = {"GB/s": lambda p: (3 * 4 * size / 1e9) / (p["time"] / 1e3)}
    return tune_kernel(
        "vector_add", source, size, [c, a, b, numpy.int32(size)], tune_params, lang="OpenCL",
        answer=[a + b, None, None, None], metrics=metrics, cache=cache,
    )  # fmt: skip


def vector_add_c(tune_kernel, cache):
    source = """
    #include <chrono>
    extern "C" float vector_add(float *c, const float *a, const float *b, int n) {
        auto start = std::chrono::steady_clock::now();
        int chunk = n / nblocks;
        for (int block = 0; block < nblocks; block++) {
            for (int i = block * chunk; i < (block + 1) * chunk; i += vlen) {
                for (int lane = 0; lane < vlen; lane++) {
                    c[i + lane] = a[i + lane] + b[i + lane];
                }
            }
        }
        return std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - start).count();
    }
    """
    size = 1 << 22
    random = numpy.random.default_rng(1)
    a = random.standard_normal(size).astype(numpy.float32)
    b = random.standard_normal(size).astype(numpy.float32)
    c = numpy.zeros_like(b)
    tune_params = {"vlen": [1, 4, 16, 64], "nblocks": [1, 16, 256, 4096, 1 << 20]}
    return tune_kernel(
        "vector_add", source, size, [c, a, b, numpy.int32(size)], tune_params, lang="C",
        answer=[a + b, None, None, None], restrictions=["vlen * nblocks <= 4194304"],
        compiler_options=["-O2", "-march=native"], strategy="random_sample", strategy_options={"fraction": 1.0},
    )  # fmt: skip


def convolution(tune_kernel, cache):
    source = """
    __kernel void convolution(__global float *out, __global const float *in, __constant float *filter) {
        int x0 = get_group_id(0) * block_size_x * tile_size_x + get_local_id(0);
        int y0 = get_group_id(1) * block_size_y * tile_size_y + get_local_id(1);
        for (int ty = 0; ty < tile_size_y; ty++) {
            for (int tx = 0; tx < tile_size_x; tx++) {
                int x = x0 + tx * block_size_x;
                int y = y0 + ty * block_size_y;
                if (x < WIDTH && y < HEIGHT) {
                    float sum = 0.0f;
                    for (int j = 0; j < FILTER; j++) {
                        for (int i = 0; i < FILTER; i++) {
                            sum += in[(y + j) * (WIDTH + FILTER - 1) + x + i] * filter[j * FILTER + i];
                        }
                    }
                    out[y * WIDTH + x] = sum;
                }
            }
        }
    }
    """
    width, height, taps = 512, 384, 5
    source = source.replace("WIDTH", str(width)).replace("HEIGHT", str(height)).replace("FILTER", str(taps))
    random = numpy.random.default_rng(2)
    image = random.standard_normal((height + taps - 1, width + taps - 1)).astype(numpy.float32)
    taps_of = random.standard_normal((taps, taps)).astype(numpy.float32)
    output = numpy.zeros((height, width), numpy.float32)
    windows = numpy.lib.stride_tricks.sliding_window_view(image, (taps, taps))
    reference = numpy.einsum("yxji,ji->yx", windows, taps_of).astype(numpy.float32)
    tune_params = {
        "block_size_x": [16, 32, 64, 128],
        "block_size_y": [1, 2, 4, 8, 16],
        "tile_size_x": [1, 2, 4],
        "tile_size_y": [1, 2],
    }
    grid_div_x = ["block_size_x", "tile_size_x"]
    grid_div_y = ["block_size_y", "tile_size_y"]

    def fits(p):
        return p["block_size_x"] * p["block_size_y"] <= 512

    metrics = {"GFLOP/s": lambda p: (width * height * taps * taps * 2 / 1e9) / (p["time"] / 1e3)}
    return tune_kernel(
        "convolution", source, (width, height), [output, image, taps_of], tune_params, grid_div_y=grid_div_y,
        grid_div_x=grid_div_x, restrictions=fits, lang="OpenCL",
        answer=[reference, None, None], atol=1e-3, metrics=metrics, cache=cache,
    )  # fmt: skip


def matmul(tune_kernel, cache):
    source = """
    __kernel void matmul(__global float *C, __global const float *A, __global const float *B) {
        __local float sA[block_size_y * tile_size_y][block_size_x];
        __local float sB[block_size_x][block_size_x * tile_size_x];
        int tx = get_local_id(0), ty = get_local_id(1);
        int x = get_group_id(0) * block_size_x * tile_size_x + tx;
        int y = get_group_id(1) * block_size_y * tile_size_y + ty;
        float sum[tile_size_y][tile_size_x] = {{0.0f}};
        for (int k = 0; k < WIDTH; k += block_size_x) {
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int i = 0; i < tile_size_y; i++) {
                sA[ty + block_size_y * i][tx] = A[(y + i * block_size_y) * WIDTH + k + tx];
            }
            for (int r = ty; r < block_size_x; r += block_size_y) {
                for (int j = 0; j < tile_size_x; j++) {
                    sB[r][tx + j * block_size_x] = B[(k + r) * WIDTH + x + j * block_size_x];
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int kb = 0; kb < block_size_x; kb++) {
                for (int i = 0; i < tile_size_y; i++) {
                    for (int j = 0; j < tile_size_x; j++) {
                        sum[i][j] += sA[ty + block_size_y * i][kb] * sB[kb][tx + j * block_size_x];
                    }
                }
            }
        }
        for (int i = 0; i < tile_size_y; i++) {
            for (int j = 0; j < tile_size_x; j++) {
                C[(y + block_size_y * i) * WIDTH + x + block_size_x * j] = sum[i][j];
            }
        }
    }
    """
    width = 256
    random = numpy.random.default_rng(3)
    a = random.standard_normal((width, width)).astype(numpy.float32)
    b = random.standard_normal((width, width)).astype(numpy.float32)
    c = numpy.zeros_like(a)
    tune_params = {
        "block_size_x": [16, 32, 64],
        "block_size_y": [2**i for i in range(6)],
        "tile_size_x": [2**i for i in range(4)],
        "tile_size_y": [2**i for i in range(4)],
    }
    restrictions = ["block_size_x * block_size_y <= 1024", "block_size_x * tile_size_x <= 256",
                    "block_size_y * tile_size_y <= 256", "block_size_x >= block_size_y"]  # fmt: skip
    return tune_kernel(
        "matmul", source.replace("WIDTH", str(width)), (width, width), [c, a, b], tune_params, lang="OpenCL",
        grid_div_x=["block_size_x", "tile_size_x"], grid_div_y=["block_size_y", "tile_size_y"],
        restrictions=restrictions, answer=[a @ b, None, None], atol=1e-3,
        metrics={"GFLOP/s": f"({2 * width**3} / 1e9) / (time / 1e3)"}, objective="GFLOP/s",
        objective_higher_is_better=True, strategy="genetic_algorithm", strategy_options={"max_fevals": 40}, seed=1,
    )  # fmt: skip


def reduction(tune_kernel, cache):
    source = """
    __kernel void sum_floats(__global float *sums, __global const float *array, int n) {
        int ti = get_local_id(0);
        float sum = 0.0f;
        for (int i = get_group_id(0) * block_size_x + ti; i < n; i += num_blocks * block_size_x) {
            sum += array[i];
        }
        __local float shared[block_size_x];
        shared[ti] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int s = block_size_x / 2; s > 0; s /= 2) {
            if (ti < s) {
                shared[ti] += shared[ti + s];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (ti == 0) {
            sums[get_group_id(0)] = shared[0];
        }
    }
    """
    size = 1 << 20
    array = numpy.random.default_rng(4).random(size).astype(numpy.float32)
    sums = numpy.zeros(256, numpy.float32)
    tune_params = {"block_size_x": [32, 64, 128, 256], "num_blocks": [2**i for i in range(1, 9)]}
    return tune_kernel(
        "sum_floats", source, "num_blocks", [sums, array, numpy.int32(size)], tune_params, grid_div_x=[],
        lang="OpenCL", strategy="brute_force", restrictions=["num_blocks >= block_size_x // 32"],
    )  # fmt: skip


def stencil(tune_kernel, cache):
    source = """
    #include <chrono>
    extern "C" float stencil(float *out, const float *in) {
        auto start = std::chrono::steady_clock::now();
        for (int yy = 1; yy < N - 1; yy += tile_y) {
            for (int xx = 1; xx < N - 1; xx += tile_x) {
                for (int y = yy; y < yy + tile_y && y < N - 1; y++) {
                    for (int x = xx; x < xx + tile_x && x < N - 1; x++) {
                        out[y * N + x] = 0.25f * (in[y * N + x - 1] + in[y * N + x + 1] + in[(y - 1) * N + x]
                                                  + in[(y + 1) * N + x]);
                    }
                }
            }
        }
        return std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - start).count();
    }
    """
    n = 1024
    grid = numpy.random.default_rng(5).random((n, n)).astype(numpy.float32)
    result = numpy.zeros_like(grid)
    reference = numpy.zeros_like(grid)
    quarter = numpy.float32(0.25)
    reference[1:-1, 1:-1] = quarter * (grid[1:-1, :-2] + grid[1:-1, 2:] + grid[:-2, 1:-1] + grid[2:, 1:-1])
    tune_params = {"tile_x": [8, 64, 512, 1024], "tile_y": [1, 4, 32, 1024]}
    return tune_kernel(
        "stencil", source.replace("N", str(n)), n, [result, grid], tune_params, lang="C",
        restrictions=["tile_x * tile_y >= 64"], answer=[reference, None], atol=1e-5, iterations=9,
        compiler_options=["-O3", "-march=native"], strategy="simulated_annealing", strategy_options={"max_fevals": 12},
        seed=2,
    )  # fmt: skip


SCRIPTS = [vector_add_opencl, vector_add_c, convolution, matmul, reduction, stencil]
