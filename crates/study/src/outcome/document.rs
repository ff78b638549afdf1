//! The JSON form of a run's outcome: a contract with other programs. See `tune --json` in the
//! interface.

use super::{Candidate, DefaultComparison, ModelledLimit, Outcome, RegretClaim, SecondsOfRun};
use crate::FrontMember;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::path::Path;
use tunesmith_core::{Cuts, Gain, Objective};
use tunesmith_explain::{serialize_cuts, serialize_known_gain};
use tunesmith_propose::ProposalReport;
use tunesmith_store::DriftLine;

/// An [`Outcome`] as JSON.
#[derive(Clone, Debug, Serialize)]
pub struct OutcomeDocument<'a> {
    problem: &'a str,
    device: &'a str,
    strategy: String,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    seed: u64,
    objective: &'a Objective,
    stop_reason: String,
    state: &'static str,
    evaluations: u64,
    resumed: usize,
    failed: BTreeMap<&'static str, usize>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "cuts")]
    cut: Option<Cuts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unscored: Option<(usize, &'a str)>,
    verified: bool,
    better_than_default: bool,
    /// Of the best, and therefore never below equality.
    speedup: Option<&'a DefaultComparison>,
    /// The best of the others, if the default is the best.
    #[serde(skip_serializing_if = "Option::is_none")]
    contender: Option<ContenderDocument<'a>>,
    default: Option<CandidateDocument<'a>>,
    best: Option<CandidateDocument<'a>>,
    search_best: Option<CandidateDocument<'a>>,
    ties: Vec<CandidateDocument<'a>>,
    not_compared: Vec<CandidateDocument<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    equal_code: Vec<CandidateDocument<'a>>,
    #[serde(skip_serializing_if = "<[FrontMember]>::is_empty")]
    front: &'a [FrontMember],
    finalists: usize,
    failed_again: Vec<CandidateDocument<'a>>,
    drift: Option<DriftLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<ModelledLimit>,
    #[serde(skip_serializing_if = "<[RegretClaim]>::is_empty")]
    regret: &'a [RegretClaim],
    #[serde(skip_serializing_if = "Option::is_none")]
    proposals: Option<&'a ProposalReport>,
    space_size: String,
    wall_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    simulated_seconds: Option<f64>,
    seconds: SecondsOfRun,
    out: &'a Path,
}

/// The contender of a default that is the best, compared with it, as JSON.
#[derive(Clone, Debug, Serialize)]
struct ContenderDocument<'a> {
    config: &'a Map<String, Json>,
    index: String,
    #[serde(flatten)]
    comparison: &'a DefaultComparison,
}

impl<'a> ContenderDocument<'a> {
    fn new(comparison: &'a DefaultComparison) -> Self {
        Self { config: &comparison.config, index: comparison.contender.to_string(), comparison }
    }
}

/// A [`Candidate`] as JSON.
#[derive(Clone, Debug, Serialize)]
pub struct CandidateDocument<'a> {
    config: &'a Map<String, Json>,
    index: String,
    status: &'static str,
    time_ms: Option<f64>,
    ci95_ms: Option<(f64, f64)>,
    first_time_ms: Option<f64>,
    times_ms: &'a [f64],
    #[serde(skip_serializing_if = "<[f64]>::is_empty")]
    final_times_ms: &'a [f64],
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parts_ms: &'a BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    values: &'a BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_ci95: Option<(f64, f64)>,
    /// The gain over the default.
    #[serde(flatten, skip_serializing_if = "Option::is_none", serialize_with = "serialize_known_gain")]
    gain: Option<Gain>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

/// Writes cuts in files.
pub(crate) fn cuts<S: Serializer>(cuts: &Option<Cuts>, serializer: S) -> Result<S::Ok, S::Error> {
    cuts.as_ref().map_or_else(|| Err(S::Error::custom("no cuts")), |cuts| serialize_cuts(cuts, serializer))
}

impl<'a> OutcomeDocument<'a> {
    pub(super) fn new(outcome: &'a Outcome) -> Self {
        let compared =
            |candidate| CandidateDocument { gain: outcome.gain(candidate), ..CandidateDocument::new(candidate) };
        let one = |candidate: &'a Option<Candidate>| candidate.as_ref().map(compared);
        let all = |candidates: &'a [Candidate]| candidates.iter().map(compared).collect();
        Self {
            problem: &outcome.problem,
            device: &outcome.device,
            strategy: outcome.strategy.to_string(),
            notes: &outcome.notes,
            seed: outcome.seed,
            objective: &outcome.objective,
            stop_reason: outcome.stop_reason.to_string(),
            state: outcome.state.word(),
            evaluations: outcome.evaluations,
            resumed: outcome.resumed,
            cut: outcome.cut,
            failed: outcome.failed.iter().map(|(kind, count)| (kind.word(), *count)).collect(),
            unscored: outcome.unscored.as_ref().map(|unscored| (unscored.count, unscored.reason.as_str())),
            verified: outcome.verified == Some(true),
            better_than_default: outcome.better_than_default(),
            speedup: outcome.speedup(),
            contender: outcome.contender().map(ContenderDocument::new),
            default: one(&outcome.default),
            best: one(&outcome.best),
            search_best: one(&outcome.search_best),
            ties: all(&outcome.ties),
            not_compared: all(&outcome.not_compared),
            equal_code: all(&outcome.equal_code),
            front: &outcome.front,
            finalists: outcome.finalists,
            failed_again: all(&outcome.failed_again),
            drift: outcome.drift,
            limit: outcome.limit.clone(),
            regret: &outcome.regret,
            proposals: outcome.proposals.as_ref(),
            space_size: outcome.space_size.to_string(),
            wall_seconds: outcome.wall_seconds,
            simulated_seconds: outcome.simulated_seconds,
            seconds: outcome.seconds,
            out: &outcome.out,
        }
    }
}

impl<'a> CandidateDocument<'a> {
    /// Creates the JSON form of a candidate that is compared with nothing.
    pub fn new(candidate: &'a Candidate) -> Self {
        Self {
            config: &candidate.config,
            index: candidate.index.to_string(),
            status: candidate.status_word(),
            time_ms: candidate.time_ms,
            ci95_ms: candidate.ci95_ms,
            first_time_ms: candidate.first_time_ms,
            times_ms: &candidate.times_ms,
            final_times_ms: &candidate.final_times_ms,
            parts_ms: &candidate.parts_ms,
            values: &candidate.values,
            value: candidate.value,
            value_ci95: candidate.value_ci95,
            gain: None,
            message: candidate.failure.as_ref().map(|failure| failure.message.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tunesmith_core::{Direction, Failure, FailureKind, Gain, RunState, Source, StopReason};
    use tunesmith_space::{Parameter, Space};

    /// The document of the outcome below. Other programs read exactly these bytes.
    const GOLDEN: &str = include_str!("golden.json");

    fn candidate(space: &Space, rank: u128) -> Candidate {
        Candidate {
            config: Map::from_iter([("X".to_string(), json!(rank as u64))]),
            index: space.id(rank).unwrap(),
            failure: None,
            time_ms: Some(1.5),
            ci95_ms: Some((1.25, 2.0)),
            first_time_ms: Some(1.75),
            times_ms: vec![1.5, 2.0],
            final_times_ms: Vec::new(),
            parts_ms: BTreeMap::new(),
            values: BTreeMap::new(),
            value: None,
            value_ci95: None,
        }
    }

    fn space() -> Space {
        let parameter = Parameter::new("X", (0..4).map(tunesmith_space::Value::Int)).unwrap();
        Space::builder().parameter(parameter).build().unwrap()
    }

    fn outcome() -> Outcome {
        let space = space();
        let best = Candidate {
            final_times_ms: vec![1.5],
            parts_ms: [("first".to_string(), 0.5)].into(),
            values: [("energy_mj".to_string(), 3.0)].into(),
            value: Some(3.0),
            value_ci95: Some((2.5, 3.5)),
            ..candidate(&space, 1)
        };
        let failed = Candidate {
            failure: Some(Failure::new(FailureKind::Runtime, "killed by signal 11")),
            time_ms: None,
            ci95_ms: None,
            ..candidate(&space, 2)
        };
        Outcome {
            problem: "bowl".to_string(),
            device: "a device".to_string(),
            strategy: "random".parse().unwrap(),
            notes: vec!["a note".to_string()],
            seed: 7,
            objective: Objective::new("energy", Direction::Minimise, Some("mJ"), Source::Metric),
            stop_reason: StopReason::Exhausted,
            evaluations: 4,
            resumed: 1,
            failed: FailureKind::ALL.map(|kind| (kind, usize::from(kind == FailureKind::Runtime))).into(),
            unscored: Some(super::super::Unscored { count: 1, reason: "no energy".to_string() }),
            common_failures: Vec::new(),
            cut: None,
            default: Some(candidate(&space, 0)),
            best: Some(best),
            verified: Some(true),
            partly_verified: None,
            comparison: Some(DefaultComparison {
                contender: space.id(1).unwrap(),
                config: candidate(&space, 1).config,
                is_better: true,
                gain: Gain::Ratio(1.25),
                ci95: Some((1.0, 1.5)),
                basis: tunesmith_core::Basis::Final,
            }),
            search_best: None,
            by_final: true,
            ties: Vec::new(),
            not_compared: Vec::new(),
            equal_code: Vec::new(),
            state: RunState::Complete,
            front: Vec::new(),
            proposals: None,
            finalists: 2,
            failed_again: vec![failed],
            drift: Some(DriftLine { probes: 6, change: 0.01, drifted: false }),
            limit: Some(ModelledLimit {
                time_ms: 1.0,
                bound: tunesmith_cost::LowerBound::Traffic { bytes: 1e6, rate: 1e9 },
                share: None,
                withdrawal: None,
            }),
            regret: vec![RegretClaim { regret: 0.02, probability: 0.95, evaluations: 4 }],
            space_size: 4,
            wall_seconds: 1.0,
            simulated_seconds: Some(2.0),
            seconds: SecondsOfRun {
                space: 0.0,
                search: 0.25,
                compile: 0.25,
                run: 0.5,
                verify: 0.0,
                store: 0.0,
                other: 0.0,
            },
            out: "bowl.jsonl".into(),
        }
    }

    #[test]
    fn the_document_of_an_outcome_is_what_programs_have_read_so_far() {
        let text = serde_json::to_string_pretty(&outcome().document()).unwrap();
        assert_eq!(text.trim_end(), GOLDEN.trim_end());
    }

    #[test]
    fn a_default_that_is_the_best_has_no_speed_up_and_the_other_is_named_with_its_ratio() {
        let slower = |known: DefaultComparison| DefaultComparison {
            is_better: false,
            gain: Gain::Ratio(0.8),
            ci95: Some((0.7, 0.9)),
            ..known
        };
        let default = Some(candidate(&space(), 0));
        let outcome = Outcome { best: default, comparison: outcome().comparison.map(slower), ..outcome() };
        let document = serde_json::to_value(outcome.document()).unwrap();
        assert_eq!((&document["better_than_default"], &document["speedup"]), (&json!(false), &Json::Null));
        let contender =
            json!({ "config": { "X": 1 }, "index": "1", "ratio": 0.8, "ci95": [0.7, 0.9], "basis": "final" });
        assert_eq!(document["contender"], contender);
    }

    #[test]
    fn what_there_is_nothing_of_is_left_out() {
        let plain = Outcome {
            notes: Vec::new(),
            objective: Objective::time(),
            unscored: None,
            limit: None,
            regret: Vec::new(),
            simulated_seconds: None,
            ..outcome()
        };
        let document = serde_json::to_value(plain.document()).unwrap();
        for absent in ["notes", "contender", "unscored", "limit", "regret", "simulated_seconds", "common_failures"] {
            assert!(document.get(absent).is_none(), "{absent}");
        }
        assert_eq!(document["objective"]["name"], "time");
        assert!(document["default"].get("message").is_none() && document["default"].get("value").is_none());
    }
}
