"""What a build says about a subject: its documents, in which times, dates, paths and versions are blanked."""

import json
import pathlib
import re
import subprocess

import variants

LIMIT_SECONDS = 60
STRATEGIES = ["default", "random", "genetic", "annealing", "bandit", "tabu", "swarm", "hill_climbing", "pattern",
              "boosted_trees", "iterated_local_search", "differential_evolution", "round_robin", "regression_tree"]
MOST_TEXT = 60_000  # characters of a file that has variants
MOST_EXPLAINED = 40_000  # bytes of a recording that is explained: large ones take seconds


class Build:
    """A binary with the folder that it works in."""

    def __init__(self, binary, folder, environment):
        self.binary, self.folder, self.environment = str(pathlib.Path(binary).resolve()), folder, environment

    def run(self, *arguments, within="."):
        """Returns what a command prints, with its exit code."""
        command = [self.binary, *arguments]
        try:
            ran = subprocess.run(command, cwd=self.folder / within, env=self.environment, stdin=subprocess.DEVNULL,
                                 capture_output=True, timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            return f"did not end in {LIMIT_SECONDS} s\n"
        out, error = (text.decode(errors="backslashreplace") for text in (ran.stdout, ran.stderr))
        return f"{out}--- stderr\n{error}--- exit code {ran.returncode}\n"


class Documents:
    """The documents of one build about one subject."""

    def __init__(self, build, within):
        self.build, self.within, self.texts, self.commands = build, within, {}, 0

    def tell(self, *arguments, name=None):
        """Keeps and returns what a command prints."""
        self.commands += 1
        text = self.build.run(*arguments, within=self.within)
        self.texts[name or " ".join(arguments)] = self.blanked(text)
        return text

    def keep(self, path):
        """Keeps a file that a command wrote, if it did."""
        if (self.build.folder / path).is_file():
            text = (self.build.folder / path).read_bytes().decode(errors="backslashreplace")
            self.texts[f"file {path}"] = self.blanked(text)

    def blanked(self, text):
        text = text.replace(str(self.build.folder), "FOLDER").replace(self.build.binary, "TUNESMITH")
        for pattern, blank in BLANKS:
            text = pattern.sub(blank, text)
        return text


BLANKS = [(re.compile(pattern), blank) for pattern, blank in [
    (r"built in [0-9.]+ \w+", "built in TIME"),
    (r"/home-(old|new)/tunesmith-\w+", "/HOME/tunesmith-NAME"),
    (r'("(?:build_seconds|wall_seconds|seconds_per_evaluation|clock|started|sum)": ?)("\w*"|[-+.0-9e]+)', r"\1TIME"),
    (r'("seconds": ?)\{[^{}]*\}', r"\1TIME"),
]]


def documents(build, subject, number, seed):
    """Returns the documents of a build about a subject and about `number` faulty variants of it."""
    path = pathlib.PurePosixPath(subject.path)
    told = Documents(build, path.parent)
    up = "/".join([".."] * len(path.parent.parts)) or "."
    out = f"out/{re.sub('[^A-Za-z0-9]+', '-', subject.path)}"
    TOLD[subject.kind](told, subject, path.name, f"{up}/", out)
    if len(subject.text) <= MOST_TEXT and not subject.path.startswith("shared/spaces"):
        tell_variants(told, subject, path, variants.variants(subject.path, subject.text, number, seed))
    return told


def tell_variants(told, subject, path, texts):
    for index, text in enumerate(texts):
        name = f"variant-{path.stem}{path.suffix}"
        file = told.build.folder / path.parent / name
        file.write_text(text)
        told.tell(*VARIED[subject.kind](name, subject), name=f"variant {index}")
        file.unlink()


def tell_problem(told, subject, name, up, out):
    problem = [name, *small(subject)]
    # The one compiles, the other does not.
    told.tell("check", *problem)
    told.tell("check", *problem, "--device", "synthetic:1", "--json")
    for query in ([], ["--json"], ["--index", "0"], ["--neighbours", "0"]):
        told.tell("space", *problem, "--device", "synthetic:1", *query)
    sampled = told.tell("space", *problem, "--device", "synthetic:1", "--sample", "3", "--seed", "5", "--json")
    told.tell("run", *problem, "--show-command")
    told.tell("run", *problem, "--show-source")
    number = sum(map(ord, subject.path))
    tell_tuning(told, problem, up, out, f"synthetic:{formula(sampled)}", STRATEGIES[number % len(STRATEGIES)])
    for index, recording in enumerate(recordings(told.build.folder / told.within, name)):
        tell_tuning(told, problem, up, f"{out}-{index}", f"replay:{recording}", STRATEGIES[index % len(STRATEGIES)])


def recordings(folder, name):
    """Returns the recordings beside a problem that it may have been recorded in, with and without noise."""
    if (beside := folder / name).with_suffix(".csv.gz").exists():
        recording = beside.with_suffix(".csv.gz").name
        return [recording, f"{recording}?noise", recording]
    if "bugs" not in folder.parts:
        return []
    return sorted(path.name for path in folder.iterdir() if path.suffix in (".csv", ".json"))


def formula(sampled):
    """Returns milliseconds as an expression over the whole numbers of a configuration that a space printed."""
    try:
        configuration = json.loads(sampled.split("--- stderr")[0])["configs"][0]["config"]
    except (ValueError, KeyError, IndexError):
        return "1"
    whole = [(name, value) for name, value in configuration.items() if type(value) is int and value >= 0]
    return " + ".join(["1", *(f"abs({name} - {value}) / {value + 1}" for name, value in whole[:8])])


def small(subject):
    """Returns the option that keeps the space of a problem small whose parameters run up to a size."""
    return ["--size", "N=1024"] if re.search(r"atf::var<int> N = ", subject.text) else []


def tell_tuning(told, problem, up, out, device, strategy):
    """Tells of a run on a device that is none, and of the journal."""
    journal = f"{up}{out}.jsonl"
    told.tell("tune", *problem, "--device", device, "--strategy", strategy, "--stop", "evaluations 20", "--seed", "7",
              "--json", "--quiet", "--out", journal)
    told.keep(f"{out}.jsonl")
    if not (told.build.folder / f"{out}.jsonl").exists():
        return
    # `watch` and `report` draw the times of a run, which differ.
    for command in (["top"], ["explain"], ["explain", "--json"]):
        told.tell(command[0], journal, *command[1:])
    told.tell("export", journal, "--as", "flags", "-o", "-")


def tell_nest(told, subject, name, up, _):
    told.tell("count", name, *sizes(subject))
    told.tell("count", name, *sizes(subject), "--json")
    told.tell("estimate", name, "--on", f"{up}device.json", *sizes(subject))
    told.tell("estimate", name, "--on", f"{up}device.json", *sizes(subject), "--json")


def sizes(subject):
    """Returns the option that gives the sizes of a nest."""
    named = re.search(r"^sizes (.*)$", subject.text, re.MULTILINE)
    names = re.findall(r"\w+", named[1]) if named else []
    return ["--size", ",".join(f"{name}={64 * (1 + index % 2)}" for index, name in enumerate(names))] if names else []


def tell_recording(told, _, name, up, out):
    for suffix in ("csv", "t4.json", "cache.json"):
        told.tell("convert", name, "-o", f"{up}{out}.{suffix}", "--json")
        told.keep(f"{out}.{suffix}")
    strategies = ["--strategy", "random", "--strategy", "genetic"]
    told.tell("compare", name, *strategies, "--repeats", "2", "--budget", "30", "--json")
    told.tell("top", name)
    if (told.build.folder / told.within / name).stat().st_size <= MOST_EXPLAINED:
        told.tell("explain", name)
        told.tell("explain", name, "--json")


TOLD = {"problem": tell_problem, "nest": tell_nest, "recording": tell_recording}
VARIED = {
    "problem": lambda name, subject: ["check", name, *small(subject), "--device", "synthetic:1"],
    "nest": lambda name, subject: ["count", name, *sizes(subject)],
    "recording": lambda name, _: ["convert", name, "-o", "-", "--to", "csv", "--json"],
}
