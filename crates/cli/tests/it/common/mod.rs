//! Shared parts of the tests of the command line.

#![allow(dead_code, unreachable_pub, clippy::print_stderr)] // every test file uses its own part

pub mod cuda;
pub mod served;
pub mod terminal;

use serde_json::Value as Json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with a problem in it.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Creates a folder with `files`, given by names and contents.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        files.iter().for_each(|(name, text)| folder.write(name, text));
        folder
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs the binary in this folder.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tunesmith"));
        command.args(arguments).current_dir(self.0.path()).env("NO_COLOR", "1");
        command
    }
}

/// The ending of a command.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Returns the one JSON document on standard output.
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// Checks that the request was refused with all of `parts` in the message.
    #[track_caller]
    pub fn refused(&self, parts: &[&str]) {
        assert_eq!(self.code, Some(2), "{self:#?}");
        // Rendered messages wrap at the width of a terminal.
        let flat = self.stderr.replace(['│', '\n'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
        for part in parts {
            assert!(flat.contains(part), "`{part}` is missing in {flat}");
        }
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
    }
}

/// Returns a command that runs `inner` by another program.
pub fn within(program: &str, options: &[&str], inner: &Command) -> Command {
    let mut command = Command::new(program);
    command.args(options).arg(inner.get_program()).args(inner.get_args());
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(inner.get_current_dir().unwrap());
    command
}

/// The arguments of a kernel that reads `a` and writes `b`.
macro_rules! in_and_out {
    () => {
        r#"[[arguments]]
name = "a"
type = "f32"
shape = ["N"]

[[arguments]]
name = "b"
type = "f32"
shape = ["N"]
access = "out"
"#
    };
}
pub(crate) use in_and_out;

/// A CUDA kernel that copies `a` to `b`.
pub const COPY_KERNEL: &str =
    "extern \"C\" __global__ void copy(const float *a, float *b) { b[threadIdx.x] = a[threadIdx.x]; }\n";
/// The reference of [`COPY_KERNEL`].
pub const COPY_REFERENCE: &str =
    "void reference(const float *a, float *b) { for (int i = 0; i < N; i++) b[i] = a[i]; }\n";

/// The reference of [`twice_problem`].
pub const TWICE: &str = "void twice(const float *a, float *b) { for (int i = 0; i < N; ++i) b[i] = 2 * a[i]; }\n";

/// Returns a problem whose kernel writes twice the buffer `a` to `b`. `kernel` is the contents of
/// `[kernel]`, `parameters` that of `[parameters]`. The file `reference.c` holds [`TWICE`]. Limits
/// are short, since many kernels use them up.
pub fn twice_problem(kernel: &str, parameters: &str) -> String {
    format!(
        r#"
[problem]
sizes = {{ N = 1000 }}

[kernel]
{kernel}

[parameters]
{parameters}

{}
[verify]
reference = {{ file = "reference.c", function = "twice" }}

[tuning]
strategy = "random"
stop = "evaluations 1000"

[measure]
first_limit = 2.0
launch_limit = 1.5
limit_factor = 5
time_cap = 0.02
"#,
        in_and_out!()
    )
}

/// Returns the folder of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the folder of shared test data. Without one, prints the reason and returns `None`.
#[allow(clippy::disallowed_methods)] // the environment names the test data
pub fn shared() -> Option<PathBuf> {
    let named = std::env::var_os("TUNESMITH_SHARED").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| repository().join("../shared"));
    if folder.join("spaces").is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no test data in {}; set TUNESMITH_SHARED", folder.display());
    None
}

/// Returns a copy of the folder `name` of reported inputs. Without one, prints the reason and returns `None`.
pub fn reported(name: &str) -> Option<Folder> {
    let source = shared()?.join("bugs").join(name);
    if !source.is_dir() {
        eprintln!("skipped: no folder {}; set TUNESMITH_SHARED to test data that has it", source.display());
        return None;
    }
    let folder = Folder::new();
    for entry in fs::read_dir(&source).unwrap().map(Result::unwrap) {
        // A copy would be as read-only as the data.
        fs::write(folder.path(entry.file_name().to_str().unwrap()), fs::read(entry.path()).unwrap()).unwrap();
    }
    Some(folder)
}

/// Returns a journal's evaluations, as far as their lines are complete.
pub fn entries(path: &Path) -> Vec<Json> {
    lines(path).into_iter().filter(|line| line.get("again").is_none() && line.get("winner").is_none()).collect()
}

/// Returns a journal's later measurements.
pub fn again(path: &Path) -> Vec<Json> {
    lines(path).into_iter().filter(|line| line.get("again").is_some()).collect()
}

fn lines(path: &Path) -> Vec<Json> {
    let text = fs::read_to_string(path).unwrap();
    let complete = text.rfind('\n').map_or("", |end| &text[..end]);
    complete.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns true if there is an OpenCL device. Without one, prints that the test is skipped, or
/// fails if `CI` is set, since it has one.
#[allow(clippy::disallowed_methods)] // the environment tells whether this is CI
pub fn has_opencl() -> bool {
    let devices = Folder::new().run(&["devices", "--json"]).json();
    let has = devices["devices"].as_array().unwrap().iter().any(|device| device["backend"] == "opencl");
    assert!(has || std::env::var_os("CI").is_none(), "CI has an OpenCL device: {devices:#}");
    if !has {
        eprintln!("skipped: no OpenCL device; install PoCL");
    }
    has
}
