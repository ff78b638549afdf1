"""Prints a Markdown table of the counts of Tunesmith and Loopy side by side.

    table.py OURS      (the binary loopnest-bench)
"""

import json
import os
import subprocess
import sys

PEER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer.py")

# Kernels with their work-groups, and sizes that these divide: others Loopy counts arithmetic of idle work-items in.
CASES = [
    ("finite_differences", 16, 12, [1248]),
    ("matmul_skinny", 16, 12, [480, 3840, 480]),
    ("convolution", 16, 12, [480]),
    ("nbody", 256, 1, [3072]),
    ("matmul_naive", 16, 12, [480]),
    ("vector_stride1", 256, 1, [76800]),
    ("vector_stride2", 256, 1, [76800]),
    ("transpose_tiled", 16, 12, [1248]),
    ("copy", 256, 1, [76800]),
]


def answer(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    ours = sys.argv[1]
    print("| kernel | count, ms: ours | Loopy | times | evaluate, us: ours | Loopy | times | counts |")
    print("|---|---|---|---|---|---|---|---|")
    differ = []
    for name, x, y, sizes in CASES:
        own, peer = answer(ours, name, x, y, *sizes), answer(sys.executable, "-W", "ignore", PEER, name, x, y, *sizes)
        cells = [name]
        for key, unit in [("count", 1e3), ("evaluate", 1e6)]:
            cells += [f"{own[key] * unit:.2f}", f"{peer[key] * unit:.1f}", f"{peer[key] / own[key]:.0f}"]
        same = own["counts"] == peer["counts"]
        cells.append(f"{len(own['counts'])} equal" if same else "differ")
        print(f"| {' | '.join(cells)} |", flush=True)
        if not same:
            differ.append(f"{name}: ours {own['counts']}, Loopy {peer['counts']}")
    if differ:
        sys.exit("counts differ:\n" + "\n".join(differ))


main()
