//! Runs a page of the guide in a folder of its own.

use std::fs;
use std::path::Path;
use std::process::{Command as Process, Output};

use crate::guide::page::{Command, blocks, commands, file, script};
use crate::guide::printed::agrees;
use crate::guide::{empty_folder, repository};

/// The treatment of the commands of a `console` block.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Runs,
    Fails,
    OpenCl,
    Python,
    Absent,
    Elsewhere,
}

impl Mark {
    fn of(word: &str) -> Self {
        match word {
            "" => Self::Runs,
            "fails" => Self::Fails,
            "opencl" => Self::OpenCl,
            "python" => Self::Python,
            "gpu" | "mpi" => Self::Absent,
            "elsewhere" => Self::Elsewhere,
            _ => panic!("no mark of a console block is `{word}`"),
        }
    }
}

/// Writes the files of docs/guide/`name`, runs its commands, and fails with the places of those that
/// do not do what the page shows.
pub(crate) fn run_page(name: &str) {
    let text = fs::read_to_string(repository().join("docs/guide").join(name)).unwrap();
    let folder = empty_folder(name.trim_end_matches(".md"));
    let mut faults: Vec<String> = Vec::new();
    for block in blocks(&text) {
        let place = |line: usize| format!("docs/guide/{name}:{line}");
        if let Some(shown) = file(&block) {
            write(&folder.join(shown.name), shown.text, shown.continued);
        } else if block.language == "console" {
            let mark = Mark::of(&block.mark);
            let listed = commands(&block);
            for (command, is_last) in listed.iter().zip((1..=listed.len()).map(|number| number == listed.len())) {
                let followed = follow(command, mark, is_last, &folder);
                faults.extend(followed.err().map(|fault| format!("{}: {fault}", place(command.line))));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Reads the options of the commands of docs/`name`, a page of reference, and runs those that only
/// read files of the repository. Returns the places of those that do not do what the page shows.
pub(crate) fn read_page(name: &str) -> Vec<String> {
    let text = fs::read_to_string(repository().join("docs").join(name)).unwrap();
    let of_block = |block: &crate::guide::page::Block| match block.language.as_str() {
        "console" => commands(block),
        "sh" => script(block),
        _ => Vec::new(),
    };
    let listed: Vec<Command> = blocks(&text).iter().flat_map(of_block).collect();
    let followed = |command: &Command| {
        let mark = if only_reads(&command.text) { Mark::Runs } else { Mark::Elsewhere };
        let fault = follow(command, mark, true, &repository()).err()?;
        Some(format!("docs/{name}:{}: {fault}", command.line))
    };
    listed.iter().filter_map(followed).collect()
}

/// Returns true if a command is quick, writes nothing, and names a file that is there.
fn only_reads(command: &str) -> bool {
    let mut words = command.split_whitespace();
    if words.next() != Some("tunesmith") || command.contains(['|', '>', ';', '&']) {
        return false;
    }
    match (words.next(), words.next()) {
        (Some("suite"), Some("list")) => true,
        (Some("count" | "space" | "check"), Some(file)) => repository().join(file).is_file(),
        _ => false,
    }
}

fn write(path: &Path, text: &str, continued: bool) {
    fs::create_dir_all(path.parent().expect("a file lies in a folder")).unwrap();
    let before = if continued { fs::read_to_string(path).unwrap() } else { String::new() };
    fs::write(path, before + text).unwrap();
}

/// Runs `command` as its mark says, or tells why that is not what the page shows.
fn follow(command: &Command, mark: Mark, is_last: bool, folder: &Path) -> Result<(), String> {
    match mark {
        Mark::Absent => read_options(&command.text, true, folder),
        Mark::Elsewhere => read_options(&command.text, false, folder),
        Mark::OpenCl if !has_opencl() => skipped("there is no OpenCL device"),
        Mark::Python if !shell("python3 --version", folder).status.success() => skipped("there is no Python"),
        Mark::Runs | Mark::OpenCl | Mark::Python | Mark::Fails => {
            let output = shell(&command.text, folder);
            let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
            let merged = format!("{stdout}{stderr}");
            if output.status.success() == (mark == Mark::Fails && is_last) {
                return Err(format!("ends with {:?}\n{merged}", output.status.code()));
            }
            let shown = &command.printed;
            let is_shown = [&stdout, &stderr, &merged].into_iter().any(|printed| agrees(shown, printed));
            if shown.is_empty() || is_shown { Ok(()) } else { Err(format!("prints\n{merged}")) }
        }
    }
}

/// Has the binary read the options of each of its commands in `line`, and checks the problems that
/// commands name if `checks`.
fn read_options(line: &str, checks: bool, folder: &Path) -> Result<(), String> {
    let succeeds = |command: &str| {
        let output = shell(command, folder);
        if output.status.success() { Ok(()) } else { Err(format!("`{command}`\n{}", text(&output.stderr))) }
    };
    for part in line.replace("\\\n", " ").split(['|', '>', ';', '#', '&']) {
        // Variables may stand before the command.
        let is_variable = |word: &str| word.split_once('=').is_some_and(|(name, _)| !name.contains(['/', '-']));
        let named = part.split_whitespace().find(|word| !is_variable(word)) == Some("tunesmith");
        let Some((_, options)) = part.split_once("tunesmith ").filter(|_| named) else { continue };
        succeeds(&format!("tunesmith {options} --help"))?;
        let mut words = options.split_whitespace();
        let (subcommand, problem) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if checks && ["check", "tune", "run"].contains(&subcommand) {
            // Names, types, expressions, files and the space are checked without the device.
            succeeds(&format!("tunesmith check {problem} --device synthetic:1"))?;
        }
    }
    Ok(())
}

/// Prints why a block is not run. In continuous integration everything is there.
#[allow(clippy::disallowed_methods, clippy::print_stderr)] // the environment tells whether this is CI
fn skipped(why: &str) -> Result<(), String> {
    eprintln!("a block of the guide is skipped: {why}");
    if std::env::var_os("CI").is_some() { Err(why.to_string()) } else { Ok(()) }
}

fn shell(command: &str, folder: &Path) -> Output {
    let binary = Path::new(env!("CARGO_BIN_EXE_tunesmith")).parent().expect("the binary lies in a folder");
    let line = format!("PATH='{}':$PATH\n{command}", binary.display());
    Process::new("sh").args(["-c", &line]).current_dir(folder).env("NO_COLOR", "1").output().unwrap()
}

fn has_opencl() -> bool {
    let devices = shell("tunesmith devices --json", &repository());
    text(&devices.stdout).contains("\"backend\": \"opencl\"")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn an_option_that_does_not_exist_is_found() {
    let folder = repository();
    for command in
        ["tunesmith tune a.toml --no-such-option", "A=1 tunesmith nothing", "true && tunesmith tune --seed x"]
    {
        assert!(read_options(command, false, &folder).is_err(), "{command}");
    }
    for command in ["tunesmith tune a.toml --seed 1 # a remark", "A=b tunesmith devices --json", "tunesmithy --x"] {
        assert_eq!(read_options(command, false, &folder), Ok(()));
    }
}
