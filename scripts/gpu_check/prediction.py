"""Predicts configurations for sizes that were not tuned, and measures what they cost beside a search of their own."""

from .tool import sizes

PROBLEM = "suite/gemm-any/gemm-any.toml"
# M, N, K
TRAINED = [(512, 512, 512), (2048, 2048, 2048), (4096, 64, 4096), (64, 4096, 4096), (1024, 1024, 64), (2048, 256, 2048)]
HELD_OUT = [(1024, 1024, 1024), (2048, 64, 2048)]
EVALUATIONS, CANDIDATES = 30, 5


def named(check, extents):
    """Returns extents as sizes. Those of the scripted device are small."""
    return {name: max(extent // check.count(1, 16), 16) for name, extent in zip("MNK", extents)}


def run(check):
    problem = check.copy(PROBLEM)
    stop = ["--stop", f"evaluations {check.count(EVALUATIONS, 4)}"]
    journals = []
    for number, extents in enumerate(check.each("sizes to train on", TRAINED, least=check.budget * 0.3)):
        _, journal = check.tune(problem, f"trained-{number}", *stop, "--seed", 1, size=named(check, extents))
        journals.append(journal)
    model = check.folder / "timing.model.json"
    fit = check.call("train", "timing", *journals, "-o", model)
    check.data["training"] = {"held_out": fit["held_out"], "rows": fit["rows"]}
    check.keep(model)
    rows = []
    for extents in check.each("sizes to predict", HELD_OUT):
        check.guarded(str(extents), predicted, check, problem, model, named(check, extents), rows)
    check.table("Predicted for sizes that were not trained on",
                ["M, N, K", "first candidate, ms", f"best of {CANDIDATES}, ms",
                 f"tuned in {EVALUATIONS} evaluations, ms", "first of the tuned speed", f"best of {CANDIDATES}"], rows)


def predicted(check, problem, model, size, rows):
    answer = check.call("predict", model, "--input", sizes(size), "--problem", problem, "-n", CANDIDATES)
    candidates = [candidate["config"] for candidate in answer.get("candidates") or [answer]]
    measured = []
    for config in candidates[:check.count(CANDIDATES, 2)]:
        options = ["--device", "cuda", "--size", sizes(size), "--config", sizes(config)]
        ran = check.call("run", problem, *options, codes=(0, 1))
        measured.append(ran["time_ms"] if ran["status"] == "correct" else None)
    stop = ["--stop", f"evaluations {check.count(EVALUATIONS, 4)}"]
    outcome, _ = check.tune(problem, "own-" + "-".join(map(str, size.values())), *stop, "--seed", 2, size=size)
    own, correct = outcome["best"], [time for time in measured if time]
    name = f"M, N, K = {', '.join(map(str, size.values()))}"
    if not own or not correct:
        check.add(name, "both are timed", "nothing was correct", False)
        return
    tuned, best = own["time_ms"], min(correct)
    check.data[name] = {"predicted_ms": measured, "tuned_ms": tuned}
    first = f"{measured[0]:.4f}" if measured[0] else "failed"
    share = f"{tuned / measured[0]:.0%}" if measured[0] else ""
    extents = ", ".join(map(str, size.values()))
    rows.append([extents, first, f"{best:.4f}", f"{tuned:.4f}", share, f"{tuned / best:.0%}"])
    check.add(name, "80 % of the tuned speed", f"{tuned / best:.0%} with {len(measured)} runs", tuned / best >= 0.8)
