//! The list of cases in docs/trust.md.

use crate::common::repository;
use crate::faults::cases::Case;
use crate::faults::families;
use std::collections::HashSet;
use std::path::PathBuf;

const BEGIN: &str = "<!-- The list of cases: written by the test `faults`. -->\n";
const END: &str = "<!-- The end of the list. -->\n";

fn page() -> PathBuf {
    repository().join("docs/trust.md")
}

/// Returns the page with the list as the cases give it.
fn written(page: &str) -> String {
    let (head, rest) = page.split_once(BEGIN).unwrap();
    let (_, tail) = rest.split_once(END).unwrap();
    let row = |case: &Case| {
        let statuses: Vec<String> = case.statuses.iter().map(|status| format!("`{status}`")).collect();
        format!("| {} | {} |\n", case.why, statuses.join(" or "))
    };
    let tables = families().map(|family| {
        let rows: String = family.cases().iter().map(row).collect();
        format!("\n### {}\n\n| case | status |\n|---|---|\n{rows}", family.title)
    });
    format!("{head}{BEGIN}{}\n{END}{tail}", tables.concat())
}

#[test]
fn the_list_in_the_documentation_is_that_of_the_cases() {
    let page = std::fs::read_to_string(page()).unwrap();
    assert!(
        written(&page) == page,
        "docs/trust.md is not up to date: cargo test -p tunesmith-cli --test it faults -- --ignored write"
    );
}

#[test]
#[ignore = "writes the list into docs/trust.md"]
fn write_the_list_into_the_documentation() {
    let text = std::fs::read_to_string(page()).unwrap();
    std::fs::write(page(), written(&text)).unwrap();
}

#[test]
fn every_case_has_a_name_and_a_sentence_of_its_own() {
    let mut count = 0;
    for family in families() {
        let mut names = HashSet::new();
        for case in family.cases() {
            assert!(names.insert(case.name), "`{}` is there twice", case.name);
            assert!(case.why.ends_with('.') && !case.why.contains('|'), "{}: {}", case.name, case.why);
            count += 1;
        }
    }
    assert!(count >= 120, "{count} cases");
}
