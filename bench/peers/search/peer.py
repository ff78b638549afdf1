"""Runs searches of one recording by one strategy of one tool.

    peer.py CACHE TOOL:STRATEGY BUDGET SEED...

Every search is a process of its own that begins with a fresh search space and fresh caches. It is
forked from this one, which has only imported the tool and read the recording. Prints a JSON document
a line and search: the time of every distinct evaluation in the order made (null for a failure), its
simulated seconds, the number of all configurations asked, and the CPU seconds of the search. A
search that fails gives its message as `error`.
"""

import contextlib
import importlib
import io
import json
import os
import resource
import sys
import time
import warnings

from recording import Recording

TOOLS = {
    "kernel_tuner": "kernel_tuner_peer",
    "optuna": "optuna_peer",
    "smac": "smac_peer",
    "tunesmith": "tunesmith_peer",
}


def cpu_seconds():
    """Of this process and of the children that it waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


def search(peer, recording, strategy, seed, budget):
    silent = io.StringIO()
    started = cpu_seconds()
    try:
        with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent):
            order, asked = peer.search(recording, strategy, seed, budget)
    except Exception as error:  # a peer may raise anything, and the table reports it
        return {"seed": seed, "error": f"{type(error).__name__}: {error}"}
    used = cpu_seconds() - started
    times, costs = ([measure(key) for key in order[:budget]] for measure in (recording.time, recording.cost))
    return {"seed": seed, "times": times, "costs": costs, "asked": asked, "cpu": used}


def main():
    path, (tool, _, strategy), budget = sys.argv[1], sys.argv[2].partition(":"), int(sys.argv[3])
    warnings.simplefilter("ignore")
    recording = Recording(path)
    peer = importlib.import_module(TOOLS[tool])
    for seed in map(int, sys.argv[4:]):
        child = os.fork()
        if child == 0:
            print(json.dumps(search(peer, recording, strategy, seed, budget)), flush=True)
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
