"""Prints the tables and draws the figures of bench/peers/spaces/run."""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile

import figures

HERE = os.path.dirname(os.path.abspath(__file__))
BINARY, SHARED, LIMIT, FOLDER = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]
MEMORY = 6 << 30

NAMES = """hub_dedispersion hub_convolution hub_gemm hub_hotspot ktp_dedispersion ktp_expdist ktp_microhh ktp_hotspot ktp_gemm
ktp_prl_2x2 ktp_prl_4x4 ktp_prl_8x8 cltune_conv cltune_gemm atf_prl_1024 atf_gemm_10x500x64 atf_conv_4092 atf_ccsdt
atf_prl_1024_devlimit atf_gemm_10x500x64_devlimit atf_conv_4092_devlimit atf_ccsdt_devlimit synth_prod_12 synth_tile_4d
synth_chain_32""".split()


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def peer(name, path, *more, seconds=LIMIT):
    """What a peer says of a space, or why it says nothing."""
    command = [sys.executable, os.path.join(HERE, "peer.py"), name, path, *more]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=seconds, preexec_fn=limits)
    except subprocess.TimeoutExpired:
        return f"> {seconds:.0f} s"
    if ran.returncode == 0:
        return json.loads(ran.stdout.splitlines()[-1])
    return "memory" if "MemoryError" in ran.stderr or ran.returncode < 0 else "fails"


def peak_of(path):
    """The facts of `space --json`, and the peak resident memory of the process in MB."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([BINARY, "space", path, "--json"], stdout=out, stderr=subprocess.DEVNULL)
        usage = os.wait4(process.pid, 0)[2]
        out.seek(0)
        return json.load(out), usage.ru_maxrss / 1024


def problem(folder, name, parameters, conditions):
    """A T1 file."""
    path = os.path.join(folder, f"{name}.json")
    tuning = [{"Name": name, "Values": values} for name, values in parameters]
    space = {"TuningParameters": tuning, "Conditions": [{"Expression": text} for text in conditions]}
    with open(path, "w") as file:
        json.dump({"General": {"BenchmarkName": name}, "ConfigurationSpace": space}, file)
    return path


def ours(path, nothing):
    facts, peak = peak_of(path)
    return {"seconds": facts["build_seconds"], "mb": max(peak - nothing, 0.0), "size": facts["size"], "bytes": facts["bytes"]}


def cell(result):
    return result if isinstance(result, str) else f"{result['seconds'] * 1e3:,.1f} / {result['mb']:.0f}"


def factor(theirs, mine):
    return "" if isinstance(theirs, str) else f"{theirs['seconds'] / mine['seconds']:,.0f}"


def table(nothing):
    print("CPU ms / peak MB above what the process takes for nothing; ours also the diagram in KiB. Best of five for ours.\n")
    print("| space | configurations | Kernel Tuner | pyATF | Tunesmith | KiB | times faster than KT | than pyATF |")
    print("|---|---|---|---|---|---|---|---|")
    for name in NAMES:
        path = os.path.join(SHARED, "spaces", f"{name}.json")
        mine, theirs, atf = ours(path, nothing), peer("kernel_tuner", path), peer("pyatf", path)
        for other in (theirs, atf):
            assert isinstance(other, str) or other["size"] == mine["size"], (name, other, mine)
        size = int(mine["size"])
        shown = f"{size:,}" if size < 10**12 else f"{size:.2e}"
        print(f"| {name} | {shown} | {cell(theirs)} | {cell(atf)} | {cell(mine)} | {mine['bytes'] / 1024:.0f} "
              f"| {factor(theirs, mine)} | {factor(atf, mine)} |", flush=True)


# ATF's applications: the published file of each, and the numbers in it that stand for the input size.
APPLICATIONS = {
    "CONV": ("atf_conv_4096", [4096]),
    "GEMM": ("atf_gemm_10x500x64", [10, 500, 64]),
    "CCSD(T)": ("atf_ccsdt", [24, 16]),
    "PRL": ("atf_prl_1024", [1024]),
}


def sized(folder, application, size):
    """The application's space for inputs of `size` in every dimension."""
    file, numbers = APPLICATIONS[application]
    space = json.load(open(os.path.join(SHARED, "spaces", f"{file}.json")))["ConfigurationSpace"]
    parameters = []
    for parameter in space["TuningParameters"]:
        values = eval(parameter["Values"])
        is_range = values == list(range(1, len(values) + 1)) and len(values) in numbers
        parameters.append((parameter["Name"], f"list(range(1, {size + 1}))" if is_range else parameter["Values"]))
    pattern = r"\b(" + "|".join(map(str, numbers)) + r")\b"
    conditions = [re.sub(pattern, str(size), c["Expression"]) for c in space["Conditions"]]
    return problem(folder, f"{file}_{size}", parameters, conditions)


def curves(folder, nothing):
    """For each application the points (size, result) of both tools; a peer's curve ends where it first gives up."""
    points = {}
    for application in APPLICATIONS:
        mine, atf, gave_up = [], [], False
        for exponent in range(1, 13):
            path = sized(folder, application, 2**exponent)
            result = ours(path, nothing)
            mine.append((2**exponent, result))
            if not gave_up:
                other = peer("pyatf", path)
                gave_up = isinstance(other, str)
                if not gave_up:
                    assert other["size"] == result["size"], (application, exponent)
                    held = peer("pyatf", path, "held", seconds=10 * LIMIT)
                    other["held"] = None if isinstance(held, str) else held["mb"]
                    atf.append((2**exponent, other))
        points[application] = {"Tunesmith": mine, "pyATF": atf}
        last = f"2^{len(atf)}" if atf else "none"
        print(f"| {application} | {mine[-1][1]['seconds'] * 1e3:.2f} ms, {int(mine[-1][1]['size']):.2e} configurations | {last} |", flush=True)
    return points


def main():
    with tempfile.TemporaryDirectory() as folder:
        nothing = peak_of(problem(folder, "nothing", [("A", "[1]")], []))[1]
        table(nothing)
        if FOLDER:
            print("\n| application | Tunesmith at 2^12 | largest input of pyATF within the limits |\n|---|---|---|")
            points = curves(folder, nothing)
            figures.draw(os.path.join(FOLDER, "figure3.svg"), points, "Generation time, ms", lambda r: r["seconds"] * 1e3)
            figures.draw(os.path.join(FOLDER, "figure4.svg"), points, "Memory that the space keeps, MB",
                         lambda r: r["bytes"] / 1e6 if "bytes" in r else r["held"])


if __name__ == "__main__":
    main()
