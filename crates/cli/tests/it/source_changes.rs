//! Sources that change during a run: no journal holds the times of two kernels.

use crate::common::{Folder, Ran, TWICE, entries, twice_problem};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A compiler that writes `TEXT` to a header when it compiles for the third time.
const COMPILER: &str = "#!/bin/sh
case \"$*\" in *.so*)
    echo >> FOLDER/calls
    [ $(wc -l < FOLDER/calls) = 3 ] && printf 'TEXT' > FOLDER/half.h.new && mv FOLDER/half.h.new FOLDER/half.h ;;
esac
exec cc \"$@\"
";

const HEADER: &str = "#define HALF 1\\n";

/// Tunes a kernel whose header becomes `text` meanwhile.
fn tune(folder: &Folder, text: &str) -> Ran {
    let here = folder.path("").display().to_string();
    folder.write("changing-cc", &COMPILER.replace("TEXT", text).replace("FOLDER", here.trim_end_matches('/')));
    fs::set_permissions(folder.path("changing-cc"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = folder.command(&["tune", "p.toml", "--quiet", "--jobs", "1", "--stop", "evaluations 8"]);
    command.env("CC", folder.path("changing-cc")).env_remove("CFLAGS");
    Ran::of(command.output().unwrap())
}

fn folder() -> Folder {
    let kernel = "#include \"half.h\"\nvoid f(const float *a, float *b) { for (int i = 0; i < N; i++) b[i] = 2 * HALF * a[i]; }\n";
    let problem = twice_problem("file = \"f.c\"\nfunction = \"f\"\nlanguage = \"c\"", "X = [1, 2, 3, 4, 5, 6, 7, 8]");
    Folder::with(&[
        ("f.c", kernel),
        ("half.h", &HEADER.replace("\\n", "\n")),
        ("reference.c", TWICE),
        ("p.toml", &problem),
    ])
}

#[test]
fn a_header_that_changes_during_a_run_ends_it_and_restored_it_is_resumed() {
    let folder = folder();
    let ran = tune(&folder, "#define HALF 3\\n");
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    assert!(ran.stderr.contains("half.h` changed during the run") && ran.stderr.contains("restore"), "{ran:#?}");
    let made = entries(&folder.path("p.jsonl"));
    assert!(made.len() < 8 && made.iter().all(|entry| entry["status"] == "correct"), "{made:#?}");
    let resume = ["tune", "p.toml", "--quiet", "--resume", "--stop", "evaluations 8"];
    let again = |folder: &Folder| {
        let mut command = folder.command(&resume);
        Ran::of(command.env("CC", folder.path("changing-cc")).env_remove("CFLAGS").output().unwrap())
    };
    again(&folder).refused(&["cannot be resumed", "kernel"]);
    folder.write("half.h", &HEADER.replace("\\n", "\n"));
    assert_eq!(again(&folder).code, Some(0));
    assert_eq!(entries(&folder.path("p.jsonl")).len(), 8);
}

#[test]
fn a_header_that_is_written_again_as_it_was_changes_nothing() {
    let folder = folder();
    let ran = tune(&folder, HEADER);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(entries(&folder.path("p.jsonl")).len(), 8);
}

/// A kernel of which every second configuration includes another header.
const HALVES: &str = "#if X % 2 == 0
#include \"half.h\"
#else
#define HALF 1
#endif
void f(const float *a, float *b) { for (int i = 0; i < N; i++) b[i] = 2 * HALF * a[i]; }
";

#[test]
fn a_header_that_only_other_configurations_include_is_watched_too() {
    let folder = folder();
    folder.write("f.c", HALVES);
    let ran = tune(&folder, "#define HALF 3\\n");
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    assert!(ran.stderr.contains("half.h` changed during the run"), "{ran:#?}");
}

/// A program that is built from a source which only its makefile names. Its third build changes a file.
const MAKE: &str = "prog: prog.sh.inc
\t@echo >> HERE/calls; cp prog.sh.inc prog; chmod +x prog
\t@if [ $$(wc -l < HERE/calls) = 3 ]; then echo 'echo cost 3' > HERE/CHANGED; fi
";

/// Tunes a command whose third build changes the file `changed` of its folder.
fn tune_command(changed: &str, command: &str, more: &[&str]) -> (Folder, Ran) {
    let problem = format!(
        "[kernel]\nbuild = [\"make\", \"prog\"]\ncommand = {command}\ncost = \"cost ([0-9]+)\"\nunit = \"ms\"\n\
         [parameters]\nX = [1, 2, 3, 4, 5, 6, 7, 8]\n[tuning]\nstrategy = \"exhaustive\"\n"
    );
    let script = "#!/bin/sh\necho cost 2\n";
    let folder = Folder::with(&[("p.toml", &problem), ("prog.sh.inc", script), ("run.sh", script), ("notes.txt", "")]);
    let here = folder.path("").display().to_string();
    folder.write("Makefile", &MAKE.replace("HERE", here.trim_end_matches('/')).replace("CHANGED", changed));
    let arguments = ["tune", "p.toml", "--quiet", "--no-sandbox", "--jobs", "1"];
    let ran = folder.run(&[&arguments[..], more].concat());
    (folder, ran)
}

#[test]
fn a_file_of_a_command_that_changes_during_a_run_ends_it() {
    let built = "[\"./prog\", \"{X}\"]";
    for (changed, command) in [("prog.sh.inc", built), ("run.sh", "[\"sh\", \"run.sh\", \"{X}\"]")] {
        let (folder, ran) = tune_command(changed, command, &[]);
        assert_eq!(ran.code, Some(3), "{changed}: {ran:#?}");
        assert!(ran.stderr.contains(&format!("{changed}` changed during the run")), "{ran:#?}");
        let made = entries(&folder.path("p.jsonl"));
        assert!(made.iter().all(|entry| entry["times_ms"][0] == 2.0), "{made:#?}");
    }
    // What no build reads may change.
    assert_eq!(tune_command("notes.txt", built, &[]).1.code, Some(0));
}
