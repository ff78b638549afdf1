"""Extends a journal to a number of evaluations: generate.py JOURNAL NUMBER.

The journal's space must have no constraints: a configuration's index is then its number in the order of the
parameters' values. Every twentieth configuration fails. Lines look like those of a kernel in C, with checksums.
"""

import json
import random
import sys
import zlib


def configuration(parameters, index):
    """Returns the configuration with the number `index`; the last parameter varies fastest."""
    config = {}
    for name, values in reversed(parameters):
        index, place = divmod(index, len(values))
        config[name] = values[place]
    return dict(reversed(config.items()))


def sealed(line):
    """Returns a line with its checksum."""
    text = json.dumps(line, separators=(",", ":"))
    return f'{text[:-1]},"sum":"{zlib.crc32(text.encode()):08x}"}}\n'


def evaluation(parameters, index, clock, rng):
    """Returns the line of an evaluation. Its time depends on three parameters and on noise."""
    config = configuration(parameters, index)
    line = {"index": str(index), "config": config}
    if rng.random() < 0.05:
        message = f"killed by SIGSEGV at {rng.randrange(16):#x}\nin thread {index}"
        return line | {"status": "runtime", "depth": "timed", "times_ms": [], "message": message, "clock": clock}
    base = 1 + sum(zlib.crc32(f"{name}{config[name]}".encode()) % 97 / 97 for name, _ in parameters[:3])
    times = [round(base * (1 + 0.01 * rng.random()), 6) for _ in range(7)]
    compiled = {"time_ms": round(50 + 20 * rng.random(), 6), "binary_bytes": 15128}
    measured = {"times_ms": times, "warmup_ms": round(2 * base, 6), "compile": compiled, "clock": clock}
    return line | {"status": "correct", "depth": "timed"} | measured


def main(path, number):
    with open(path, encoding="utf-8") as journal:
        lines = [json.loads(line) for line in journal]
    parameters = list(lines[0]["parameters"].items())
    known = {int(line["index"]) for line in lines[1:] if "index" in line}
    clock = max(line.get("clock", 0) for line in lines)
    size, rng = int(lines[0]["space_size"]), random.Random(1)
    indices = (index for index in rng.sample(range(size), number) if index not in known)
    with open(path, "a", encoding="utf-8") as journal:
        for _, index in zip(range(number - len(known)), indices):
            clock = round(clock + 0.01, 6)
            journal.write(sealed(evaluation(parameters, index, clock, rng)))


main(sys.argv[1], int(sys.argv[2]))
