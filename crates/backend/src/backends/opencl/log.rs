//! Rewrites the logs of OpenCL compilers for users.

use std::path::Path;

/// The drivers' names of a source that was given as text.
const NAMELESS: [&str; 3] = ["<kernel>", "<program source>", "<source>"];

/// Returns the log, preceded by its first error. Replaces the drivers' temporary files by the
/// user's file.
pub(super) fn readable(log: &str, file: &Path) -> String {
    let file = file.display().to_string();
    let text = with_file(log.trim(), &file);
    let error = text.lines().find(|line| line.contains("error:")).map(str::trim);
    match error.filter(|error| !text.starts_with(error)) {
        Some(error) => format!("{error}\n{text}"),
        None => text,
    }
}

/// Replaces the file names in `text` that no user wrote by `file`: names of nameless sources, and
/// PoCL's temporary files (`/home/.../tempfile_x7Yz.cl`).
fn with_file(text: &str, file: &str) -> String {
    let mut text = NAMELESS.iter().fold(text.to_owned(), |text, name| text.replace(name, file));
    while let Some(at) = text.find("/tempfile_") {
        let is_of_path = |c: char| !c.is_whitespace() && !"=<('\"".contains(c);
        let start = text[..at].trim_end_matches(is_of_path).len();
        let end = text[at..].find(".cl").map_or(text.len(), |length| at + length + ".cl".len());
        text.replace_range(start..end, file);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_become_the_users_file_and_the_first_error_leads() {
        let log = "warning: something\nerror: /home/u/.cache/pocl/kcache/tempfile_a1.cl:3:5: no `x`\nfailed to build";
        let wanted = "error: gemm.cl:3:5: no `x`\nwarning: something\nerror: gemm.cl:3:5: no `x`\nfailed to build";
        assert_eq!(readable(log, Path::new("gemm.cl")), wanted);
        let spelt = "error: /c/tempfile_b.cl:3:16 <Spelling=/c/tempfile_b.cl:3:22>: no `y`";
        assert_eq!(readable(spelt, Path::new("k.cl")), "error: k.cl:3:16 <Spelling=k.cl:3:22>: no `y`");
        assert_eq!(readable("<kernel>:1:2: error: bad", Path::new("a.cl")), "a.cl:1:2: error: bad");
    }

    #[test]
    fn a_path_may_follow_a_letter_of_several_bytes() {
        let log = "Fehler\u{3000}/h/tempfile_a1.cl:3:5: »x«";
        assert_eq!(readable(log, Path::new("k.cl")), "Fehler\u{3000}k.cl:3:5: »x«");
    }

    #[test]
    fn files_of_the_user_and_other_forms_stay() {
        for line in ["include/tile.h:3:5: error: no `x`", "ptxas fatal: unresolved", "a: error: b", ""] {
            assert_eq!(readable(line, Path::new("k.cl")), line);
        }
    }
}
