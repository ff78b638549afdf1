//! The state of a run: what its journal tells.

use crate::curve::{Curve, Point};
use crate::failures::Failures;
use crate::finals::{FinalSeen, Finalist, Standing};
use crate::leaders::{Leader, Leaders};
use crate::scale::Scale;
use std::collections::VecDeque;
use std::time::Duration;
use tunesmith_core::judge::noise::Noise;
use tunesmith_core::{Progress, Stop};
use tunesmith_store::{Gained, Header, LimitKind, NewEvaluation, arguments};

/// Number of evaluations that the rate is taken from.
const RECENT: usize = 50;

/// A run, as far as its journal tells: a value that each line updates.
#[derive(Clone, Debug)]
pub struct Watched {
    pub(crate) header: Header,
    pub(crate) scale: Scale,
    /// The default configuration as the journal writes it, until it was evaluated.
    default: Option<String>,
    /// The rank of the default configuration, once it was evaluated.
    pub(crate) default_index: Option<u128>,
    pub(crate) evaluations: u64,
    /// Seconds from the start of the run to its last line.
    pub(crate) clock: f64,
    pub(crate) curve: Curve,
    pub(crate) leaders: Leaders,
    pub(crate) failures: Failures,
    pub(crate) noise: Noise,
    pub(crate) finals: FinalSeen,
    pub(crate) repeated: usize,
    /// Seconds of the latest evaluations.
    recent: VecDeque<f64>,
    lines: u64,
}

/// A configuration as the page of leaders lists it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) standing: Standing,
    pub(crate) is_default: bool,
    /// The score that counts: of the final, or else of the search.
    pub(crate) score: f64,
    /// Number of visits of the final.
    pub(crate) visits: usize,
    /// The score of the search, if it is known.
    pub(crate) searched: Option<f64>,
    /// The number of its evaluation, if it is known.
    pub(crate) evaluation: Option<u64>,
    pub(crate) config: String,
}

impl Watched {
    /// Returns the state of a run whose journal has this header and no other line yet.
    pub fn new(header: &Header) -> Self {
        Self {
            scale: Scale::recorded(header.objective.as_ref()),
            default: header.default.clone().map(|config| serde_json::Value::from(config).to_string()),
            header: header.clone(),
            default_index: None,
            evaluations: 0,
            clock: 0.0,
            curve: Curve::new(),
            leaders: Leaders::default(),
            failures: Failures::default(),
            noise: Noise::default(),
            finals: FinalSeen::default(),
            repeated: 0,
            recent: VecDeque::new(),
            lines: 0,
        }
    }

    /// Takes a line that the journal gained.
    pub fn add(&mut self, gained: &Gained<'_>) {
        self.lines += 1;
        match gained {
            Gained::Evaluation(new) => self.evaluated(new),
            Gained::Again(again) => {
                self.clock = self.clock.max(again.entry.clock);
                self.finals.add(again, &self.scale);
            }
            Gained::Verdict(verdict) => self.finals.decide(verdict),
        }
    }

    /// Returns the number of lines after the header that were taken.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    pub(crate) fn set_repeated(&mut self, repeated: usize) {
        self.repeated = repeated;
    }

    fn evaluated(&mut self, new: &NewEvaluation<'_>) {
        if let Some(limit) = new.replaces {
            let count = self.failures.of_limit(limit);
            *count = count.saturating_sub(1);
        } else {
            self.evaluations += 1;
        }
        // What was cut is measured to its end after the final, whose failures stay.
        if new.replaces != Some(LimitKind::Cut) {
            self.finals.forget();
        }
        self.clock = self.clock.max(new.clock);
        self.recent.push_back(new.clock);
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
        if self.default.as_ref().is_some_and(|default| new.has_config(default)) {
            (self.default, self.default_index) = (None, Some(new.index));
        }
        match (new.failure, new.limit) {
            (_, Some(limit)) => *self.failures.of_limit(limit) += 1,
            (Some(kind), None) => self.failures.add(kind, &new.message().unwrap_or_default()),
            (None, None) => self.measured(new),
        }
    }

    fn measured(&mut self, new: &NewEvaluation<'_>) {
        self.noise.add(&new.times_ms);
        let Some(score) = self.scale.score(new) else { return };
        self.curve.add(Point { evaluation: self.evaluations, clock: new.clock, score });
        if self.leaders.takes(score)
            && let Ok(entry) = new.entry()
        {
            let (index, config, depth) = (new.index, arguments(&entry.config), new.depth);
            self.leaders.add(Leader { index, config, score, depth, evaluation: self.evaluations });
        }
    }

    /// Returns the share of the search that is done, as far as its stop condition tells.
    pub(crate) fn share(&self) -> Option<f64> {
        let stop: Stop = self.header.stop.as_ref()?.parse().ok()?;
        let progress = Progress {
            evaluations: self.evaluations,
            elapsed: Duration::try_from_secs_f64(self.clock).unwrap_or_default(),
            space_size: self.space_size(),
            ..Progress::default()
        };
        stop.share(&progress)
    }

    /// Returns the number of evaluations at which the search certainly ends, if there is one. A run
    /// that continues may have gone beyond it.
    pub(crate) fn limit(&self) -> Option<u64> {
        let stop: Stop = self.header.stop.as_ref()?.parse().ok()?;
        let size = self.space_size();
        let limit = stop.evaluation_limit(size)?;
        Some(if (limit as f64) < size { limit } else { size as u64 }).filter(|limit| *limit >= self.evaluations)
    }

    fn space_size(&self) -> f64 {
        self.header.space_size.parse().unwrap_or(f64::INFINITY)
    }

    /// Returns the number of evaluations a second, of the latest ones.
    pub(crate) fn rate(&self) -> Option<f64> {
        let (first, last) = (self.recent.front()?, self.recent.back()?);
        let rate = (self.recent.len() - 1) as f64 / (last - first);
        (rate.is_finite() && rate > 0.0).then_some(rate)
    }

    /// Returns the configurations of the final and the leaders of the search, the best first.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let leaders = self.leaders.iter().map(|leader| self.row(leader));
        let is_leader = |index: u128| self.leaders.iter().any(|leader| leader.index == index);
        let others = self.finals.finalists().filter(|(index, _)| !is_leader(*index));
        let others = others.filter_map(|(index, finalist)| self.row_of_finalist(index, finalist));
        let mut rows: Vec<Row> = leaders.chain(others).collect();
        rows.sort_by(|a, b| {
            a.standing.cmp(&b.standing).then(a.score.total_cmp(&b.score)).then_with(|| a.config.cmp(&b.config))
        });
        rows
    }

    fn row(&self, leader: &Leader) -> Row {
        let measured = self.finals.finalist(leader.index).and_then(Finalist::measured);
        let (score, visits) = measured.unwrap_or((leader.score, 0));
        Row {
            standing: self.finals.standing(leader.index),
            is_default: self.default_index == Some(leader.index),
            score,
            visits,
            searched: Some(leader.score),
            evaluation: Some(leader.evaluation),
            config: leader.config.clone(),
        }
    }

    /// Returns the row of a configuration of the final that is no leader of the search: a slow default.
    fn row_of_finalist(&self, index: u128, finalist: &Finalist) -> Option<Row> {
        let (score, visits) = finalist.measured()?;
        let (standing, config) = (self.finals.standing(index), finalist.config.clone());
        let is_default = self.default_index == Some(index);
        Some(Row { standing, is_default, score, visits, searched: None, evaluation: None, config })
    }
}
