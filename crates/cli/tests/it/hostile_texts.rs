//! Texts from files and programs that would act on a terminal are shown, not obeyed.

use crate::common;

use common::{Folder, Ran};

/// Clears the screen, sets the title, returns to the start of the line, reverses the text.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\rbest 0 ms \u{202e}sm 0";

/// Checks that no output acts on a terminal, that the hostile text is shown, and that no line of a
/// message is too wide.
#[track_caller]
fn assert_harmless(ran: &Ran, shown: &str) {
    for text in [&ran.stdout, &ran.stderr] {
        let acts = |c: char| (c.is_control() && c != '\n' && c != '\t') || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!text.contains(acts), "{text:?}");
    }
    assert!(ran.stderr.lines().all(|line| line.chars().count() <= 200), "{ran:#?}");
    assert!(format!("{}{}", ran.stdout, ran.stderr).contains(shown), "`{shown}` is not in {ran:#?}");
}

#[test]
fn names_and_expressions_of_a_problem_are_shown() {
    let toml = |text: &str| text.chars().map(|c| format!("\\u{:04x}", c as u32)).collect::<String>();
    let problem = format!("[problem]\nname = \"{}\"\n[parameters]\nTILE = [1, 2]\n", toml(HOSTILE));
    let folder = Folder::with(&[("p.toml", &problem)]);
    let tune = ["tune", "p.toml", "--device", "synthetic:1+TILE", "--out", "r.jsonl"];
    let ran = folder.run(&tune);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_harmless(&ran, "\\u{1b}[2J");
    assert_harmless(&folder.run(&["top", "r.jsonl"]), "\\u{202e}");
    folder.write("q.toml", &format!("[parameters]\nTILE = [1]\n[constraints]\n\"a\" = \"TILE + {}\"\n", toml(HOSTILE)));
    assert_harmless(&folder.run(&["check", "q.toml"]), "\\u{1b}");
    folder.write("s.toml", &format!("[parameters]\n\"{}\" = [1]\n", toml(HOSTILE)));
    assert_harmless(&folder.run(&["check", "s.toml"]), "\\u{1b}");
    folder.write("w.toml", &format!("[parameters]\nTILE = [\"{}\"]\n", toml(HOSTILE)));
    assert_harmless(&folder.run(&["space", "w.toml", "--list"]), "\\u{202e}");
}

#[test]
fn what_a_command_and_a_compiler_print_is_shown_and_cut() {
    let problem = "[kernel]\ncommand = [\"sh\", \"bad.sh\"]\n[parameters]\nTILE = [1, 2]\n";
    let script = format!("printf '%s\\n' {} '{HOSTILE}' >&2; exit 3\n", "x".repeat(1000));
    let folder = Folder::with(&[("p.toml", problem), ("bad.sh", &script)]);
    let ran = folder.run(&["run", "p.toml", "--config", "TILE=2"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert_harmless(&ran, "\\u{7}");
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 200), "{ran:#?}");
    let journal = folder.run(&["tune", "p.toml", "--stop", "evaluations 2", "--out", "r.jsonl"]);
    assert_harmless(&journal, "ended with status 3");
    let whole = std::fs::read_to_string(folder.path("r.jsonl")).unwrap();
    assert!(whole.contains("\\u001b[2J"), "the journal has the text as it was");

    let kernel = format!("#error \"{HOSTILE}\"\nvoid f(float *a) {{}}\n");
    let problem = "[kernel]\nfile = \"k.c\"\nfunction = \"f\"\n[parameters]\nTILE = [1]\n\
                   [[arguments]]\nname = \"a\"\ntype = \"f32\"\nshape = [8]\naccess = \"out\"\n";
    folder.write("c.toml", problem);
    folder.write("k.c", &kernel);
    assert_harmless(&folder.run(&["run", "c.toml"]), "\\u{1b}");
}
