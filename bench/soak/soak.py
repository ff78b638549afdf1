#!/usr/bin/env python3
"""Lets Tunesmith tune for hours while one configuration in ten misbehaves, and watches what it uses.

    bench/soak/soak.py --tunesmith target/release/tunesmith [--hours 2] [--csv samples.csv]

One tuning run on PoCL goes on for the whole time. Its kernels compute, and one in ten writes behind a
buffer, loops without end, crashes, is wrong, or does not compile. Beside it, one after the other, C
problems run to their end; one in ten of their configurations forks, leaves threads and daemons, hangs,
or crashes. Every ten seconds the script samples the memory, processes and descriptors of the long run,
and counts the folders of runs.

It fails (exit code 1) if the median memory of the last quarter exceeds that of the second quarter by
more than 10 % plus what the journal's entries take (300 bytes each), if the tuner's descriptors or
processes grow, or if processes or folders are left at the end.
"""

import argparse
import csv
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

MARK = "TUNESMITH_SOAK"
ENTRY_BYTES = 300

OPENCL = r"""
kernel void soak(global const float *a, global float *c)
{
    const size_t i = get_global_id(0);
    float sum = a[i];
    for (int step = 0; step < STEPS; ++step)
        sum = sum * 0.5f + 1.0f / (float)(1 + SHIFT % 7);
    c[i] = 2 * a[i] + (sum > 1e30f ? sum : 0);
#if SHIFT % 10 == 3
    volatile int go = 1;
    if (SHIFT % 50 == 3) while (go) ;
    if (SHIFT % 50 == 13) ((global volatile float *)c)[N] = 1;
    if (SHIFT % 50 == 23) *(volatile global int *)8 = 1;
    if (SHIFT % 50 == 33) c[i] += 1;
#if SHIFT % 50 == 43
    this does not compile
#endif
#endif
}
"""

C = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static int launches;
static void *idle(void *at) { for (;;) pause(); return at; }
void soak(const float *a, float *c)
{
    const int first = launches++ == 0;
    pthread_t thread;
    for (int i = 0; i < N; ++i) c[i] = 2 * a[i];
    if (!first) return;
    switch (SHIFT % 100) {
    case 3: if (fork() == 0) { setsid(); if (fork() == 0) sleep(3600); _exit(0); } break;
    case 13: pthread_create(&thread, NULL, idle, NULL); break;
    case 23: for (;;) pause();
    case 33: *(volatile int *)8 = 1; break;
    case 43: for (int at = 3; at < 256; ++at) close(at); break;
    case 53: c[N / 2] += 1; break;
    case 63: memset(malloc(64 << 20), 1, 64 << 20); break;
    case 73: if (fork() == 0) return; break;
    case 83: for (int at = 0; at < 20; ++at) if (fork() == 0) { sleep(3600); _exit(0); } break;
    case 93: ((volatile float *)c)[N] = 1; break;
    }
}
"""

REFERENCE = "void twice(const float *a, float *c) { for (int i = 0; i < N; ++i) c[i] = 2 * a[i]; }\n"


def problem(file, more, shifts, steps, stop):
    return f"""
[problem]
sizes = {{ N = 4096 }}

[kernel]
file = "{file}"
function = "soak"
{more}

[parameters]
SHIFT = {{ range = "0..={shifts}" }}
STEPS = {{ range = "1..={steps}" }}

[[arguments]]
name = "a"
type = "f32"
shape = ["N"]

[[arguments]]
name = "c"
type = "f32"
shape = ["N"]
access = "out"

[verify]
reference = {{ file = "twice.c", function = "twice" }}

[measure]
first_limit = 2.0
launch_limit = 1.0
time_cap = 0.05

[tuning]
strategy = "random"
stop = "{stop}"
"""


def children(tree, root):
    """Returns the processes below `root`, with it."""
    found, new = {root}, {root}
    while new:
        new = {child for child, parent in tree.items() if parent in new} - found
        found |= new
    return found


def parents():
    tree = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                stat = pathlib.Path(entry.path, "stat").read_text()
                tree[int(entry.name)] = int(stat.rsplit(")", 1)[1].split()[1])
            except OSError:
                pass
    return tree


def rss(process):
    try:
        return int(pathlib.Path(f"/proc/{process}/statm").read_text().split()[1]) * 4096
    except OSError:
        return 0


def descriptors(process):
    try:
        return len(os.listdir(f"/proc/{process}/fd"))
    except OSError:
        return 0


def folders(parent):
    return sum(entry.name.startswith("tunesmith-") for entry in os.scandir(parent))


def marked(mark):
    """Returns the processes whose environment holds the mark."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if f"{MARK}={mark}".encode() in pathlib.Path(entry.path, "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


def start(arguments, folder, name, out, environment):
    command = [arguments.tunesmith, "tune", name, "--quiet", "--json", "--out", out]
    log = open(folder / f"{name}.log", "ab")
    return subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def sample(run, folder, start_time, short_runs, temporary):
    below = children(parents(), run.pid) - {run.pid}
    journal = folder / "long.jsonl"
    entries = journal.read_bytes().count(b"\n") if journal.exists() else 0
    return dict(seconds=round(time.monotonic() - start_time), tuner_rss=rss(run.pid), worker_rss=sum(map(rss, below)),
                processes=len(below) + 1, tuner_descriptors=descriptors(run.pid), folders=folders(temporary),
                entries=entries, short_runs=short_runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tunesmith", required=True, type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--csv", default="soak.csv")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        folder = pathlib.Path(name)
        temporary = folder / "scratch"
        temporary.mkdir()
        sys.exit(soak(arguments, folder, temporary))


def write(folder, seconds):
    work = 'global = ["N"]\nlocal = ["64"]'
    (folder / "soak.cl").write_text(OPENCL)
    (folder / "soak.c").write_text(C)
    (folder / "twice.c").write_text(REFERENCE)
    (folder / "long.toml").write_text(problem("soak.cl", work, 9999, 100, f"time {int(seconds)}s"))
    (folder / "short.toml").write_text(problem("soak.c", 'options = ["-w", "-pthread"]', 99, 4, "evaluations 60"))


def soak(arguments, folder, temporary):
    seconds = arguments.hours * 3600
    write(folder, seconds)
    mark = str(folder)
    environment = {**os.environ, MARK: mark, "TMPDIR": str(temporary)}
    start_time, samples, short_runs, codes = time.monotonic(), [], 0, set()
    long_run = start(arguments, folder, "long.toml", "long.jsonl", environment)
    short_run = None
    with open(arguments.csv, "w", newline="") as file:
        writer = None
        while long_run.poll() is None and time.monotonic() - start_time < seconds + 600:
            if short_run is None or short_run.poll() is not None:
                if short_run is not None:
                    codes.add(short_run.returncode)
                    (folder / "short.jsonl").unlink(missing_ok=True)
                short_runs += 1
                short_run = start(arguments, folder, "short.toml", "short.jsonl", environment)
            samples.append(sample(long_run, folder, start_time, short_runs, temporary))
            writer = writer or csv.DictWriter(file, samples[0])
            if len(samples) == 1:
                writer.writeheader()
            writer.writerow(samples[-1])
            file.flush()
            time.sleep(10)
    if short_run is not None:
        short_run.send_signal(signal.SIGINT)
        codes.add(short_run.wait(60))
    hung = long_run.poll() is None
    if hung:
        long_run.kill()
    code = long_run.wait()
    said = (folder / "long.toml.log").read_text(errors="replace")[-2000:]
    faults = judge(samples, hung, code, said, codes)
    time.sleep(5)
    left = marked(mark)
    faults += [f"processes are left: {left}"] if left else []
    faults += [f"folders are left in {temporary}"] if folders(temporary) else []
    report(samples, faults)
    return 1 if faults else 0


def judge(samples, hung, code, said, codes):
    faults = ["the long run did not end at its limit"] if hung else []
    faults += [] if code == 0 else [f"the long run ended with {code}: {said}"]
    faults += [f"short runs ended with {sorted(codes - {0, 130})}"] if codes - {0, 130} else []
    quarter = len(samples) // 4
    if quarter < 3:
        return faults + ["too few samples to judge by"]
    early, late = samples[quarter:2 * quarter], samples[-quarter:]
    median = lambda some, key: statistics.median(sample[key] for sample in some)
    grown = ENTRY_BYTES * (median(late, "entries") - median(early, "entries"))
    for key, allowed in [("tuner_rss", grown), ("worker_rss", 0), ("processes", 1), ("tuner_descriptors", 1), ("folders", 1)]:
        before, after = median(early, key), median(late, key)
        if after > 1.1 * before + allowed:
            faults.append(f"{key} grew from {before:.0f} to {after:.0f}")
    return faults


def report(samples, faults):
    keys = ["tuner_rss", "worker_rss", "processes", "tuner_descriptors", "folders"]
    parts = [samples[at * len(samples) // 4:(at + 1) * len(samples) // 4] for at in range(4)]
    print("| median of | " + " | ".join(f"quarter {at}" for at in range(1, 5)) + " |\n|---|" + "---:|" * 4)
    for key in keys:
        unit = 1 << 20 if key.endswith("rss") else 1
        values = [statistics.median(sample[key] for sample in part) / unit if part else 0 for part in parts]
        print(f"| {key}{' (MiB)' if unit > 1 else ''} | " + " | ".join(f"{value:.1f}" for value in values) + " |")
    if samples:
        last = samples[-1]
        print(f"\n{last['seconds']} s, {last['entries']} lines in the journal, {last['short_runs']} runs beside it")
    print("\n".join(faults) or "flat, and nothing is left")


if __name__ == "__main__":
    main()
