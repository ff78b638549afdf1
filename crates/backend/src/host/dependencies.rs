//! The dependency files of compilers for C: rules of `make` (`cc -MM -MF FILE`).

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// The target that the compiler is told to write, in place of a name derived from the source's.
pub(super) const TARGET: &str = "tunesmith";

/// Returns the prerequisites of the rule for [`TARGET`], in order.
///
/// Undoes the escapes of GCC (`munge` in `libcpp/mkdeps.cc`) and of Clang (`PrintFilename` in
/// `DependencyFile.cpp`), which are those of `make`:
///
/// - `$$` is a dollar, and `\#` is `#`.
/// - Before a blank, 2 N + 1 backslashes are N backslashes and the blank, which is part of the name. GCC
///   treats tabs as blanks. Clang writes them as they are.
/// - Elsewhere, a backslash is itself.
///
/// Neither compiler escapes the end of a line, so a name with one is cut there. Clang writes a slash for a backslash: a
/// file that is not there is looked for under the names with backslashes.
pub(super) fn prerequisites(rules: &[u8]) -> Vec<PathBuf> {
    let mut names = names(rules).into_iter().skip_while(|name| !name.starts_with(TARGET.as_bytes()));
    let Some(target) = names.next() else { return Vec::new() };
    if target.strip_prefix(TARGET.as_bytes()) != Some(b":") {
        return Vec::new();
    }
    names.map(|name| with_backslashes(PathBuf::from(OsString::from_vec(name)))).collect()
}

/// Returns the file of which Clang wrote the path: `path` if it is there, else the file whose name has backslashes in
/// place of the last slashes.
fn with_backslashes(path: PathBuf) -> PathBuf {
    let (mut folder, mut name) = (path.as_path(), OsString::new());
    while !path.exists() {
        let (Some(parent), Some(part)) = (folder.parent(), folder.file_name()) else { break };
        name = if name.is_empty() { part.to_owned() } else { [part, OsStr::new("\\"), &name].into_iter().collect() };
        folder = parent;
        let other = folder.join(&name);
        if other.is_file() {
            return other;
        }
    }
    path
}

/// Returns the words of the rules without their escapes.
fn names(rules: &[u8]) -> Vec<Vec<u8>> {
    let (mut names, mut name, mut rest) = (Vec::new(), Vec::new(), rules);
    while let Some(first) = rest.first() {
        let backslashes = rest.iter().take_while(|byte| **byte == b'\\').count();
        let (kept, letter, read) = match (backslashes, rest.get(backslashes)) {
            (count, Some(blank @ (b' ' | b'\t'))) if count % 2 == 1 => (count / 2, Some(*blank), count + 1),
            (count, Some(b' ' | b'\t')) => (count / 2, None, count + 1),
            // A backslash at the end of a line continues the rule.
            (count, Some(b'\n')) => (count.saturating_sub(1), None, count + 1),
            (count, Some(b'#')) => (count.saturating_sub(1), Some(b'#'), count + 1),
            (0, Some(b'$')) if rest.get(1) == Some(&b'$') => (0, Some(b'$'), 2),
            (0, _) => (0, Some(*first), 1),
            (count, _) => {
                name.extend_from_slice(&rest[..count]);
                rest = &rest[count..];
                continue;
            }
        };
        name.resize(name.len() + kept, b'\\');
        match letter {
            Some(letter) => name.push(letter),
            None if name.is_empty() => {}
            None => names.push(std::mem::take(&mut name)),
        }
        rest = &rest[read..];
    }
    names.extend((!name.is_empty()).then_some(name));
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[track_caller]
    fn assert_names(rules: &[u8], wanted: &[&[u8]]) {
        let found = prerequisites(rules);
        assert_eq!(found.iter().map(|path| path.as_os_str().as_bytes()).collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn a_rule_gives_its_prerequisites_in_order() {
        assert_names(b"tunesmith: /t/shim.c /k/a.c \\\n /k/b.h\n", &[b"/t/shim.c", b"/k/a.c", b"/k/b.h"]);
        assert_names(b"tunesmith: \\\n a.c", &[b"a.c"]);
        assert_names(b"tunesmith:\n", &[]);
        assert_names(b"", &[]);
        assert_names(b"other.o: a.c\n", &[]);
    }

    #[test]
    fn escapes_of_both_compilers_are_undone() {
        let gcc = b"tunesmith: k.c h\\#.h h$$1.h b\\s.h t\\\tb.h a\\\\\\ b.h a\\\\#b.h c:\\ d.h \\\n x\xffy.h p%q.h\n";
        let names: [&[u8]; 10] =
            [b"k.c", b"h#.h", b"h$1.h", b"b\\s.h", b"t\tb.h", b"a\\ b.h", b"a\\#b.h", b"c: d.h", b"x\xffy.h", b"p%q.h"];
        assert_names(gcc, &names);
        assert_names(b"tunesmith: k$$$$1.c \\#\\# d$$\n", &[b"k$$1.c", b"##", b"d$"]);
    }

    #[test]
    fn a_name_in_which_clang_wrote_slashes_for_backslashes_is_found() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        for name in ["x.h", "a/x.h", "h\\x.h", "a/h\\b\\x.h"] {
            let path = folder.path().join(name);
            std::fs::write(&path, "").unwrap();
            let written = path.to_string_lossy().replace('\\', "/");
            assert_eq!(with_backslashes(PathBuf::from(&written)), path);
        }
        let missing = folder.path().join("h/none.h");
        assert_eq!(with_backslashes(missing.clone()), missing);
    }
}
