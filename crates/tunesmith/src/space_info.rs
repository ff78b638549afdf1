//! What `space` prints.

use crate::{Error, Problem};
use rand::SeedableRng;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use tunesmith_core::{Clock, Rng, SystemClock};
use tunesmith_space::{ConfigId, Space, Value};
use tunesmith_store::Journal;

/// Facts about a search space. Its JSON form is a contract: see `space --json` in the interface.
#[derive(Clone, Debug, Serialize)]
pub struct SpaceInfo {
    /// The digest, without which indices mean nothing.
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
    /// Its memory.
    pub bytes: usize,
    /// Best of five builds on one thread: compiling the expressions and building the diagram.
    pub build_seconds: f64,
    /// The configurations asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configs: Option<Vec<IndexedConfig>>,
    /// What was left out.
    #[serde(skip)]
    pub warnings: Vec<crate::Diagnostic>,
}

/// A configuration with its rank.
#[derive(Clone, Debug, Serialize)]
pub struct IndexedConfig {
    /// The rank, in decimal.
    pub index: String,
    /// Parameters and values, in the user's order.
    pub config: Map<String, Json>,
}

/// Which configurations to show.
#[derive(Clone, Debug, Default)]
pub enum SpaceQuery {
    /// None.
    #[default]
    Summary,
    /// All, in order.
    List,
    /// So many distinct ones, drawn uniformly with a seed.
    Sample(usize, u64),
    /// The one of a rank.
    Index(u128),
    /// Those that differ in one parameter from the one of a rank.
    Neighbours(u128),
}

/// Builds are repeated, since the first one also warms the caches.
const BUILDS: usize = 5;

impl SpaceInfo {
    /// Builds the space of `problem` with the device limits in `limits` and looks at it.
    ///
    /// # Errors
    /// A wrong problem; an index outside the space; ranks asked of a space beyond 2^128.
    pub fn new(problem: &Problem, limits: &[(String, Value)], query: &SpaceQuery) -> Result<Self, Error> {
        let clock = SystemClock::new();
        let mut build_seconds = f64::INFINITY;
        let mut built = None;
        for _ in 0..BUILDS {
            let started = clock.now();
            built = Some(problem.space(limits)?);
            build_seconds = build_seconds.min((clock.now() - started).as_secs_f64());
        }
        let built = match built {
            Some(built) => built,
            None => problem.space(limits)?,
        };
        let space = &built.space;
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
            configs: configs(space, query)?,
            warnings: built.warnings,
        })
    }
}

fn configs(space: &Space, query: &SpaceQuery) -> Result<Option<Vec<IndexedConfig>>, Error> {
    if !matches!(query, SpaceQuery::Summary) && space.len().is_none() {
        let text = format!("the space has {} configurations; beyond 2^128 they have no index", space.size());
        return Err(Error::request(text, Some("add constraints or shorten the parameters' values".to_string())));
    }
    let ids: Vec<ConfigId> = match query {
        SpaceQuery::Summary => return Ok(None),
        SpaceQuery::List => space.iter().collect(),
        SpaceQuery::Sample(count, seed) => space.sample_distinct(*count, &mut Rng::seed_from_u64(*seed)),
        SpaceQuery::Index(rank) => vec![id(space, *rank)?],
        SpaceQuery::Neighbours(rank) => space.hamming_neighbours(id(space, *rank)?),
    };
    Ok(Some(ids.into_iter().map(|id| indexed(space, id)).collect()))
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
    /// The configuration in the form that `--config` takes.
    pub fn arguments(&self) -> String {
        crate::outcome::arguments(&self.config)
    }
}
