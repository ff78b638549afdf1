"""The files that both builds read: copied or written into a folder, each with its kind."""

import dataclasses
import gzip
import json
import pathlib
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What a problem file has at the beginning of a line.
HEADS = re.compile(r"^\[(problem|kernel|command|parameters|inputs|\[alternative\])\]|#atf::tp", re.MULTILINE)
# The tokens of Rust in which quotes may stand.
TOKENS = re.compile(
    r"//[^\n]*|'(?:\\.|[^'\\])'|\br(?P<hashes>#*)\"(?P<raw>.*?)\"(?P=hashes)|\"(?P<text>(?:[^\"\\]|\\.)*)\"", re.DOTALL)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
DATA = ("examples", "suite", "bench/choosers", "bench/guide", "bench/store", "bench/costmodel", "bench/fuzz/seeds",
        "crates/loopnest/src/kernels")
SHARED_DATA = ("formats", "bugs", "spaces", "recordings", "recordings-large")


@dataclasses.dataclass(frozen=True)
class Subject:
    """A file that both builds read."""
    path: str  # relative to the folder
    kind: str  # problem, recording or nest
    text: str  # empty for a compressed file


def gather(folder, shared):
    """Fills `folder`, and returns its subjects in the order of their paths."""
    for name in DATA:
        shutil.copytree(ROOT / name, folder / name, symlinks=True)
    for name in SHARED_DATA:
        if shared is not None and (shared / name).is_dir():
            shutil.copytree(shared / name, folder / "shared" / name, symlinks=True)
    write_texts(folder / "texts")
    write_replays(folder / "shared")
    shutil.copy(ROOT / "bench/results/gpu-h200-2026-11-26/journals/calibration-device.json.gz", folder)
    (folder / "device.json").write_bytes(gzip.decompress((folder / "calibration-device.json.gz").read_bytes()))
    (folder / "out").mkdir()
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    subjects = (subject(folder, path) for path in files)
    return [known for known in subjects if known is not None]


def subject(folder, path):
    """Returns the subject of a file, or None if no command reads files such as it."""
    name = path.relative_to(folder).as_posix()
    if path.name.endswith((".csv.gz", ".json.gz", ".csv")):
        return Subject(name, "recording", "") if name.startswith("shared/") or path.suffix == ".csv" else None
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        return None
    kind = kind_of(path, text)
    return Subject(name, kind, text) if kind is not None else None


def kind_of(path, text):
    """Returns what commands read a file with this name and this text."""
    if path.suffix == ".toml":
        return "problem" if HEADS.search(text) else None
    if path.suffix == ".nest":
        return "nest"
    if path.suffix == ".json":
        return kind_of_json(path, text)
    return "problem" if path.suffix != ".rs" and re.search(r"#\s*atf::tp", text) else None


def kind_of_json(path, text):
    """Returns what commands read a JSON file."""
    # Some of the spaces of ATF take a minute to build. The suite has problems with spaces of the same kind.
    if path.name.startswith("atf_") or path.name.endswith("meta.json") or path.with_suffix(".csv.gz").exists():
        return None
    if '"ConfigurationSpace"' in text:
        return "problem"
    return "recording" if path.name != "device.json" else None


def write_texts(folder):
    """Writes each problem that a test has as a string, in a folder of its own with the sources that it names."""
    sources = sorted(path for path in ROOT.glob("crates/*/tests/**/*.rs"))
    sources += sorted(ROOT.glob("crates/*/src/**/tests*.rs"))
    written = set()
    for source in sources:
        texts = list(literals(source.read_text()))
        for text in (text for text in texts if HEADS.search(text) and text not in written):
            written.add(text)
            write_problem(folder / f"{len(written):03}", text, texts)


def literals(text):
    """Yields the strings of a Rust source."""
    for token in TOKENS.finditer(text):
        if token["raw"] is not None:
            yield token["raw"]
        elif token["text"] is not None:
            joined = re.sub(r"\\\n\s*", "", token["text"])
            yield re.sub(r"\\(.)", lambda escape: ESCAPES.get(escape[1], escape[1]), joined)


def write_problem(folder, text, texts):
    """Writes a problem, and under each name of a file in it the string of the same test that defines its function."""
    folder.mkdir(parents=True)
    directives = not re.search(r"^\[", text, re.MULTILINE)
    (folder / ("p.cl" if directives else "p.toml")).write_text(text)
    functions = re.findall(r"function\s*=?\s*\"(\w+)\"", text)
    defining = [code for code in texts if any(re.search(rf"\b{name}\s*\(", code) for name in functions)]
    code = "\n".join(defining[:1]) or "".join(f"void {name}(void) {{}}\n" for name in functions)
    for name in set(re.findall(r"file\s*=?\s*\"([\w.-]+)\"", text)):
        (folder / name).write_text(code)


def write_replays(shared):
    """Writes for each recording with a description beside it the problem that it was recorded of."""
    for path in sorted(shared.glob("recordings*/*.json")):
        described = json.loads(path.read_text())
        lines = ["[problem]", f"name = {json.dumps(described['kernel'])}", "[parameters]"]
        lines += [f"{name} = {json.dumps(values)}" for name, values in described["params"].items()]
        path.with_suffix(".toml").write_text("\n".join(lines) + "\n")
