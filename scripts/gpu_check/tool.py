"""Calls Tunesmith."""

import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys

# Exit codes of Tunesmith (see its interface): a device or the disk failed; the run was interrupted.
DEVICE_FAILED, INTERRUPTED = 3, 130

# Seconds that an interrupted command gets to write what it has.
FAREWELL = 15
# Characters of what a failing command said that are kept, from the end.
SAID = 8_000


class Failed(Exception):
    """Something could not be done. The text is for the user."""

    def __init__(self, text, code=None):
        super().__init__(text)
        self.code = code


class Ended(BaseException):
    """The call ends now: its time is over, or somebody stopped it. The text says which."""


class Overrun(Failed):
    """A command was stopped because its time was over."""


def repository():
    """Returns the folder of the repository, or of a pack of it."""
    return pathlib.Path(__file__).resolve().parents[2]


def build():
    """Returns the commit of the program: what a pack notes, else that of the repository. Empty if it is not known."""
    note = repository() / "BUILD"
    if note.is_file():
        return note.read_text().strip()
    command = ["git", "-C", str(repository()), "describe", "--always", "--dirty", "--exclude", "*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=5).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


# Commands that run the user's code, and may do so without the sandbox.
SANDBOXED = [("tune",), ("run",), ("suite", "verify"), ("suite", "tune")]


def use_libraries():
    """Lets commands find NVIDIA's libraries: those of a pack, and those of Python packages."""
    packed = repository() / "nvidia"
    if packed.is_dir():
        os.environ.setdefault("TUNESMITH_NVIDIA", str(packed))
    found = {str(folder) for entry in sys.path for folder in pathlib.Path(entry).glob("nvidia/*/lib")}
    named = [os.environ.get("LD_LIBRARY_PATH", ""), *sorted(found)]
    if found:
        os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, named))


class Tool:
    """Tunesmith's binary."""

    def __init__(self, binary=None, sandbox=True):
        self.sandbox = sandbox
        # What failing commands were, and what they said.
        self.failures = []
        beside = [repository() / name for name in ("tunesmith", "target/release/tunesmith")]
        found = [str(path) for path in beside if path.is_file()] + [shutil.which("tunesmith")]
        self.binary = binary or next((path for path in found if path), None)
        if not self.binary or not (shutil.which(self.binary) or os.path.isfile(self.binary)):
            text = "there is no program; build it (cargo build --release) or name it with --binary"
            raise SystemExit(f"gpu-check: {text}")

    def version(self):
        return subprocess.run([self.binary, "--version"], capture_output=True, text=True).stdout.strip()

    def json(self, *arguments, codes=(0,), timeout=300, environment=None):
        """Returns the JSON that a command prints.

        A command that takes longer than `timeout` seconds is interrupted, as by Ctrl-C. What it prints then counts,
        if `codes` has INTERRUPTED.
        """
        runs_code = any(tuple(arguments[:len(words)]) == words for words in SANDBOXED)
        more = ["--no-sandbox"] if runs_code and not self.sandbox else []
        command = [self.binary, *map(str, arguments), *more, "--json"]
        ran = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **(environment or {})},
        )
        try:
            out, said = ran.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            out, said = interrupted(ran)
            if ran.returncode not in codes or not out.strip():
                self.keep_failure(command, f"stopped after {timeout:.0f} s", said)
                raise Overrun(f"`{shown(command)}` was stopped after {timeout:.0f} s")
        except Ended:
            interrupted(ran, 2)
            raise
        if ran.returncode not in codes:
            self.keep_failure(command, f"ended with {ran.returncode}", said)
            raise Failed(f"`{shown(command)}` ended with {ran.returncode}: {message(said)}", ran.returncode)
        return json.loads(out)

    def keep_failure(self, command, end, said):
        self.failures.append(f"$ {shlex.join(map(str, command))}\n{end}\n{said[-SAID:].rstrip()}\n")


def message(said):
    """Returns the error that a command printed, which may have several lines."""
    lines = [line.strip() for line in said.strip().splitlines()]
    first = next((at for at, line in enumerate(lines) if line.startswith("error")), max(len(lines) - 1, 0))
    return " ".join(lines[first:])[:400] or "nothing was said"


def interrupted(process, seconds=FAREWELL):
    """Interrupts a process and returns what it printed. Kills it if it does not end within the seconds."""
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        try:
            return process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:  # it hangs in the driver
            return "", ""


def shown(command):
    """Returns a command as a short text, without the folders of its files."""
    words = [pathlib.Path(word).name if "/" in word and " " not in word else word for word in command]
    return " ".join(words)


def sizes(values):
    """Returns sizes or a configuration as options take them. Booleans are written as in problem files."""
    written = {name: str(value).lower() if isinstance(value, bool) else value for name, value in values.items()}
    return ",".join(f"{name}={value}" for name, value in written.items())


def times(journal):
    """Returns the median time of every evaluation of a journal, in the order made; None where it failed."""
    found = []
    for line in pathlib.Path(journal).read_text().splitlines()[1:]:
        entry = json.loads(line)
        if "status" not in entry or "again" in entry:
            continue
        samples = sorted(entry.get("times_ms") or [])
        correct = entry["status"] == "correct" and samples
        found.append(samples[len(samples) // 2] if correct else None)
    return found
