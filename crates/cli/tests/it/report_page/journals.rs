//! Journals of made-up runs, with everything that a report shows.

use serde_json::{Map, Value as Json, json};
use std::fmt::Write as _;

/// A run.
pub(crate) struct Made {
    pub(crate) problem: &'static str,
    pub(crate) evaluations: usize,
    pub(crate) seed: usize,
    /// A value of a parameter and a part of messages.
    pub(crate) text: String,
}

impl Default for Made {
    fn default() -> Self {
        Self { problem: "stencil", evaluations: 300, seed: 0, text: "row".to_string() }
    }
}

const TILES: [u64; 6] = [4, 8, 16, 32, 64, 128];
const UNROLL: [u64; 4] = [1, 2, 4, 8];
const VECTOR: [u64; 3] = [1, 4, 8];

/// Returns the name of a worker, as long as names of hosts and processes are.
fn worker(number: usize) -> String {
    format!("node{number:03}.partition-of-a-cluster.example.org:{}", 31_000 + number)
}

impl Made {
    /// Returns the journal of a fleet: configurations in a scattered order, failures with a cause,
    /// notes on the device, and a final.
    pub(crate) fn journal(&self) -> String {
        let mut text = format!("{}\n", self.header());
        for at in 0..self.evaluations {
            _ = writeln!(text, "{}", self.entry(at, self.config(at), self.evaluated(at)));
        }
        for (visit, at) in self.fastest().into_iter().cycle().take(6).enumerate() {
            let mut again = self.entry(at, self.config(at), Ok(self.time(at) * (1.0 + visit as f64 / 100.0)));
            again["again"] = "selection".into();
            again["evaluation"] = (at + 1).into();
            again["clock"] = json!(self.evaluations as f64 * 0.1 + visit as f64);
            _ = writeln!(text, "{again}");
        }
        text
    }

    /// Returns the state of the fleet that measured the run. Of workers that only compile, the
    /// journal knows nothing.
    pub(crate) fn fleet() -> String {
        let report = |id: usize, role: &str| {
            json!({
                "id": id, "name": worker(id), "device": "AMD EPYC <9>", "role": role, "evaluations": 0, "compiled": 40,
                "second": 0, "lost": 0, "busy": 9.5, "state": "ended",
            })
        };
        let roles = ["measures", "measures", "measures", "compiles", "compiles"];
        let workers: Vec<Json> = roles.into_iter().enumerate().map(|(id, role)| report(id, role)).collect();
        json!({ "workers": workers, "seconds": 30.0, "speedup": 2.5 }).to_string()
    }

    fn header(&self) -> Json {
        json!({
            "format": 2, "tunesmith": "0.1.0", "problem": self.problem,
            "identity": { "device": "AMD EPYC <9>", "compiler": "cc 12", "space": "0".repeat(64) },
            "parameters": { "TILE_I": TILES, "TILE_J": TILES, "UNROLL": UNROLL, "VECTOR": VECTOR,
                "ORDER": ["ij", self.text], "PREFETCH": [false, true] },
            "space_size": "1728", "default": self.config(0), "sizes": { "N": 1024 },
            "device_features": { "clock_mhz": 2600.0 }, "verified": true,
            "strategy": "default", "seed": self.seed, "room": 4, "started": 1_795_424_593.0,
        })
    }

    /// Returns the positions of the three fastest, which are measured again.
    fn fastest(&self) -> Vec<usize> {
        let mut correct: Vec<usize> = (0..self.evaluations).filter(|at| self.evaluated(*at).is_ok()).collect();
        correct.sort_by(|a, b| self.time(*a).total_cmp(&self.time(*b)));
        correct.truncate(3);
        correct
    }

    /// Returns a configuration of its own for each of 1,728 evaluations, and then again.
    fn config(&self, at: usize) -> Map<String, Json> {
        let mut left = (at * 1051 + self.seed * 17) % 1728;
        let mut next = |count: usize| {
            let place = left % count;
            left /= count;
            place
        };
        let (i, j, unroll) = (TILES[next(6)], TILES[next(6)], UNROLL[next(4)]);
        let (vector, order, prefetch) = (VECTOR[next(3)], next(2), next(2) == 1);
        let order = if order == 0 { "ij" } else { &self.text };
        let config = json!({ "TILE_I": i, "TILE_J": j, "UNROLL": unroll, "VECTOR": vector, "ORDER": order, "PREFETCH": prefetch });
        config.as_object().unwrap().clone()
    }

    fn time(&self, at: usize) -> f64 {
        let config = self.config(at);
        let log = |name: &str| config[name].as_f64().unwrap().log2();
        let bowl =
            (log("TILE_I") - 5.0).powi(2) * 0.2 + (log("TILE_J") - 4.0).powi(2) * 0.1 + 1.0 / (1.0 + log("UNROLL"));
        1.0 + bowl + if config["ORDER"] == "ij" { 0.0 } else { 0.7 } + (at * 7919 % 101) as f64 / 2000.0
    }

    /// Returns the time, or the failure with its message.
    fn evaluated(&self, at: usize) -> Result<f64, (&'static str, String)> {
        let config = self.config(at);
        match (config["TILE_I"].as_u64(), config["TILE_J"].as_u64(), at % 97) {
            (Some(128), Some(128), _) => Err(("compile", format!("error: too many registers <{}>", self.text))),
            (_, Some(128), _) if config["VECTOR"] == 8 => Err(("timeout", "no end within 1 s".to_string())),
            (_, _, 13) => Err(("correctness", format!("element 7 is 1.0, not 2.0\n{}", self.text))),
            _ => Ok(self.time(at)),
        }
    }

    fn entry(&self, at: usize, config: Map<String, Json>, result: Result<f64, (&str, String)>) -> Json {
        let (status, times, message) = match result {
            Ok(time) => {
                ("correct", (0..7).map(|sample| time * (1.0 + f64::from(sample * 5 % 7) / 300.0)).collect(), None)
            }
            Err((status, message)) => (status, Vec::new(), Some(message)),
        };
        let mut entry = json!({
            "index": at.to_string(), "config": config, "status": status, "depth": "timed", "times_ms": times,
            "warmup_ms": 3.0, "compile": { "time_ms": 40.0 }, "clock": (at + 1) as f64 * 0.1,
            "worker": worker(at % 3), "took": 0.15,
        });
        let note =
            || (at % 50 == 5).then(|| format!("the device ran at {} MHz, not 2600 MHz: {}", 900 + at, self.text));
        if let Some(message) = message.or_else(note) {
            entry["message"] = message.into();
        }
        entry
    }
}
