//! Logs of OpenCL compilers as users read them.

use std::path::Path;

/// The log with the user's file in place of the temporary ones that drivers name, behind its first error.
pub(super) fn readable(log: &str, file: &Path) -> String {
    let lines: Vec<String> = log.lines().map(|line| with_file(line, file)).collect();
    let text = lines.join("\n").trim().to_owned();
    let error = lines.iter().find(|line| line.contains("error:"));
    match error.filter(|error| !text.starts_with(error.as_str())) {
        Some(error) => format!("{}\n{text}", error.trim()),
        None => text,
    }
}

/// `PLACE:LINE:COLUMN: MESSAGE` with the user's file for a place that is a driver's own.
fn with_file(line: &str, file: &Path) -> String {
    let Some((place, rest)) = ["error:", "warning:", "note:"].iter().find_map(|word| {
        let at = line.find(&format!(": {word}"))?;
        Some(line.split_at(at))
    }) else {
        return line.to_owned();
    };
    let mut parts = place.rsplitn(3, ':');
    let (column, row, path) = (parts.next(), parts.next(), parts.next());
    let is_number = |text: Option<&str>| text.is_some_and(|text| text.parse::<u32>().is_ok());
    match path.filter(|path| is_number(column) && is_number(row) && is_drivers_own(path)) {
        Some(_) => {
            format!("{}:{}:{}{rest}", file.display(), row.unwrap_or_default(), column.unwrap_or_default())
        }
        None => line.to_owned(),
    }
}

/// Whether no user wrote the file: a source given as text has no name, or that of a temporary file.
fn is_drivers_own(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    path.starts_with('<') || name.starts_with("temp") || path.contains("/kcache/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_become_the_users_file_and_the_first_error_leads() {
        let log = "warning: something\n/home/u/.cache/pocl/kcache/tempfile_a1.cl:3:5: error: no `x`\n    x\n1 error";
        let wanted = "gemm.cl:3:5: error: no `x`\nwarning: something\ngemm.cl:3:5: error: no `x`\n    x\n1 error";
        assert_eq!(readable(log, Path::new("gemm.cl")), wanted);
        assert_eq!(readable("<kernel>:1:2: error: bad", Path::new("a.cl")), "a.cl:1:2: error: bad");
    }

    #[test]
    fn files_of_the_user_and_other_forms_stay() {
        for line in ["include/tile.h:3:5: error: no `x`", "ptxas fatal: unresolved", "a: error: b"] {
            assert_eq!(readable(line, Path::new("k.cl")), line);
        }
    }
}
