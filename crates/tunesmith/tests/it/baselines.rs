//! The exact expectations of random search are equal to those published for the recordings.

#![allow(clippy::print_stdout)]

use std::path::PathBuf;
use tunesmith::core::Recording;
use tunesmith::core::recording::Row;
use tunesmith::store::import;
use tunesmith::study::{CompareOptions, compare};

#[allow(clippy::disallowed_methods)] // the environment names the test data
fn recordings(folder: &str, suffix: &str) -> Option<Vec<PathBuf>> {
    let named = std::env::var_os("TUNESMITH_SHARED").map(PathBuf::from);
    let shared = named.unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")));
    let Ok(entries) = std::fs::read_dir(shared.join(folder)) else {
        println!("skipped: no shared data at {}; set TUNESMITH_SHARED", shared.display());
        return None;
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.to_string_lossy().ends_with(suffix)).collect();
    paths.sort();
    Some(paths)
}

fn random(recordings: Vec<PathBuf>) -> tunesmith::study::Comparison {
    let strategies = vec!["random".to_string()];
    compare(&CompareOptions { recordings, strategies, repeats: 1, budget: 400, ..CompareOptions::default() }).unwrap()
}

#[test]
fn random_search_equals_the_published_row_to_three_digits() {
    let Some(recordings) = recordings("recordings", ".csv.gz") else { return };
    assert_eq!(recordings.len(), 9);
    let comparison = random(recordings);
    let overall = &comparison.overall[0];
    for (budget, expected) in [("25", ".789"), ("50", ".836"), ("100", ".874"), ("200", ".908"), ("400", ".936")] {
        assert_eq!(format!("{:.3}", overall.rel[budget]), format!("0{expected}"), "rel@{budget}");
    }
    for (level, expected) in [("1.10", "115"), ("1.05", "244"), ("1.01", "1277")] {
        assert_eq!(format!("{:.0}", overall.ert[level]), expected, "ERT {level}");
    }
}

/// Returns the number of draws with replacement after which the best so far is within 1.10 of the
/// optimum on average. n draws contain none of the fastest i with probability (1 - i/N)^n.
fn draws_with_replacement(recording: &Recording) -> u64 {
    let mut times: Vec<f64> = recording.rows().iter().filter_map(Row::time_ms).collect();
    times.sort_by(f64::total_cmp);
    let missed = |fastest: usize, draws: u64| (1.0 - fastest as f64 / times.len() as f64).powf(draws as f64);
    let share = |at: usize, draws| missed(at, draws) - missed(at + 1, draws);
    let mean = |draws| times.iter().enumerate().map(|(at, time)| time * share(at, draws)).sum::<f64>();
    (1..).find(|draws| mean(*draws) <= 1.1 * times[0]).unwrap()
}

#[test]
fn random_search_needs_about_as_many_tests_on_the_counter_papers_data_as_known() {
    let Some(recordings) = recordings("counters", ".csv.gz") else { return };
    let of_the_paper = |name: &str| -> PathBuf {
        let file = format!("paper-coulomb-{name}.csv.gz");
        recordings.iter().find(|path| path.ends_with(&file)).unwrap().clone()
    };
    let paths = ["680", "750", "1070", "2080"].map(of_the_paper);
    // The known numbers are for draws with replacement. Without it, as here, slightly fewer are
    // needed.
    let known = paths.each_ref().map(|path| draws_with_replacement(&import(path).unwrap()));
    assert_eq!(known, [19, 21, 32, 16]);
    let metric: Vec<Option<u64>> =
        random(paths.into()).results.iter().map(|score| score.measures.paper_metric).collect();
    assert_eq!(metric, [Some(18), Some(20), Some(30), Some(15)]);
}

#[test]
fn drawing_with_replacement_counts_repeats_as_the_papers_do() {
    let Some(recordings) = recordings("counters", ".csv.gz") else { return };
    let of_the_paper = |path: &&PathBuf| path.to_string_lossy().contains("paper-coulomb-");
    let recordings: Vec<PathBuf> = recordings.iter().filter(of_the_paper).cloned().collect();
    let exact: Vec<u64> = recordings.iter().map(|path| draws_with_replacement(&import(path).unwrap())).collect();
    let strategies = vec!["random(replacement=true)".to_string()];
    let options = CompareOptions { recordings, strategies, repeats: 2000, budget: 60, ..CompareOptions::default() };
    let found = compare(&options).unwrap().results;
    for (exact, found) in exact.iter().zip(&found) {
        let found = found.measures.paper_metric.unwrap();
        assert!(found.abs_diff(*exact) <= 1, "{found}, where {exact} are known");
    }
}
