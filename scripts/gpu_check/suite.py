"""Problems of the suite, tuned for a moment, beside the libraries that one would use instead."""

from .tool import repository

LIBRARIES = {"gemm": "cublas", "conv2d": "cudnn"}


def run(check):
    seconds = min(30, max(5, check.left() / 4))
    for name, library in LIBRARIES.items():
        beside(check, name, library, seconds)


def beside(check, name, library, seconds):
    title, expected = f"{name} beside {library}", "both are timed"
    options = ["--suite", repository() / "suite", "--device", "cuda", "--against", library]
    options += ["--stop", f"time {seconds:.0f}s", "--out", check.folder / f"suite-{name}"]
    # The exit code 1 says that nothing was correct, as the table does.
    table = check.tool.json("suite", "tune", name, *options, codes=(0, 1), timeout=seconds + 300)
    check.data[name] = table
    if table["failed"]:
        check.add(title, expected, table["failed"][0]["error"], False)
        return
    row = table["rows"][0]
    theirs, ours = row["against_ms"].get(library), row["tuned_ms"]
    if theirs and ours:
        check.add(title, expected, f"{ours:.4f} ms; {library} {theirs:.4f} ms, {theirs / ours:.0%} of it", True)
        return
    reason = "; ".join(row["notes"]) or "no reason was given"
    check.add(title, expected, reason, None if "cannot be opened" in reason else False)
