"""Measures configurations in turn as a neutral judge; the last line is the result, as JSON.

    neutral.py FOLDER CONFIG ...

First it launches every configuration a few times, round by round, to find the best of all. Then it
launches that one and the named ones many times, interleaved. Each round begins with another one, so
a disturbance of the machine affects all alike. Times are those of the driver's events.
"""

import json
import statistics
import sys

import numpy
import pyopencl as cl

from data import ALPHA, BETA, Live

SCOUTING, ROUNDS = 9, 201


class Judge:
    """Every configuration, compiled and launched once, its result looked at."""

    def __init__(self, live):
        device = cl.get_platforms()[0].get_devices()[0]
        self.context = cl.Context([device])
        self.queue = cl.CommandQueue(self.context, properties=cl.command_queue_properties.PROFILING_ENABLE)
        self.live = live
        self.buffers = [cl.Buffer(self.context, cl.mem_flags.READ_WRITE, data.nbytes) for data in (live.a, live.b, live.c)]
        self.kernels = {number: self.compile(number) for number in range(len(live.configs))}

    def compile(self, number):
        program = cl.Program(self.context, self.live.source).build(self.live.options + [f"-DCONFIG={number}"])
        kernel = cl.Kernel(program, "gemm")
        kernel.set_args(*self.buffers, ALPHA, BETA)
        for buffer, data in zip(self.buffers, (self.live.a, self.live.b, self.live.c)):
            cl.enqueue_copy(self.queue, buffer, data)
        # The first launch compiles once more.
        self.launch(number, kernel)
        result = numpy.empty_like(self.live.c)
        cl.enqueue_copy(self.queue, result, self.buffers[2])
        if not numpy.allclose(result, self.live.expected, atol=1e-2):
            raise SystemExit(f"configuration {number} computes something else: {self.live.configs[number]}")
        return kernel

    def launch(self, number, kernel):
        """Milliseconds of one launch."""
        items, local = self.live.items(number), self.live.local(number)
        event = cl.enqueue_nd_range_kernel(self.queue, kernel, items, local)
        event.wait()
        return (event.profile.end - event.profile.start) / 1e6

    def medians(self, numbers, rounds):
        times = {number: [] for number in numbers}
        for turn in range(rounds):
            first = turn % len(numbers)
            for number in numbers[first:] + numbers[:first]:
                times[number].append(self.launch(number, self.kernels[number]))
        return {number: statistics.median(samples) for number, samples in times.items()}


def main():
    live = Live(sys.argv[1])
    judge = Judge(live)
    scouted = judge.medians(list(judge.kernels), SCOUTING)
    best = min(scouted, key=scouted.get)
    finalists = sorted({best, *map(int, sys.argv[2:])})
    print(json.dumps({"ms": judge.medians(finalists, ROUNDS), "best": best, "rounds": ROUNDS, "scouting": SCOUTING}))


if __name__ == "__main__":
    main()
