//! Links between the pages of the repository: files that are there, and headings that are there.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns one line for every dead link of `pages`.
pub(crate) fn dead(pages: &[PathBuf]) -> Vec<String> {
    let mut headings = HashMap::new();
    pages.iter().flat_map(|page| dead_of(page, &mut headings)).collect()
}

fn dead_of(page: &Path, headings: &mut HashMap<PathBuf, Vec<String>>) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
    let folder = page.parent().expect("a page lies in a folder");
    let mut found = Vec::new();
    for (line, target) in targets(&text) {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let (file, anchor) =
            target.split_once('#').map_or((target.as_str(), None), |(file, anchor)| (file, Some(anchor)));
        let path = if file.is_empty() { page.to_path_buf() } else { folder.join(file) };
        let is_there = path.exists() && anchor.is_none_or(|anchor| has_heading(&path, anchor, headings));
        if !is_there {
            found.push(format!("{}:{line}: {target}", page.display()));
        }
    }
    found
}

fn has_heading(path: &Path, anchor: &str, headings: &mut HashMap<PathBuf, Vec<String>>) -> bool {
    let known =
        headings.entry(path.to_path_buf()).or_insert_with(|| anchors(&fs::read_to_string(path).unwrap_or_default()));
    known.iter().any(|known| known == anchor)
}

/// Returns the targets of the links and pictures in `text` with their lines, outside of code.
pub(crate) fn targets(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        let line = without_code(line);
        let mut rest = line.as_str();
        while let Some(begin) = rest.find("](") {
            rest = &rest[begin + 2..];
            let Some(end) = rest.find(')') else { break };
            found.push((number, rest[..end].to_string()));
        }
    }
    found
}

/// Returns the anchors of the headings of `text`, as GitHub and mdBook make them: small letters,
/// digits, `-` and `_`, blanks as `-`, and a number behind a repeated one.
pub(crate) fn anchors(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut times: HashMap<String, usize> = HashMap::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let title = title.trim().to_lowercase();
        let kept = title.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        let anchor: String = kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect();
        let seen = times.entry(anchor.clone()).or_default();
        found.push(if *seen == 0 { anchor } else { format!("{anchor}-{seen}") });
        *seen += 1;
    }
    found
}

/// Returns the lines of `text` outside of fenced blocks, with their numbers.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut in_block = false;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let is_fence = line.trim_start().starts_with("```");
        if !in_block && !is_fence {
            found.push((number, line));
        }
        in_block ^= is_fence;
    }
    found
}

fn without_code(line: &str) -> String {
    // Texts between two backticks are the odd ones, unless the last has no end.
    let parts: Vec<&str> = line.split('`').collect();
    let is_code = |place: usize| place % 2 == 1 && place + 1 < parts.len();
    let kept = parts.iter().enumerate().map(|(place, part)| if is_code(place) { "" } else { part });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_outside_of_code_are_found() {
        let text = "see [a](b.md#c), ![p](p.svg)\n```\n[x](y)\n```\n`[x](y)` and [`d`](e)\n";
        let expected = [(1, "b.md#c"), (1, "p.svg"), (5, "e")];
        assert_eq!(targets(text), expected.map(|(line, target)| (line, target.to_string())));
    }

    #[test]
    fn headings_have_the_anchors_of_github() {
        let text = "# `[problem]`\n## Kernel Tuner's T1 files\n## Again\n```\n# no heading\n```\n## Again\n#no\n";
        assert_eq!(anchors(text), ["problem", "kernel-tuners-t1-files", "again", "again-1"]);
    }

    #[test]
    fn a_planted_dead_file_and_a_planted_dead_heading_are_found() {
        let folder = super::super::empty_folder("planted_links");
        let page = folder.join("page.md");
        fs::write(&page, "# One\n[a](page.md#one) [b](#one) [c](absent.md) [d](#two) [e](https://a.b)\n").unwrap();
        let found = dead(&[page]);
        let ends: Vec<&str> =
            found.iter().filter_map(|line| line.rsplit_once(": ").map(|(_, target)| target)).collect();
        assert_eq!(ends, ["absent.md", "#two"]);
    }
}
