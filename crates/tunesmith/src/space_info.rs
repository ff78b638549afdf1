//! Describes a search space, for the command `space`.

use crate::{Error, Problem};
use rand::SeedableRng;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::num::NonZeroUsize;
use tunesmith_core::{Clock, Rng, SystemClock};
use tunesmith_space::{ConfigId, Space, SpaceBuilder, Value};
use tunesmith_store::Journal;

/// Facts about a search space. Its JSON form is a contract: see `space --json` in the interface.
#[derive(Clone, Debug, Serialize)]
pub struct SpaceInfo {
    /// The digest. Indices are valid only for spaces with this digest.
    pub digest: String,
    /// The number of configurations, in decimal.
    pub size: String,
    /// The number of combinations without constraints, in decimal.
    pub cartesian: String,
    /// The number of parameters.
    pub parameters: usize,
    /// The number of constraints.
    pub constraints: usize,
    /// Parameters that constraints join, directly or through others.
    pub groups: Vec<Vec<String>>,
    /// Nodes of the diagram.
    pub nodes: usize,
    /// Arcs of the diagram.
    pub arcs: usize,
    /// Its memory in bytes.
    pub bytes: usize,
    /// Time of the best of five builds on one thread: compiling the expressions and building the
    /// diagram.
    pub build_seconds: f64,
    /// The requested configurations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configs: Option<Configs>,
    /// Warnings about parts that were left out.
    #[serde(skip)]
    pub warnings: Vec<crate::Diagnostic>,
}

/// Configurations of a space, created one at a time on demand.
#[derive(Clone, Debug)]
pub struct Configs {
    space: Space,
    /// Their ranks; `None` for all configurations.
    ids: Option<Vec<ConfigId>>,
}

impl Configs {
    /// Returns the number of configurations.
    pub fn len(&self) -> u128 {
        self.ids.as_ref().map_or_else(|| self.space.len().unwrap_or(0), |ids| ids.len() as u128)
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the configurations, in order.
    pub fn iter(&self) -> impl Iterator<Item = IndexedConfig> + '_ {
        let all = self.ids.is_none().then(|| self.space.iter()).into_iter().flatten();
        self.ids.iter().flatten().copied().chain(all).map(|id| indexed(&self.space, id))
    }
}

impl Serialize for Configs {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// A configuration with its rank.
#[derive(Clone, Debug, Serialize)]
pub struct IndexedConfig {
    /// The rank, in decimal.
    pub index: String,
    /// Parameters and values, in the user's order.
    pub config: Map<String, Json>,
}

/// The configurations to show.
#[derive(Clone, Debug, Default)]
pub enum SpaceQuery {
    /// None.
    #[default]
    Summary,
    /// All, in order.
    List,
    /// This many distinct ones, drawn uniformly with a seed.
    Sample(usize, u64),
    /// The configuration with this rank.
    Index(u128),
    /// The configurations that differ in one parameter from the one with this rank.
    Neighbours(u128),
}

/// Number of builds. They are repeated since the first one also warms the caches.
const BUILDS: usize = 5;

impl SpaceInfo {
    /// Builds the space of `problem` with the device limits in `limits` and describes it. Repeats
    /// the build a few times to measure its time.
    ///
    /// # Errors
    /// The problem is wrong, an index is outside of the space, or ranks are requested for a space
    /// beyond 2^128.
    pub fn new(problem: &Problem, limits: &[(String, Value)], query: &SpaceQuery) -> Result<Self, Error> {
        let (builder, warnings) = problem.space_builder(limits)?;
        let space = problem.build(builder.clone())?;
        let build_seconds = build_seconds(&builder);
        let name = |index: usize| space.parameters()[index].name().to_string();
        Ok(Self {
            digest: space.digest().to_string(),
            size: space.size().to_string(),
            cartesian: space.cartesian_size().to_string(),
            parameters: space.parameters().len(),
            constraints: space.constraints().len(),
            groups: space.groups().into_iter().map(|group| group.into_iter().map(name).collect()).collect(),
            nodes: space.nodes(),
            arcs: space.arcs(),
            bytes: space.bytes(),
            build_seconds,
            configs: configs(&space, query)?,
            warnings,
        })
    }
}

/// Maximum number of configurations in a JSON document, which is made in memory: about one GiB.
const MOST_IN_A_DOCUMENT: u128 = 2_000_000;

impl SpaceInfo {
    /// Checks that the requested configurations fit into one JSON document.
    ///
    /// # Errors
    /// They are too many.
    pub fn fits_document(&self) -> Result<(), Error> {
        match self.configs.as_ref().map(Configs::len) {
            Some(count) if count > MOST_IN_A_DOCUMENT => {
                let text = format!("{count} configurations are too many for one JSON document");
                Err(Error::request(text, Some("leave out --json, or draw some with --sample".to_string())))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the shortest time of several builds on one thread.
fn build_seconds(builder: &SpaceBuilder) -> f64 {
    let clock = SystemClock::new();
    let one = |_| {
        let builder = builder.clone().threads(NonZeroUsize::MIN);
        let started = clock.now();
        let built = builder.build();
        let seconds = (clock.now() - started).as_secs_f64();
        // The time of a build does not include freeing the space.
        drop(built);
        seconds
    };
    (0..BUILDS).map(one).fold(f64::INFINITY, f64::min)
}

fn configs(space: &Space, query: &SpaceQuery) -> Result<Option<Configs>, Error> {
    if !matches!(query, SpaceQuery::Summary) && space.len().is_none() {
        let text = format!("the space has {} configurations; beyond 2^128 they have no index", space.size());
        return Err(Error::request(text, Some("add constraints or shorten the parameters' values".to_string())));
    }
    let ids = match query {
        SpaceQuery::Summary => return Ok(None),
        SpaceQuery::List => None,
        SpaceQuery::Sample(count, seed) => Some(space.sample_distinct(*count, &mut Rng::seed_from_u64(*seed))),
        SpaceQuery::Index(rank) => Some(vec![id(space, *rank)?]),
        SpaceQuery::Neighbours(rank) => Some(space.hamming_neighbours(id(space, *rank)?)),
    };
    Ok(Some(Configs { space: space.clone(), ids }))
}

fn indexed(space: &Space, id: ConfigId) -> IndexedConfig {
    IndexedConfig { index: id.to_string(), config: Journal::config(space, &space.unrank(id)) }
}

fn id(space: &Space, rank: u128) -> Result<ConfigId, Error> {
    space.id(rank).ok_or_else(|| {
        let text = format!("there is no configuration {rank}: the space has {}", space.size());
        Error::request(text, Some("indices start at 0".to_string()))
    })
}

impl IndexedConfig {
    /// Returns the configuration in the form that `--config` takes.
    pub fn arguments(&self) -> String {
        tunesmith_store::arguments(&self.config)
    }
}
