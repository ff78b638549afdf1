"""Writes the benchmark for autotuning_methodology from recordings of the benchmark hub.

    python prepare.py TUNESMITH SHARED FOLDER REPEATS SEARCH_METHOD_FILE

Its definitions of problems (T1) are in SHARED/formats, its measured spaces in SHARED/recordings. Kernel
Tuner simulates a space from its own kind of cache, and the methodology reads T4: `tunesmith convert`
writes both. The kernels themselves are not needed.
"""

import json
import pathlib
import subprocess
import sys

APPLICATIONS = ["dedispersion_milo", "convolution_milo"]
GPUS = ["A100", "A4000", "W6600"]
# Kernel Tuner's classical strategies, and its two best by the authors' own comparison.
STRATEGIES = ["random_sample", "genetic_algorithm", "pso", "simulated_annealing", "hybrid_vndx", "adaptive_tabu_greywolf"]


def convert(tunesmith, recording, out, kind):
    out.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([tunesmith, "convert", str(recording), "--out", str(out), "--to", kind, "--json"], check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip


def rename(path):
    """Names times as the methodology and Kernel Tuner do, not as the schema of T4."""
    document = json.loads(path.read_text())
    for result in document["results"]:
        times = result["times"]
        times["compilation"] = times.pop("compilation_time", 0)
        times.setdefault("search_algorithm", 0)
        times.setdefault("framework", 0)
        times.setdefault("validation", 0)
    path.write_text(json.dumps(document))


def main():
    tunesmith, shared, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve()
    kernels = folder / "kernels"
    kernels.mkdir(parents=True, exist_ok=True)
    for application in APPLICATIONS:
        problem = json.loads((shared / f"formats/t1-{application}.json").read_text())
        kernel = kernels / problem["KernelSpecification"]["KernelFile"]
        kernel.parent.mkdir(parents=True, exist_ok=True)
        kernel.write_text("// The times are recorded.\n")
        (kernels / f"{application}.json").write_text(json.dumps(problem))
        for gpu in GPUS:
            recording = shared / f"recordings/{application}-{gpu}-hub.csv.gz"
            convert(tunesmith, recording, folder / f"cachefiles/{application}/{gpu}_T4.json", "t4")
            rename(folder / f"cachefiles/{application}/{gpu}_T4.json")
            cache = folder / f"cachefiles/{application}/{gpu}.json"
            convert(tunesmith, recording, cache, "kernel-tuner")
            # Kernel Tuner takes only caches of the function that it is asked to tune.
            function = problem["KernelSpecification"]["KernelName"]
            cache.write_text(json.dumps({**json.loads(cache.read_text()), "kernel_name": function}))
    ours = {
        "name": "tunesmith",
        "search_method": "TunesmithSearch",
        "display_name": "Tunesmith",
        "autotuner": "KernelTuner",
        "custom_search_method_path": sys.argv[5],
    }
    theirs = [
        {"name": name, "search_method": name, "display_name": name, "autotuner": "KernelTuner"} for name in STRATEGIES
    ]
    experiment = {
        "version": "1.2.0",
        "name": "tunesmith",
        "parent_folder": str(folder / "experiment"),
        "experimental_groups_defaults": {
            "applications": [
                {
                    "name": name,
                    "folder": str(kernels),
                    "input_file": f"{name}.json",
                    "objective_performance_keys": ["time"],
                }
                for name in APPLICATIONS
            ],
            "gpus": GPUS,
            "pattern_for_full_search_space_filenames": {
                "regex": str(folder / "cachefiles/${applications}/${gpus}_T4.json")
            },
            "stochastic": True,
            "repeats": int(sys.argv[4]),
            "samples": 32,
            "minimum_fraction_of_budget_valid": 0.1,
            "minimum_number_of_valid_search_iterations": 10,
            "ignore_cache": False,
        },
        "search_strategies": [*theirs, ours],
        "statistics_settings": {
            "cutoff_percentile": 0.95,
            "cutoff_percentile_start": 0.01,
            "cutoff_type": "time",
            "objective_time_keys": ["all"],
        },
        "visualization_settings": {
            "plots": [{"scope": "aggregate", "style": "line"}],
            "resolution": 1000.0,
            "confidence_level": 0.95,
            "compare_baselines": False,
            "compare_split_times": False,
        },
    }
    (folder / "experiment.json").write_text(json.dumps(experiment, indent=4))


if __name__ == "__main__":
    main()
