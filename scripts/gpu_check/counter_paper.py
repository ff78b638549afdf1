"""Tables 2 and 4 to 6 of the counter paper on this device, each figure beside the paper's.

The paper measures whole spaces. Coulomb sum is measured whole; of the others a uniform sample stands for the space,
as large as the time allows. Searches are then replayed a thousand times, as in the paper.
"""

from . import published
from .tool import Failed

AUTHORS, RANDOM = "profile_guided(variant=authors,reaction=0.5)", "random(replacement=true)"

# The problem of each benchmark, its sizes (the paper's, or such that a launch takes some milliseconds), the scripted
# device's, and its share of the part's time.
BENCHMARKS = {
    "Coulomb sum": ("suite/coulomb3d/coulomb3d.toml", {"N": 256, "ATOMS": 256}, {"N": 32, "ATOMS": 8}, 0.2),
    "Matrix trans.": ("suite/transpose/transpose.toml", {"W": 8192, "H": 8192}, {"W": 128, "H": 128}, 0.12),
    "GEMM": ("suite/gemm-reduced/gemm-reduced.toml", {"M": 2048, "N": 2048, "K": 2048},
             {"M": 128, "N": 128, "K": 128}, 0.18),
    "n-body": ("suite/nbody/nbody.toml", {"N": 16384}, {"N": 4096}, 0.12),
    "Convolution": ("suite/conv2d/conv2d.toml", {"X": 4096, "Y": 4096, "HFS": 3}, {"X": 128, "Y": 128, "HFS": 1}, 0.15),
}


def run(check):
    found = {}
    for name in check.each("benchmarks", BENCHMARKS, least=4 if not check.dry else 0):
        result = check.guarded(name, benchmark, check, name)
        if result:
            found[name] = result
    tables(check, found)
    if "Coulomb sum" in found:
        check.guarded("table 6", other_models, check, found["Coulomb sum"])


def benchmark(check, name):
    """Measures configurations with counters, and replays searches of them."""
    file, real, small, share = BENCHMARKS[name]
    problem, size = check.copy(file), check.count(real, small)
    stop = ["--stop", check.stop(check.budget * share, 16), "--strategy", "random", "--seed", 1, "--profile"]
    stem = name.lower().replace(" ", "-").replace(".", "")
    outcome, journal = check.tune(problem, stem, *stop, size=size)
    steps = replayed(check, journal, [RANDOM]) | replayed(check, journal, [AUTHORS, "profile_guided"], "exact")
    found = {"space": int(outcome["space_size"]), "measured": outcome["evaluations"], "journal": journal,
             "steps": steps}
    check.data[name] = {**found, "journal": journal.name}
    whole = found["measured"] >= found["space"]
    text = f"{found['measured']} of {found['space']} configurations"
    check.add(name, "measured with counters", text, True if whole else None)
    return found


def replayed(check, journal, strategies, model=None):
    """Returns the paper's step of each strategy: when the average best of the searches is within 1.1."""
    options = ["--repeats", check.count(1000, 5), "--budget", check.count(400, 10), "--without-failures"]
    options += [word for strategy in strategies for word in ("--strategy", strategy)]
    options += ["--model", model] if model else []
    results = check.call("compare", journal, *options)["results"]
    return {result["strategy"]: result["paper_metric"] for result in results}


def gain(steps, strategy):
    return f"{steps[RANDOM] / steps[strategy]:.2f}" if steps.get(RANDOM) and steps.get(strategy) else "not reached"


def tables(check, found):
    spaces, random, exact = [], [], []
    for name in published.BENCHMARKS:
        own = found.get(name)
        spaces.append([name, own["space"] if own else "not measured", own["measured"] if own else "",
                       published.SPACES.get(name, "")])
        random.append([name, (own["steps"].get(RANDOM) or "not reached") if own else "not measured",
                       *published.RANDOM_STEPS[name]])
        exact.append([name, gain(own["steps"], AUTHORS) if own else "not measured",
                      gain(own["steps"], "profile_guided") if own else "", *published.EXACT_GAIN[name]])
    check.table("Counter paper, table 2: configurations", ["", "here", "measured", "the paper"], spaces)
    check.table("Counter paper, table 4: the step of random search",
                ["", "here", *(f"the paper, {gpu}" for gpu in published.GPUS)], random)
    head = ["", "here, the authors' search", "here, Tunesmith's", *(f"the paper, {gpu}" for gpu in published.GPUS)]
    check.table("Counter paper, table 5: times fewer with exact counters", head, exact)


def other_models(check, coulomb):
    """Adds table 6 for Coulomb sum: tuned here, with models of the paper's GPUs, whose data a pack may carry."""
    folder, rows = check.options.recordings, []
    for gpu, theirs in published.COULOMB_MODELS.items():
        file = folder / f"paper-coulomb-{gpu}.csv.gz"
        if not file.exists():
            continue
        try:
            steps = {**coulomb["steps"], **replayed(check, coulomb["journal"], [AUTHORS, "profile_guided"], file)}
        except Failed as failed:
            check.add(f"model of the GTX or RTX {gpu}", "to guide", str(failed), False)
            continue
        rows.append([gpu, gain(steps, AUTHORS), gain(steps, "profile_guided"), f"{theirs:.2f}"])
    if not rows:
        check.add("models of the paper's GPUs", "paper-coulomb-*.csv.gz", f"none in {folder.name}/", None)
        return
    head = ["model of", "here, the authors' search", "here, Tunesmith's", "the paper, tuned on the RTX 2080"]
    check.table("Counter paper, table 6, Coulomb sum tuned here with models of the paper's GPUs", head, rows)
    check.add("models of the paper's GPUs", "to guide", f"{len(rows)} models", True)
