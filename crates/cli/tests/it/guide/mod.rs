//! The guide is true: every file that a page of docs/guide shows is written, every command is run,
//! and what it prints is compared with the page. Of the pages of reference in docs, options are
//! read, and commands that only read files of the repository are run.
//!
//! | block | meaning |
//! |---|---|
//! | begins with a comment that is a file's name | is written to that file; ", continued" adds to it |
//! | `console` | is run, and every command ends with status 0 |
//! | `console fails` | the last command ends with another status |
//! | `console opencl`, `console python` | is run if there is an OpenCL device, or Python |
//! | `console gpu`, `console mpi` | needs them: problems are checked, and options are read |
//! | `console elsewhere` | needs another machine or program: options are read |

mod links;
mod page;
mod printed;
mod running;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use tunesmith::core::FailureKind;

use running::{read_page, run_page};

/// Returns the folder of the repository.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Makes a new folder for a test.
fn empty_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guide").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns the Markdown files in `folder` and below it.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let of_path = |path: PathBuf| match path.extension() {
        _ if path.is_dir() => pages(&path),
        Some(extension) if extension == "md" => vec![path],
        _ => Vec::new(),
    };
    paths.into_iter().flat_map(of_path).collect()
}

/// A test for each page, and the list of all of them.
macro_rules! guide {
    ($($name:ident = $file:literal,)*) => {
        $(#[test]
        fn $name() {
            run_page($file);
        })*
        const PAGES: &[&str] = &[$($file),*];
    };
}

guide! {
    the_introduction_is_true = "introduction.md",
    the_tutorial_is_true = "tutorial.md",
    the_cookbook_is_true = "cookbook.md",
    coming_from_another_tuner_is_true = "coming-from.md",
    watching_a_run_is_true = "watching.md",
    reading_a_report_is_true = "reports.md",
    choosing_a_strategy_is_true = "choosing-a-strategy.md",
    troubleshooting_is_true = "troubleshooting.md",
    thirty_mistakes_are_answered = "mistakes.md",
    the_commands_are_true = "commands.md",
    formats_are_true = "formats.md",
    the_glossary_is_true = "glossary.md",
}

#[test]
fn every_page_of_the_guide_has_a_test_and_a_place_in_the_book() {
    let summary = fs::read_to_string(repository().join("docs/SUMMARY.md")).unwrap();
    let docs = repository().join("docs");
    for page in pages(&docs) {
        let name = page.strip_prefix(&docs).unwrap().display().to_string();
        assert!(name == "SUMMARY.md" || summary.contains(&format!("]({name})")), "docs/SUMMARY.md lacks {name}");
        if let Some(guide) = name.strip_prefix("guide/") {
            assert!(PAGES.contains(&guide), "{name} has no test");
        }
    }
}

#[test]
fn the_commands_of_the_pages_of_reference_exist() {
    let docs = repository().join("docs");
    let names = fs::read_dir(&docs).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let faults: Vec<String> = names.filter(|name| name.ends_with(".md")).flat_map(|name| read_page(&name)).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn no_link_of_the_documentation_is_dead() {
    let top = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(|name| repository().join(name));
    let below = ["docs", "examples", "bench", "suite"].into_iter().flat_map(|name| pages(&repository().join(name)));
    let found = links::dead(&top.into_iter().chain(below).collect::<Vec<_>>());
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn every_status_and_every_exit_code_has_an_entry_in_troubleshooting() {
    let page = fs::read_to_string(repository().join("docs/guide/troubleshooting.md")).unwrap();
    let help = Process::new(env!("CARGO_BIN_EXE_tunesmith")).arg("--help").output().unwrap().stdout;
    let help = String::from_utf8(help).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    let listed = help.split_once("Exit codes: ").expect("the help lists them").1.split("; ");
    let codes: Vec<&str> = listed.filter_map(|entry| entry.split(' ').next()).collect();
    assert_eq!(codes, ["0", "1", "2", "3", "130"]);
    let statuses = FailureKind::ALL.map(|kind| format!("`{}`", kind.word()));
    // Nothing is to be mended after 0.
    let entries = codes[1..].iter().map(ToString::to_string).chain(statuses);
    let lacking: Vec<String> = entries.filter(|entry| !page.contains(&format!("\n| {entry} |"))).collect();
    assert!(lacking.is_empty(), "docs/guide/troubleshooting.md has no entry for {lacking:?}");
}

#[test]
fn the_readme_has_at_most_120_lines_and_one_picture() {
    let text = fs::read_to_string(repository().join("README.md")).unwrap();
    assert!(text.lines().count() <= 120, "README.md has {} lines", text.lines().count());
    assert!(text.matches("![").count() + text.matches("<img").count() <= 1);
}
