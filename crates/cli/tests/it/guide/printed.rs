//! Compares what a page shows with what a command printed.
//!
//! Numbers may differ, and so may the unit of a time. A line `...` stands for any number of lines,
//! and `...` within a line for any text. Blanks count as one.

/// Returns true if `printed` is what `shown` shows.
pub(crate) fn agrees(shown: &[String], printed: &str) -> bool {
    let shown: Vec<String> = shown.iter().map(|line| common(line)).collect();
    let printed: Vec<String> = printed.lines().map(common).collect();
    let full = |lines: &[String]| lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    lines_agree(&shown[..full(&shown)], &printed[..full(&printed)])
}

fn lines_agree(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((any, rest)) if any == "..." => (0..=printed.len()).any(|skipped| lines_agree(rest, &printed[skipped..])),
        Some((line, rest)) => {
            printed.split_first().is_some_and(|(first, others)| line_agrees(line, first) && lines_agree(rest, others))
        }
    }
}

/// Returns true if the parts of `shown` between its `...` follow each other in `printed`, the first
/// at its begin and the last at its end.
fn line_agrees(shown: &str, printed: &str) -> bool {
    let Some((first, rest)) = shown.split_once("...") else { return shown == printed };
    let Some(mut left) = printed.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split("...").collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(place) = left.find(part) else { return false };
        left = &left[place + part.len()..];
    }
    left.ends_with(last)
}

/// Returns the line with every number as `#`, every unit of time behind one as `t`, and single
/// blanks.
fn common(line: &str) -> String {
    let mut words: Vec<String> = line.split_whitespace().map(numbers).collect();
    for place in 1..words.len() {
        let unit = words[place].trim_end_matches([')', ',', ';', ':']);
        if words[place - 1].ends_with('#') && ["ns", "us", "ms", "s"].contains(&unit) {
            words[place] = format!("t{}", &words[place][unit.len()..]);
        }
    }
    words.join(" ")
}

fn numbers(word: &str) -> String {
    let mut text = String::new();
    let mut rest = word;
    while let Some(begin) = rest.find(|letter: char| letter.is_ascii_digit()) {
        text.push_str(&rest[..begin]);
        text.push('#');
        let digits = &rest[begin..];
        let end = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
        // A point or comma between digits belongs to the number.
        let fraction =
            digits[end..].strip_prefix(['.', ',']).filter(|tail| tail.starts_with(|l: char| l.is_ascii_digit()));
        rest = match fraction {
            Some(tail) => tail.trim_start_matches(|letter: char| letter.is_ascii_digit()),
            None => &digits[end..],
        };
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agree(shown: &str, printed: &str) -> bool {
        agrees(&shown.lines().map(str::to_string).collect::<Vec<_>>(), printed)
    }

    #[test]
    fn numbers_units_and_blanks_may_differ_and_nothing_else() {
        assert!(agree("best 1.5 ms  (95 %: 1 ms to 2 ms)\n", "best 850 us (95 %: 840.1 us to 1.2 s)"));
        assert!(!agree("best 1.5 ms", "best 1.5 GB"));
        assert!(!agree("best 1.5 ms", "worst 1.5 ms"));
        assert!(!agree("one\ntwo", "one"));
        assert!(!agree("one", "one\ntwo"));
    }

    #[test]
    fn three_points_stand_for_lines_or_for_a_part_of_a_line() {
        assert!(agree("...\nlast", "first\nsecond\nlast\n"));
        assert!(agree("...\nlast", "last"));
        assert!(agree("a ... z", "a b c z"));
        assert!(agree("... z", "y z") && agree("a ...", "a b"));
        assert!(!agree("a ... z", "b z"));
        assert!(!agree("...\nlast", "last\nfirst"));
    }
}
