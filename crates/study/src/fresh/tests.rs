use super::*;
use std::path::Path;

fn config(tile: i64) -> Config {
    vec![("TILE".to_string(), tile.into())]
}

fn inputs() -> Vec<Input> {
    [8.0, 1024.0].map(|n| [("N".to_string(), n)].into()).to_vec()
}

/// Judges a chooser with this answer by these measurements.
fn judged(choice: i64, turns: &mut Turns<'_>) -> Result<Option<Judgement>, Error> {
    let problem =
        Problem::parse("[problem]\nsizes = { N = 8 }\n[parameters]\nTILE = [1, 2]\n", Path::new(".")).unwrap();
    let chooser = JudgedChooser {
        device: "d",
        default: &config(1),
        choose: &|_| Some(config(choice)),
        made_from: &inputs(),
        measured: &[],
        seed: 7,
    };
    judge(&chooser, &problem, turns)
}

#[test]
fn a_chooser_that_answers_with_the_default_is_as_fast_as_it_and_measures_nothing() {
    let judgement = judged(1, &mut |_, _| panic!("nothing is measured")).unwrap().unwrap();
    assert_eq!((judgement.sizes, judgement.defaults, judgement.speed), (20, 20, 1.0));
    assert!(!judgement.is_faster() && judgement.ci95 == Some((1.0, 1.0)), "{judgement:?}");
}

#[test]
fn an_interrupt_ends_the_judgement_without_one() {
    assert!(judged(2, &mut |_, _| Ok(None)).unwrap().is_none());
}

#[test]
fn sizes_that_the_problem_refuses_are_passed_over_and_the_first_reason_is_told_if_all_are() {
    let mut tried = 0;
    let error = judged(2, &mut |_, choice| {
        tried += usize::from(choice.is_some());
        Err(Error::request(format!("refused {tried}"), None))
    });
    assert_eq!((tried, error.unwrap_err().to_string().as_str()), (60, "refused 1"));
}

#[test]
fn a_failed_device_ends_the_judgement() {
    let mut tried = 0;
    let failed = judged(2, &mut |_, _| {
        tried += 1;
        Err(Error::write(Path::new("full"))(std::io::Error::other("no space")))
    });
    assert!(failed.is_err() && tried == 1, "{failed:?}");
}

#[test]
fn a_tally_counts_what_is_slower_beyond_doubt_and_names_the_slowest() {
    let mut tally = Tally::default();
    let at = |n: f64| -> Input { [("N".to_string(), n)].into() };
    tally.add(SizeComparison::Speed(0.5, Some((0.4, 0.6))), at(16.0));
    tally.add(SizeComparison::Speed(0.9, Some((0.8, 1.1))), at(32.0));
    tally.add(SizeComparison::Speed(0.8, None), at(64.0));
    tally.add(SizeComparison::Failed, at(128.0));
    tally.add(SizeComparison::Unusable, at(256.0));
    let (default, none) = (config(1), |_: &Input| None);
    let chooser =
        JudgedChooser { device: "d", default: &default, choose: &none, made_from: &[], measured: &[], seed: 7 };
    let judgement = tally.judgement(&chooser).unwrap();
    assert_eq!((judgement.sizes, judgement.failed, judgement.slower), (3, 1, 1));
    assert_eq!((judgement.slowest, judgement.slowest_at), (0.5, at(16.0)));
    assert!(!judgement.ci95.is_none_or(|(low, _)| low > 1.0));
    assert_eq!(Tally::default().judgement(&chooser), None);
    let failed = Tally { failed: 20, ..Tally::default() }.judgement(&chooser).unwrap();
    assert_eq!((failed.sizes, failed.failed, failed.speed, failed.is_faster()), (0, 20, 0.0, false));
}
