//! No command overwrites what it reads, or a file that it did not write.

use crate::common;

use common::Folder;

const TABLE: &str = "X,Y,time_ms,status\n1,1,4,ok\n1,2,2,ok\n2,1,3,ok\n2,2,5,ok\n";

/// A folder with a journal, and a recording in T4 with the name of a description of a CSV.
fn folder() -> Folder {
    let folder = Folder::with(&[("p.toml", "[parameters]\nX = [1, 2, 3]\nY = [1, 2]\n"), ("table.csv", TABLE)]);
    let tune = ["tune", "p.toml", "--device", "synthetic:X + Y", "--strategy", "exhaustive", "--out", "run.jsonl"];
    assert_eq!(folder.run(&tune).code, Some(0));
    assert_eq!(folder.run(&["convert", "table.csv", "-o", "X.json"]).code, Some(0));
    folder
}

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path(name)).unwrap()
}

#[test]
fn a_conversion_never_overwrites_its_input_with_the_description_of_its_output() {
    let folder = folder();
    let before = read(&folder, "X.json");
    folder.run(&["convert", "X.json", "-o", "X.csv"]).refused(&["X.json", "this command reads it", "--out"]);
    assert_eq!(read(&folder, "X.json"), before);
    assert!(!folder.path("X.csv").exists(), "nothing is written before the refusal");
    folder.run(&["convert", "table.csv", "-o", "table.csv"]).refused(&["table.csv", "this command reads it"]);
    assert_eq!(read(&folder, "table.csv"), TABLE);
}

#[test]
fn a_conversion_replaces_its_former_output_and_no_other_file() {
    let folder = folder();
    for out in ["out.csv", "out.csv.gz", "out.json", "out.cache.json", "out.cache.json.gz"] {
        for _ in 0..2 {
            let ran = folder.run(&["convert", "run.jsonl", "-o", out]);
            assert_eq!(ran.code, Some(0), "{out}: {ran:#?}");
        }
    }
    folder.write("notes.csv", "mine\n");
    folder.run(&["convert", "run.jsonl", "-o", "notes.csv"]).refused(&["notes.csv", "did not write it"]);
    folder.write("plan.json", "{\"mine\": 1}\n");
    folder.run(&["convert", "run.jsonl", "-o", "plan.csv"]).refused(&["plan.json", "did not write it"]);
    assert_eq!(read(&folder, "notes.csv") + &read(&folder, "plan.json"), "mine\n{\"mine\": 1}\n");
    folder.write("empty.json", "");
    assert_eq!(folder.run(&["convert", "run.jsonl", "-o", "empty.json"]).code, Some(0), "as mktemp makes it");
}

#[test]
fn reports_and_exports_replace_their_kind_only() {
    let folder = folder();
    for _ in 0..2 {
        assert_eq!(folder.run(&["report", "run.jsonl", "-o", "page.html"]).code, Some(0));
        for form in ["wisdom", "json", "c-header", "x-macro", "rust", "flags", "defines", "cmake", "make", "env"] {
            let out = format!("kernel.{form}");
            let ran = folder.run(&["export", "run.jsonl", "--as", form, "--out", &out]);
            assert_eq!(ran.code, Some(0), "{ran:#?}");
        }
    }
    // Kernel Launcher's wisdom has the same suffix.
    let (ours, launcher) = ("kernel.wisdom", ["--as", "kernel-launcher", "--out", "kernel.wisdom"]);
    let wisdom = read(&folder, ours);
    folder.run(&[&["export", "run.jsonl"], &launcher[..]].concat()).refused(&[ours, "did not write it"]);
    assert_eq!(read(&folder, ours), wisdom);
    // A kernel of the user's asks whether it is tuned.
    let kernel = "#ifndef TUNED_BY_TUNESMITH\n#define X 1\n#endif\n";
    for form in ["source", "defines", "flags", "c-header"] {
        folder.write("kernel.c", kernel);
        let ran = folder.run(&["export", "run.jsonl", "--as", form, "--out", "kernel.c"]);
        ran.refused(&["kernel.c", "did not write it"]);
        assert_eq!(read(&folder, "kernel.c"), kernel);
    }
    let mine = "<!DOCTYPE html><p>mine</p>\n";
    folder.write("mine.html", mine);
    folder.run(&["report", "run.jsonl", "-o", "mine.html"]).refused(&["mine.html", "did not write it"]);
    assert_eq!(read(&folder, "mine.html"), mine);
    let journal = read(&folder, "run.jsonl");
    for form in ["wisdom", "json", "rust"] {
        folder.run(&["export", "run.jsonl", "--as", form, "--out", "run.jsonl"]).refused(&["run.jsonl"]);
    }
    assert_eq!(read(&folder, "run.jsonl"), journal);
}
