//! Problems in folders of any name, and arguments that are no text.

use crate::common::{Ran, TWICE, twice_problem};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

/// Names that some compiler, dependency file, source or message does not hold as they are.
const NAMES: [&[u8]; 7] =
    [b"dol$x", b"ha#sh", b"dq\"x", b"ta\tb", b"li\nne", b"bad\xff", b"all $#\"'%\\\t\n\xc3\xa9\xff??"];

fn tunesmith(folder: &Path, arguments: &[&OsStr]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tunesmith"));
    Ran::of(command.args(arguments).current_dir(folder).env("NO_COLOR", "1").output().unwrap())
}

/// Calls `test` with a folder of each name. The names are those of a new folder's folders.
fn in_folders(test: impl Fn(&Path, &Path)) {
    let whole = tempfile::tempdir().unwrap();
    for name in NAMES.map(|name| Path::new(OsStr::from_bytes(name))) {
        std::fs::create_dir(whole.path().join(name)).unwrap();
        test(whole.path(), name);
    }
}

#[test]
fn kernels_in_c_run_in_folders_of_any_name() {
    in_folders(|whole, name| {
        let folder = whole.join(name);
        let write = |file: &str, text: &str| std::fs::write(folder.join(file), text).unwrap();
        let kernel =
            "#include \"h#.h\"\nvoid f(const float *a, float *b) { for (int i = 0; i < N; i++) b[i] = TWO * a[i]; }\n";
        write("k$1.c", kernel);
        write("h#.h", "#define TWO 2\n");
        write("reference.c", TWICE);
        write("p.toml", &twice_problem("file = \"k$1.c\"\nfunction = \"f\"", "P = [1]"));
        let ran = tunesmith(whole, &["run".as_ref(), name.join("p.toml").as_os_str()]);
        assert_eq!(ran.code, Some(0), "{name:?}: {ran:#?}");
    });
}

#[test]
fn commands_run_in_folders_of_any_name_and_so_do_their_scripts() {
    in_folders(|whole, name| {
        let folder = whole.join(name);
        std::fs::write(folder.join("in $#\"\t.txt"), "cost 3\n").unwrap();
        let problem =
            "[kernel]\ncommand = [\"cat\", \"in $#\\\"\\t.txt\"]\ncost = \"cost (.*)\"\n[parameters]\nP = [1]\n";
        std::fs::write(folder.join("p.toml"), problem).unwrap();
        let path = name.join("p.toml");
        let ran = tunesmith(whole, &["run".as_ref(), path.as_os_str()]);
        assert_eq!(ran.code, Some(0), "{name:?}: {ran:#?}");
        let script = tunesmith(whole, &["run".as_ref(), path.as_os_str(), "--show-command".as_ref()]).stdout;
        let printed = Command::new("sh").arg("-c").arg(script).current_dir(whole).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&printed.stdout), "cost 3\n", "{name:?}");
    });
}

#[test]
fn arguments_that_are_no_text_are_refused_like_others() {
    let folder = tempfile::tempdir().unwrap();
    let odd = OsStr::from_bytes(b"bad\xff");
    tunesmith(folder.path(), &[odd]).refused(&["unrecognized subcommand"]);
    tunesmith(folder.path(), &["tune".as_ref(), odd, "--trials".as_ref()]).refused(&["--trials"]);
}
