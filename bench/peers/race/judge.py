"""Measures configurations of one kernel in turn, as a neutral judge.

    judge.py PROBLEM LIMITS CONFIGS SECONDS OUT

CONFIGS is a JSON list of configurations. Each is compiled and verified once. Then all take turns: a
visit is one launch that is not timed and three that are, and each round begins with another one, so
that a disturbance of the machine affects all alike. Two passes of half of the seconds each show
whether the machine was quiet. OUT gets, for every configuration, the median of each pass in
milliseconds, or null for one that is wrong or does not run.
"""

import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

import numpy

from kernels import Kernel, call

VISIT = 3
LEAST_ROUNDS = 5


def on_c(kernel, configs, folder):
    """A launch for every correct configuration: a function that returns milliseconds.

    All launch on the same buffers, so that none has luckier pages than another.
    """
    expected, shared, launches = kernel.expected(folder), kernel.data(), {}
    for number, config in enumerate(configs):
        function, data = kernel.compiled(config, folder, f"judged-{number}"), kernel.data()
        call(function, data)
        right = not kernel.wrong(expected, data)
        launches[number] = (lambda function=function: call(function, shared)) if right else None
    return launches


def on_opencl(kernel, configs, folder):
    """The same for OpenCL, by the driver's events."""
    import pyopencl as cl

    context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    expected, data, source = kernel.expected(folder), kernel.data(), kernel.file.read_text()
    passed = [cl.Buffer(context, cl.mem_flags.READ_WRITE, value.nbytes) if value.ndim else value for value in data]

    def prepared(config):
        macros = [f"-D{name}={value}" for name, value in config.items()]
        built = cl.Kernel(cl.Program(context, source).build(kernel.options + macros), kernel.function)
        items, local = ([eval(text, {}, dict(config)) for text in texts] for texts in (kernel.items(), kernel.local()))

        def launch():
            # Each time, because it keeps the buffers alive, which OpenCL's kernels do not.
            built.set_args(*passed)
            event = cl.enqueue_nd_range_kernel(queue, built, items, local)
            event.wait()
            return (event.profile.end - event.profile.start) / 1e6

        return launch

    launches = {}
    for number, config in enumerate(configs):
        for buffer, value in zip(passed, data):
            if value.ndim:
                cl.enqueue_copy(queue, buffer, value)
        results = [numpy.empty_like(value) if value.ndim else value for value in data]
        try:
            launches[number] = prepared(config)
            launches[number]()
        except cl.Error:
            launches[number] = None
            continue
        for buffer, value in zip(passed, results):
            if value.ndim:
                cl.enqueue_copy(queue, value, buffer)
        if kernel.wrong(expected, results):
            launches[number] = None
    return launches


def medians(launches, seconds):
    """Of each configuration over rounds of visits, as many as the seconds allow."""
    numbers, times, turn = list(launches), {number: [] for number in launches}, 0
    end = time.monotonic() + seconds
    while turn < LEAST_ROUNDS or time.monotonic() < end:
        first = turn % len(numbers)
        for number in numbers[first:] + numbers[:first]:
            launches[number]()
            times[number] += [launches[number]() for _ in range(VISIT)]
        turn += 1
    return {number: statistics.median(measured) for number, measured in times.items()}


def main():
    problem, limits, configs, seconds, out = sys.argv[1:]
    kernel = Kernel(problem, json.loads(pathlib.Path(limits).read_text()))
    configs = json.loads(pathlib.Path(configs).read_text())
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        os.environ["POCL_CACHE_DIR"] = name
        launches = (on_opencl if kernel.opencl else on_c)(kernel, configs, name)
        correct = {number: launch for number, launch in launches.items() if launch}
        passes = [medians(correct, float(seconds) / 2) for _ in range(2)] if correct else []
    judged = [[each[number] for each in passes] if launches[number] else None for number in range(len(configs))]
    pathlib.Path(out).write_text(json.dumps(judged))


if __name__ == "__main__":
    main()
