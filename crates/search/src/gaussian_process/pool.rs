//! The candidates for the next configuration.

use super::acquisition::{Acquisition, Side};
use super::features::Features;
use super::launch::Trends;
use super::opinion::Opinion;
use super::seconds::Seconds;
use crate::candidates::{self, is_listed};
use rand::RngExt as _;
use std::collections::HashSet;
use tunesmith_core::{Request, Rng, View};
use tunesmith_model::{Candidates, GaussianProcess, JoinedRows, LevelForecast, Posterior, Prediction, weighted_trends};
use tunesmith_space::{ConfigId, Space};

/// Number of points from which on at most [`width`] candidates are kept.
const WIDE_UNTIL: usize = 50;
/// The fewest and the most candidates kept from then on.
const WIDTH: [usize; 2] = [512, 8192];
/// Points squared times candidates of a new fit: a tenth of a second in all.
const WORK: usize = 200_000_000;
/// Number of random configurations from which a large space's candidates are chosen.
const DRAWS: usize = 4096;
/// Maximum number of neighbours of one of the best. If there are more, a random part is taken.
const NEIGHBOURS: usize = 512;
/// The part of [`width`] that a round of a walk may add.
const SHARE: usize = 16;
/// Maximum number of rounds of a walk.
const WALKS: usize = 3;
/// Number of best configurations whose neighbours are candidates.
const LEADERS: usize = 5;

/// Configurations with what the model knows of each.
#[derive(Debug)]
struct Listing {
    configs: Vec<ConfigId>,
    rows: JoinedRows,
    /// The height of every trend at each configuration, trend by trend.
    heights: Vec<Vec<f64>>,
}

impl Listing {
    fn new(space: &Space, features: &Features, trends: &Trends, configs: Vec<ConfigId>) -> Self {
        Self { rows: features.rows(space, &configs).into(), heights: trends.at(space, &configs), configs }
    }

    /// Returns the configurations at `indices`, in that order.
    fn select(&self, indices: &[usize]) -> Self {
        let picked = |heights: &Vec<f64>| indices.iter().map(|&index| heights[index]).collect();
        Self {
            configs: indices.iter().map(|&index| self.configs[index]).collect(),
            rows: self.rows.select(indices),
            heights: self.heights.iter().map(picked).collect(),
        }
    }
}

/// The source of candidates, made once for a space.
#[derive(Debug)]
pub(super) struct CandidateSource {
    /// All configurations of a small space.
    listing: Option<Listing>,
    /// Configurations that were good elsewhere.
    promising: Vec<ConfigId>,
}

/// Candidates and their predictions.
#[derive(Debug)]
struct Group {
    configs: Vec<ConfigId>,
    taken: Vec<bool>,
    candidates: Candidates,
    /// The candidates of the models of aspects.
    sides: Vec<Candidates>,
    /// The sum of the trends at each candidate.
    tilts: Vec<f64>,
    /// The predictions of the trees. `None` if those for the whole space serve.
    forecast: Option<LevelForecast>,
    /// The predictions of the seconds. `None` if those for the whole space serve, or if nothing is predicted.
    of_seconds: Option<LevelForecast>,
    /// The gain of each candidate by the models as they are.
    gains: Vec<f64>,
}

impl Group {
    /// Returns the predictions of the process for each candidate.
    fn of_process(&self, at: &PoolScene<'_>) -> Vec<Prediction> {
        let mut predictions = self.candidates.predict(at.posterior);
        predictions.iter_mut().zip(&self.tilts).for_each(|(prediction, tilt)| prediction.mean += tilt);
        predictions
    }

    fn predict(&self, at: &PoolScene<'_>) -> Vec<Prediction> {
        let mut predictions = self.of_process(at);
        let Some(opinion) = at.opinion else { return predictions };
        for (row, prediction) in predictions.iter_mut().enumerate() {
            if let Some(trees) = opinion.forest.prediction(self.forecast.as_ref(), row, self.configs[row]) {
                *prediction = opinion.mix(*prediction, trees);
            }
        }
        predictions
    }

    /// Computes the gain of each candidate.
    fn assess(&mut self, at: &PoolScene<'_>, rule: &Acquisition) {
        let own = |(side, model): (&Candidates, &Side<'_>)| side.predict(&model.posterior);
        let sides: Vec<Vec<Prediction>> = self.sides.iter().zip(at.sides).map(own).collect();
        let mut aspects = Vec::with_capacity(sides.len());
        let mut gain = |(index, prediction): (usize, &Prediction)| {
            aspects.clear();
            aspects.extend(sides.iter().map(|side| side[index]));
            rule.gain(prediction, &aspects)
        };
        self.gains = self.predict(at).iter().enumerate().map(&mut gain).collect();
        self.divide_by_seconds(at);
    }

    /// Divides the gain of each candidate, a logarithm, by the seconds that it may take.
    fn divide_by_seconds(&mut self, at: &PoolScene<'_>) {
        let Some(seconds) = at.seconds else { return };
        for (row, gain) in self.gains.iter_mut().enumerate() {
            let predicted = seconds.forest.prediction(self.of_seconds.as_ref(), row, self.configs[row]);
            *gain -= predicted.map_or(0.0, |predicted| seconds.weight(predicted));
        }
    }

    /// Adds the points that were appended to the models.
    fn follow(&mut self, at: &PoolScene<'_>) {
        self.candidates.follow(at.process);
        if let (Some(opinion), Some(forecast)) = (at.opinion, &mut self.forecast) {
            opinion.forest.renew(forecast);
        }
        match (at.seconds, &mut self.of_seconds) {
            (Some(seconds), Some(forecast)) => seconds.forest.renew(forecast),
            (Some(seconds), forecast) => *forecast = seconds.forest.forecast(at.view.space(), &self.configs),
            (None, _) => {}
        }
        self.sides.iter_mut().zip(at.sides).for_each(|(side, model)| side.follow(model.process));
    }
}

/// The candidates of one fit of the model, updated until the next fit.
#[derive(Debug)]
pub(super) struct Pool {
    groups: Vec<Group>,
    /// All that were found since the fit, unless the pool is whole.
    members: HashSet<ConfigId>,
    /// True if every configuration that was new at the fit is a candidate.
    whole: bool,
}

/// Returns the number of candidates to keep for a model with `points` points.
fn width(points: usize) -> usize {
    if points < WIDE_UNTIL {
        return usize::MAX;
    }
    (WORK / (points * points)).clamp(WIDTH[0], WIDTH[1])
}

/// Returns true if an evaluation of `config` would tell something new.
fn is_new(view: &View<'_>, config: ConfigId) -> bool {
    !view.is_known(Request::timed(config))
}

impl CandidateSource {
    /// Returns the source. Lists the space if it is small enough; otherwise the `promising`
    /// configurations are always candidates.
    pub(super) fn new(space: &Space, (features, trends): (&Features, &Trends), promising: &[ConfigId]) -> Self {
        let list = || Listing::new(space, features, trends, space.iter().collect());
        Self { listing: is_listed(space).then(list), promising: promising.to_vec() }
    }

    /// Returns the candidates for a model just fitted: all new configurations while that is
    /// affordable. Otherwise those with the lowest predicted means, new neighbours of the `leaders`
    /// (best first) and some at random.
    pub(super) fn pool(&self, at: &PoolScene<'_>, leaders: &[ConfigId], rng: &mut Rng) -> Pool {
        let offered = self.offered(at, leaders, rng);
        let width = width(at.process.rows().len());
        let whole = self.listing.is_some() && offered.configs.len() <= width;
        let mut pool = Pool { groups: Vec::new(), members: HashSet::new(), whole };
        if offered.configs.len() <= width {
            pool.add(at, offered);
            return pool;
        }
        let mut chosen = at.low(&offered, width / 4 * 3);
        chosen.extend((0..width / 8).map(|_| rng.random_range(0..offered.configs.len())));
        chosen.sort_unstable();
        chosen.dedup();
        pool.add(at, offered.select(&chosen));
        if self.listing.is_some() {
            pool.add_neighbours(at, &leaders[..leaders.len().min(LEADERS)], rng);
        }
        pool
    }

    /// Returns new configurations to choose from, each once.
    fn offered(&self, at: &PoolScene<'_>, leaders: &[ConfigId], rng: &mut Rng) -> Listing {
        if let Some(listing) = &self.listing {
            let new: Vec<usize> =
                (0..listing.configs.len()).filter(|&index| is_new(at.view, listing.configs[index])).collect();
            return listing.select(&new);
        }
        let space = at.view.space();
        let mut configs: Vec<ConfigId> =
            leaders.iter().take(LEADERS).flat_map(|&leader| neighbours(at.view, leader, rng)).collect();
        configs.extend(self.promising.iter().copied().filter(|&config| is_new(at.view, config)));
        configs.extend((0..DRAWS).map(|_| space.sample(rng)).filter(|&config| is_new(at.view, config)));
        configs.sort_unstable();
        configs.dedup();
        at.listing(configs)
    }
}

/// Returns the indices of the `count` lowest of `means`. There must be more than `count`.
fn lowest(means: &[f64], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..means.len()).collect();
    order.select_nth_unstable_by(count, |&a, &b| means[a].total_cmp(&means[b]).then(a.cmp(&b)));
    order.truncate(count);
    order
}

/// Returns new configurations that differ from `leader` in one parameter, at most [`NEIGHBOURS`].
fn neighbours(view: &View<'_>, leader: ConfigId, rng: &mut Rng) -> Vec<ConfigId> {
    let near = candidates::neighbours(view.space(), leader, NEIGHBOURS, rng);
    near.into_iter().filter(|&config| is_new(view, config)).collect()
}

/// The data needed to predict candidates.
pub(super) struct PoolScene<'a> {
    pub(super) view: &'a View<'a>,
    pub(super) features: &'a Features,
    pub(super) process: &'a GaussianProcess,
    pub(super) posterior: &'a Posterior,
    /// The trends that the process does not explain, and their slopes.
    pub(super) trends: (&'a Trends, &'a [f64]),
    /// The trees, if they have a say.
    pub(super) opinion: Option<&'a Opinion>,
    /// The predictor of seconds, if time limits the run.
    pub(super) seconds: Option<&'a Seconds>,
    /// The models of aspects.
    pub(super) sides: &'a [Side<'a>],
}

impl PoolScene<'_> {
    /// Returns what to add to the process's predictions for the configurations of `listing`.
    fn tilts(&self, listing: &Listing) -> Vec<f64> {
        let (_, slopes) = self.trends;
        weighted_trends(&listing.heights, slopes, listing.configs.len())
    }

    /// Returns the indices of the `count` configurations of `listing` with the lowest means, each model's share of them.
    /// There must be more than `count`.
    fn low(&self, listing: &Listing, count: usize) -> Vec<usize> {
        let means = self.process.means(self.posterior, &listing.rows);
        let means = means.iter().zip(self.tilts(listing)).map(|(mean, tilt)| mean + tilt);
        let mixed = |(mean, &config): (f64, &ConfigId)| {
            let trees = self.opinion.and_then(|opinion| Some((opinion, opinion.forest.listed(config)?)));
            trees.map_or(mean, |(opinion, trees)| opinion.mean(mean, trees))
        };
        let means: Vec<f64> = means.zip(&listing.configs).map(mixed).collect();
        // Those that are low in one aspect alone lie at the ends of a front, or keep a limit.
        let sides = self.sides.iter().map(|side| side.process.means(&side.posterior, &listing.rows));
        let each = count / (1 + self.sides.len());
        let mut low: Vec<usize> = std::iter::once(means).chain(sides).flat_map(|means| lowest(&means, each)).collect();
        low.sort_unstable();
        low.dedup();
        low
    }

    fn listing(&self, configs: Vec<ConfigId>) -> Listing {
        let (trends, _) = self.trends;
        Listing::new(self.view.space(), self.features, trends, configs)
    }
}

impl Pool {
    fn add(&mut self, at: &PoolScene<'_>, listing: Listing) {
        let tilts = at.tilts(&listing);
        let Listing { configs, rows, .. } = listing;
        if !self.whole {
            self.members.extend(&configs);
        }
        let taken = vec![false; configs.len()];
        let sides = at.sides.iter().map(|side| Candidates::new(side.process, rows.clone())).collect();
        let forecast = at.opinion.and_then(|opinion| opinion.forest.forecast(at.view.space(), &configs));
        let of_seconds = at.seconds.and_then(|seconds| seconds.forest.forecast(at.view.space(), &configs));
        let candidates = Candidates::new(at.process, rows);
        self.groups.push(Group { configs, taken, candidates, sides, tilts, forecast, of_seconds, gains: Vec::new() });
    }

    /// Adds the new neighbours of the `leaders` that were not candidates since the fit.
    pub(super) fn add_neighbours(&mut self, at: &PoolScene<'_>, leaders: &[ConfigId], rng: &mut Rng) {
        let found = if self.whole { Vec::new() } else { self.neighbours(at, leaders, rng) };
        if !found.is_empty() {
            self.add(at, at.listing(found));
        }
    }

    /// Returns the new neighbours of the `leaders` that were not found since the fit.
    fn neighbours(&mut self, at: &PoolScene<'_>, leaders: &[ConfigId], rng: &mut Rng) -> Vec<ConfigId> {
        let mut configs: Vec<ConfigId> = leaders.iter().flat_map(|&leader| neighbours(at.view, leader, rng)).collect();
        configs.retain(|config| !self.members.contains(config));
        configs.sort_unstable();
        configs.dedup();
        self.members.extend(&configs);
        configs
    }

    /// Returns the candidate with the largest gain, a random one of equal
    /// ones. Ignores candidates that are told or in flight. Returns `None` if none is left.
    ///
    /// In a space too large to list, first makes the neighbours of the most promising candidates
    /// candidates, until none is new.
    pub(super) fn choose(&mut self, at: &PoolScene<'_>, rule: &Acquisition, rng: &mut Rng) -> Option<ConfigId> {
        let is_listed = is_listed(at.view.space());
        if !is_listed {
            self.forget(width(at.process.rows().len()));
        }
        self.groups.iter_mut().for_each(|group| {
            group.follow(at);
            group.assess(at, rule);
        });
        if !is_listed {
            self.walk(at, rule, rng);
        }
        loop {
            let (group, index) = self.argmax(rng)?;
            let group = &mut self.groups[group];
            group.taken[index] = true;
            let config = group.configs[index];
            // Others may have evaluated it since, such as a start configuration.
            if is_new(at.view, config) {
                return Some(config);
            }
        }
    }

    /// Drops the neighbours that walks found first, while there are more than `most`. Candidates of the fit stay.
    fn forget(&mut self, most: usize) {
        let mut count: usize = self.groups.iter().skip(1).map(|group| group.configs.len()).sum();
        while count > most {
            count -= self.groups.remove(1).configs.len();
        }
    }

    /// Walks uphill on the acquisition: adds the neighbours of the candidates with the largest
    /// gain, and again from there.
    fn walk(&mut self, at: &PoolScene<'_>, rule: &Acquisition, rng: &mut Rng) {
        for _ in 0..WALKS {
            let promising = self.promising();
            let found = self.neighbours(at, &promising, rng);
            if found.is_empty() {
                return;
            }
            let (found, kept) = (at.listing(found), width(at.process.rows().len()) / SHARE);
            if found.configs.len() <= kept {
                self.add(at, found);
            } else {
                self.add(at, found.select(&at.low(&found, kept)));
            }
            self.groups.iter_mut().last().into_iter().for_each(|group| group.assess(at, rule));
        }
    }

    /// Returns the [`LEADERS`] candidates with the largest gain, the largest first.
    fn promising(&self) -> Vec<ConfigId> {
        let mut gains: Vec<(f64, ConfigId)> = Vec::new();
        for group in &self.groups {
            let own = group.gains.iter().zip(&group.configs).zip(&group.taken);
            gains.extend(own.filter(|(_, taken)| !**taken).map(|((gain, config), _)| (*gain, *config)));
        }
        let larger = |a: &(f64, ConfigId), b: &(f64, ConfigId)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if LEADERS < gains.len() {
            gains.select_nth_unstable_by(LEADERS, larger);
        }
        gains.truncate(LEADERS);
        gains.sort_unstable_by(larger);
        gains.into_iter().map(|(_, config)| config).collect()
    }

    fn argmax(&self, rng: &mut Rng) -> Option<(usize, usize)> {
        let (mut chosen, mut largest, mut equal) = (None, f64::NEG_INFINITY, 0_u32);
        for (g, group) in self.groups.iter().enumerate() {
            let gains = group.gains.iter().copied().enumerate();
            for (index, gain) in gains.filter(|(index, _)| !group.taken[*index]) {
                if gain > largest || chosen.is_none() {
                    (chosen, largest, equal) = (Some((g, index)), gain, 1);
                } else if gain == largest {
                    equal += 1;
                    if rng.random_range(0..equal) == 0 {
                        chosen = Some((g, index));
                    }
                }
            }
        }
        chosen
    }
}
