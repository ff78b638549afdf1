"""Builds one space with one peer and prints CPU seconds, MB and size as JSON.

    peer.py kernel_tuner|pyatf FILE [held]      (FILE is a T1 file)

MB is the growth of the peak resident memory. With `held` it is what the space keeps allocated; the
time then means nothing.
"""

import json
import re
import resource
import sys
import time
import tracemalloc


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def kernel_tuner(parameters, conditions):
    from kernel_tuner.searchspace import Searchspace

    # More threads than any space has: the published files name their limits themselves.
    return lambda: Searchspace(dict(parameters), conditions, 10**18)


def pyatf(parameters, conditions):
    from pyatf import TP, Set
    from pyatf.search_space import SearchSpace

    names = [name for name, _ in parameters]
    own = {name: [] for name in names}
    for condition in conditions:
        # A constraint belongs to the last of its parameters.
        used = [name for name in names if re.search(rf"\b{name}\b", condition)]
        own[used[-1]].append((used, condition))
    tps = []
    for name, values in parameters:
        used = [other for other in names if other != name and any(other in some for some, _ in own[name])]
        text = " and ".join(f"({condition})" for _, condition in own[name])
        constraint = eval(f"lambda {', '.join(used + [name])}: {text}") if text else None
        tps.append(TP(name, Set(*values), constraint))
    return lambda: SearchSpace(*tps, verbosity=0)


def main():
    peer, path, held = sys.argv[1], sys.argv[2], sys.argv[3:] == ["held"]
    space = json.load(open(path))["ConfigurationSpace"]
    parameters = [(p["Name"], eval(p["Values"])) for p in space["TuningParameters"]]
    conditions = [c["Expression"] for c in space["Conditions"]]
    build = {"kernel_tuner": kernel_tuner, "pyatf": pyatf}[peer](parameters, conditions)
    if held:
        tracemalloc.start()
    before, start = peak_mb(), time.process_time()
    space = build()
    size = space.size if peer == "kernel_tuner" else space.constrained_size
    seconds = time.process_time() - start
    mb = tracemalloc.get_traced_memory()[0] / 1e6 if held else peak_mb() - before
    print(json.dumps({"seconds": seconds, "mb": mb, "size": str(size)}))


main()
