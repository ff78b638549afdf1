//! The failure of a verification points to its argument in the problem file.

use tunesmith_core::{Failure, FailureKind};
use tunesmith_problem::Problem;

const TEXT: &str = "[parameters]\nT = [1]\n[kernel]\nfile = 'k.c'\nfunction = 'k'\n[[arguments]]\nname = 'x'\n\
    type = 'f32'\nshape = [4]\n\n[[arguments]]\nname = 'y'\ntype = 'f32'\nshape = [4]\naccess = 'out'\n";

/// Returns the line, the text and whether there is a remedy.
fn about(kind: FailureKind, message: &str) -> Option<(usize, String, bool)> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.c"), "void k(const float *x, float *y) {}").unwrap();
    let problem = Problem::parse(TEXT, folder.path()).unwrap();
    let found = problem.about_failure(&Failure::new(kind, message))?;
    Some((found.line, found.text, found.remedy.is_some()))
}

#[test]
fn a_wrong_output_points_to_its_argument_with_a_remedy() {
    let found = about(FailureKind::Correctness, "`y`[0] is wrong: wanted 1, found 2 (1 of 4 values are wrong)");
    assert_eq!(found, Some((11, "argument `y`".to_string(), true)));
}

#[test]
fn a_changed_input_points_to_its_argument_and_has_its_remedy_already() {
    let message = "the kernel wrote to its input `x`[2]; an argument that it changes needs access = \"inout\"";
    assert_eq!(about(FailureKind::Correctness, message), Some((6, "argument `x`".to_string(), false)));
}

#[test]
fn other_failures_point_nowhere() {
    assert_eq!(about(FailureKind::Compile, "`y`[0] is no lvalue"), None);
    assert_eq!(about(FailureKind::Correctness, "the function `verify` finds the outputs wrong"), None);
}
