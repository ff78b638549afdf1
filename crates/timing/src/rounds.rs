//! Chooses the number of trees of a timing model.

use crate::Error;
use crate::folds::{Fold, FoldBy, folds};
use crate::frame::frame as frame_of;
use crate::groups::Group;
use crate::held_out::chosen;
use crate::rows::rows;
use crate::settings::TimingSettings;
use crate::unseen::unseen;
use serde::Serialize;
use tunesmith_choose::timing::{Frame, Unseen};
use tunesmith_model::{BoostedSettings, Regressor as _};

/// The numbers to try, from the paper's up. Each is twice the one before, since the error changes
/// little in between.
const RUNGS: [usize; 5] = [100, 200, 400, 800, 1600];

/// Maximum rows times rounds of a fit: some seconds on one core. It is a number rather than a
/// measured time, so that the same training set gives the same model everywhere.
const MOST_WORK: usize = 40_000_000;

/// The chosen number of trees, and the evidence for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoundsChoice {
    /// The number.
    pub rounds: usize,
    /// The unit left out to try numbers. `None` if the number was given or nothing could be left
    /// out.
    pub left_out: Option<FoldBy>,
    /// The numbers that were tried.
    pub tried: Vec<Rung>,
}

/// A number of trees that was tried.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rung {
    /// The number.
    pub rounds: usize,
    /// Root mean square error of the logarithm of the speed on the part left out, about its mean in
    /// each recording. An offset that all configurations of an input on a device share does not
    /// affect any choice.
    pub error: f64,
    /// The speed of the configuration predicted best in the part left out, relative to the fastest
    /// there: the mean over recordings.
    pub chosen_over_best: f64,
}

/// Predictions of a model for each recording of a fold's test and each of its rows.
type Predictions = Vec<Vec<f64>>;

/// Returns the number of trees for `groups`, whose frame is `frame`: the number in the settings, or
/// else the one with the least error in cross-validation, the smallest of equal ones. Also judges the
/// choice for the devices or inputs left out. Costs a fit of the most trees for each of
/// at most four folds.
///
/// # Errors
/// The settings of the trees are out of range.
pub(crate) fn choose(
    frame: &Frame,
    groups: &[Group],
    settings: &TimingSettings,
) -> Result<(RoundsChoice, Option<(FoldBy, Unseen)>), Error> {
    let fixed = |rounds| Ok((RoundsChoice { rounds, left_out: None, tried: Vec::new() }, None));
    let Some((left_out, folds)) = folds(groups, settings.seed) else {
        return fixed(settings.rounds.unwrap_or(settings.trees.rounds));
    };
    let numbers = match settings.rounds {
        Some(rounds) if left_out != FoldBy::Devices => return fixed(rounds),
        Some(rounds) => vec![rounds],
        None => affordable(groups.iter().map(|group| group.rows.len()).sum()),
    };
    let predictions = predictions(frame, &folds, &numbers, settings)?;
    let zeta = settings.zeta_speedup.ln();
    let tried: Vec<Rung> =
        numbers.iter().zip(&predictions).map(|(rounds, found)| rung(*rounds, &folds, found, zeta)).collect();
    let best = least(&tried);
    let unseen = match left_out {
        FoldBy::Devices | FoldBy::Inputs => unseen(&frame.parameters, &folds, &predictions[best]),
        FoldBy::Configurations => None,
    };
    let unseen = unseen.map(|unseen| (left_out, unseen));
    let left_out = settings.rounds.is_none().then_some(left_out);
    Ok((RoundsChoice { rounds: numbers[best], left_out, tried }, unseen))
}

/// Returns the numbers whose fit of `rows` is affordable; the smallest number in any case.
fn affordable(rows: usize) -> Vec<usize> {
    let count = RUNGS.iter().filter(|rounds| rows.saturating_mul(**rounds) <= MOST_WORK).count();
    RUNGS[..count.max(1)].to_vec()
}

/// Returns the place of the least error, the first of equal ones.
fn least(tried: &[Rung]) -> usize {
    (0..tried.len()).min_by(|a, b| tried[*a].error.total_cmp(&tried[*b].error)).unwrap_or(0)
}

/// Returns the predictions for the test of each fold, for each of `numbers`. Each fold is fitted
/// only once: the first trees of a fit are those of a fit with fewer rounds.
fn predictions(
    frame: &Frame,
    folds: &[Fold],
    numbers: &[usize],
    settings: &TimingSettings,
) -> Result<Vec<Vec<Predictions>>, Error> {
    let zeta = settings.zeta_speedup.ln();
    let most = numbers.iter().copied().max().unwrap_or(settings.trees.rounds);
    let trees = BoostedSettings { rounds: most, ..settings.trees.clone() };
    let mut all = vec![Vec::new(); numbers.len()];
    for fold in folds {
        let frame = frame_of(&frame.parameters, &frame.derived, &fold.train);
        let train = rows(&frame, &fold.train, zeta);
        let model = train.fit(&trees, settings.seed)?;
        let table = |group: &Group| rows(&frame, std::slice::from_ref(group), zeta).table;
        let tables: Vec<_> = fold.test.iter().map(table).collect();
        for (rounds, found) in numbers.iter().zip(&mut all) {
            let model = model.first(*rounds);
            found.push(tables.iter().map(|table| model.predict_all(table)).collect());
        }
    }
    Ok(all)
}

fn rung(rounds: usize, folds: &[Fold], predictions: &[Predictions], zeta: f64) -> Rung {
    let pairs = folds.iter().zip(predictions).flat_map(|(fold, predictions)| fold.test.iter().zip(predictions));
    let (mut squares, mut count, mut speeds) = (0.0, 0, Vec::new());
    for (group, predicted) in pairs {
        let errors: Vec<f64> =
            group.rows.iter().zip(predicted).map(|((_, ms), found)| found - group.target(*ms, zeta)).collect();
        let mean = errors.iter().sum::<f64>() / errors.len().max(1) as f64;
        squares += errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>();
        count += errors.len();
        speeds.extend(chosen(group, predicted).map(|(best, _)| best));
    }
    Rung {
        rounds,
        error: (squares / count.max(1) as f64).sqrt(),
        chosen_over_best: speeds.iter().sum::<f64>() / speeds.len().max(1) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use std::collections::BTreeMap;
    use tunesmith_choose::timing::Feature;
    use tunesmith_core::Rng;
    use tunesmith_model::BoostedTrees;
    use tunesmith_space::{Parameter, Value};

    #[test]
    fn the_least_error_wins_and_of_equal_ones_the_fewest_trees() {
        let rung = |rounds, error| Rung { rounds, error, chosen_over_best: 1.0 };
        assert_eq!(least(&[rung(100, 0.3), rung(200, 0.2), rung(400, 0.2), rung(800, 0.25)]), 1);
    }

    #[test]
    fn many_rows_are_tried_with_fewer_trees() {
        assert_eq!(affordable(7000), RUNGS);
        assert_eq!(affordable(100_000), [100, 200, 400]);
        assert_eq!(affordable(10_000_000), [100]);
    }

    /// 40 configurations of three inputs. The last input is unlike the others. Every seventh
    /// configuration fails.
    fn groups() -> Vec<Group> {
        let time = |n: i64, x: i64| 1.0 + (x - 4 * n).abs() as f64 + f64::from(u8::from(n == 5)) * (x % 3) as f64;
        let row = |n: i64, x: i64| (vec![Value::Int(x)], (x % 7 != 6).then(|| time(n, x)));
        let group = |n: i64| Group {
            device: "a".to_string(),
            device_features: BTreeMap::new(),
            sizes: vec![("N".to_string(), Value::Int(n))],
            reference_ms: time(n, 0),
            rows: (0..40).map(|x| row(n, x)).collect(),
        };
        [1, 2, 5].map(group).to_vec()
    }

    fn parameters() -> [Parameter; 1] {
        [Parameter::new("X", (0..40).map(Value::Int).collect::<Vec<_>>()).unwrap()]
    }

    /// Returns the error with `rounds` trees. Makes a fit for this number and each input left out.
    fn refitted(groups: &[Group], rounds: usize, settings: &TimingSettings) -> f64 {
        let (zeta, mut errors) = (settings.zeta_speedup.ln(), Vec::new());
        for test in groups {
            let train: Vec<Group> = groups.iter().filter(|other| other.input() != test.input()).cloned().collect();
            let frame = frame_of(&parameters(), &[], &train);
            let known = rows(&frame, &train, zeta);
            let trees = BoostedSettings { rounds, ..settings.trees.clone() };
            let mut rng = Rng::seed_from_u64(settings.seed);
            let model = BoostedTrees::fit(&known.table, &known.targets, &trees, &mut rng).unwrap();
            let error = |(values, ms): &(Vec<Value>, Option<f64>)| {
                let number = |feature: &Feature| if feature.name == "X" { &values[0] } else { &test.sizes[0].1 };
                let row: Vec<f64> = frame.features.iter().map(|feature| number(feature).as_float().unwrap()).collect();
                model.predict(&row) - ms.map_or(zeta, |ms| (test.reference_ms / ms).ln())
            };
            let own: Vec<f64> = test.rows.iter().map(error).collect();
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            errors.extend(own.iter().map(|error| error - mean));
        }
        (errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64).sqrt()
    }

    #[test]
    fn one_fit_for_each_fold_tells_what_a_fit_for_each_number_would() {
        let (groups, numbers) = (groups(), [1, 4, 15, 60]);
        let trees = BoostedSettings { subsample: 0.7, ..BoostedSettings::default() };
        let settings = TimingSettings { trees, seed: 3, ..TimingSettings::default() };
        let frame = frame_of(&parameters(), &[], &groups);
        let (by, folds) = folds(&groups, settings.seed).unwrap();
        assert_eq!((by, folds.len()), (FoldBy::Inputs, 3));
        let predictions = predictions(&frame, &folds, &numbers, &settings).unwrap();
        let zeta = settings.zeta_speedup.ln();
        for (rounds, found) in numbers.iter().zip(&predictions) {
            let (found, expected) = (rung(*rounds, &folds, found, zeta), refitted(&groups, *rounds, &settings));
            assert!((found.error - expected).abs() < 1e-9, "{rounds}: {found:?}, {expected}");
        }
    }

    #[test]
    fn a_number_that_is_given_stays_and_one_that_is_not_is_the_best_of_those_tried() {
        let groups = groups();
        let frame = frame_of(&parameters(), &[], &groups);
        let choice = |rounds| choose(&frame, &groups, &TimingSettings { rounds, ..TimingSettings::default() }).unwrap();
        let (given, unseen) = choice(Some(7));
        assert_eq!((given, unseen), (RoundsChoice { rounds: 7, left_out: None, tried: Vec::new() }, None));
        let (own, unseen) = choice(None);
        assert_eq!((own.left_out, own.tried.len()), (Some(FoldBy::Inputs), RUNGS.len()));
        let (by, judged) = unseen.unwrap();
        assert!(by == FoldBy::Inputs && judged.devices.len() == 1 && judged.robust <= judged.robust_of_5, "{judged:?}");
        let least = own.tried.iter().map(|rung| rung.error).fold(f64::INFINITY, f64::min);
        let chosen = own.tried.iter().find(|rung| rung.rounds == own.rounds).unwrap();
        assert_eq!(chosen.error, least);
    }
}
