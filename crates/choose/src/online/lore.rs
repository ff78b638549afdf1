//! All results of a kernel that a process knows: its own, and those of the file that it shares.

use super::explore::Explore;
use crate::wisdom::{Attempt, AttemptEnd, Config, Entry, Input, Wisdom, distance};
use std::collections::HashMap;

/// Number of similar inputs whose fastest configurations are the first candidates for a new input.
const TEACHERS: usize = 3;

/// The distance in doublings up to which inputs are similar.
const SIMILAR: f64 = 1.5;

/// A configuration that is so many times slower than the fastest one for a similar input is slow.
const SLOW: f64 = 1.5;

/// Number of attempts without an end after which a configuration counts as failed: it ended two
/// processes. One attempt may have been cut short by chance.
const FATAL: u32 = 2;

/// Seconds within which attempts count as one. They may be those of processes that began and were
/// ended together.
const TOGETHER: f64 = 60.0;

/// The known results.
#[derive(Debug)]
pub(super) struct Lore {
    kernel: String,
    device: String,
    results: Vec<OfInput>,
    places: HashMap<(Key, bool), usize>,
}

/// An input as a key: its sizes by name, with the bits of the numbers.
pub(super) type Key = Vec<(String, u64)>;

/// Returns the key of `input`. There is one zero.
pub(super) fn key(input: &Input) -> Key {
    input.iter().map(|(name, size)| (name.clone(), (size + 0.0).to_bits())).collect()
}

/// The results for one input on this device or on another one.
#[derive(Debug)]
struct OfInput {
    input: Input,
    is_own: bool,
    configs: HashMap<Config, Known>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    time: Option<f64>,
    has_failed: bool,
    /// The number of attempts without an end, and the date of the latest.
    begun: u32,
    latest: f64,
}

impl Known {
    fn begin(&mut self, date: f64) {
        if self.begun == 0 || (date - self.latest).abs() > TOGETHER {
            self.begun += 1;
        }
        self.latest = date;
    }

    /// Returns true if it is known to fail, or ended too many processes.
    fn fails(&self) -> bool {
        self.time.is_none() && (self.has_failed || self.begun >= FATAL)
    }
}

/// A result that a file brought.
pub(super) struct News {
    pub(super) input: Input,
    pub(super) config: Config,
    pub(super) time: Option<f64>,
}

impl Lore {
    pub(super) fn new(kernel: &str, device: &str) -> Self {
        Self { kernel: kernel.into(), device: device.into(), results: Vec::new(), places: HashMap::new() }
    }

    /// Takes what a file says about the kernel. Returns the results for this device.
    pub(super) fn read(&mut self, wisdom: Wisdom, explore: &dyn Explore) -> Vec<News> {
        let mut news = Vec::new();
        for Entry { kernel, device, input, config, time_ms, .. } in wisdom.entries {
            let own = if kernel == self.kernel { explore.recognise(&config) } else { None };
            let Some(config) = own else { continue };
            let is_own = device == self.device;
            self.put(&input, is_own, &config, Some(time_ms));
            if is_own {
                news.push(News { input, config, time: Some(time_ms) });
            }
        }
        for Attempt { kernel, device, input, config, date, end } in wisdom.attempts {
            // A failure on another device says nothing about this one.
            let is_own = (&kernel, &device) == (&self.kernel, &self.device);
            let own = if is_own { explore.recognise(&config) } else { None };
            let Some(config) = own else { continue };
            match end {
                AttemptEnd::None => self.at(&input, true, &config).begin(date.unwrap_or(0.0)),
                AttemptEnd::Failed => {
                    self.put(&input, true, &config, None);
                    news.push(News { input, config, time: None });
                }
            }
        }
        news
    }

    /// Keeps a result. The latest one of a configuration counts.
    pub(super) fn put(&mut self, input: &Input, is_own: bool, config: &Config, time: Option<f64>) {
        *self.at(input, is_own, config) = Known { time, has_failed: time.is_none(), ..Known::default() };
    }

    fn at(&mut self, input: &Input, is_own: bool, config: &Config) -> &mut Known {
        let results = &mut self.results;
        let place = *self.places.entry((key(input), is_own)).or_insert_with(|| {
            results.push(OfInput { input: input.clone(), is_own, configs: HashMap::new() });
            results.len() - 1
        });
        results[place].configs.entry(config.clone()).or_default()
    }

    /// Returns what is known for `input` on this device: times, and none for configurations that fail.
    pub(super) fn known(&self, input: &Input) -> Vec<(Config, Option<f64>)> {
        let place = self.places.get(&(key(input), true));
        let configs = place.into_iter().flat_map(|place| &self.results[*place].configs);
        let known = configs.filter(|(_, known)| known.time.is_some() || known.fails());
        known.map(|(config, known)| (config.clone(), known.time)).collect()
    }

    /// Returns how many times slower than the fastest one `config` is for `input`, if both are known.
    pub(super) fn slowdown(&self, input: &Input, config: &Config) -> Option<f64> {
        self.results[*self.places.get(&(key(input), true))?].slowdown(config)
    }

    /// Returns how many times slower than the fastest one `config` is for the nearest similar input, if
    /// it is slow there.
    pub(super) fn slow(&self, input: &Input, config: &Config) -> Option<f64> {
        let similar = self.results.iter().filter(|of| of.is_own && of.input != *input);
        let measured = similar.filter_map(|of| Some((distance(&of.input, input), of.slowdown(config)?)));
        let near = measured.filter(|(distance, _)| *distance <= SIMILAR);
        let (_, slowdown) = near.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
        (slowdown >= SLOW).then_some(slowdown)
    }

    /// Returns the inputs of this device that are similar to `input`.
    pub(super) fn similar(&self, input: &Input) -> Vec<Key> {
        let near = self.results.iter().filter(|of| of.is_own && of.input != *input);
        near.filter(|of| distance(&of.input, input) <= SIMILAR).map(|of| key(&of.input)).collect()
    }

    /// Returns the fastest configurations of the nearest other inputs, the nearest first. Other
    /// devices come after this one.
    pub(super) fn taught(&self, input: &Input) -> Vec<Config> {
        let others = self.results.iter().filter(|of| !of.is_own || of.input != *input);
        let mut teachers: Vec<(bool, f64, &Config)> =
            others.filter_map(|of| Some((!of.is_own, distance(&of.input, input), of.fastest()?))).collect();
        teachers.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then_with(|| a.2.cmp(b.2)));
        let mut taught: Vec<Config> = Vec::new();
        for (.., config) in teachers {
            if taught.len() < TEACHERS && !taught.contains(config) {
                taught.push(config.clone());
            }
        }
        taught
    }
}

impl OfInput {
    /// Returns the time of `config` relative to the fastest configuration.
    fn slowdown(&self, config: &Config) -> Option<f64> {
        let time = self.configs.get(config)?.time?;
        let fastest = self.configs.get(self.fastest()?)?.time?;
        (fastest > 0.0).then(|| time / fastest)
    }

    fn fastest(&self) -> Option<&Config> {
        let measured = self.configs.iter().filter_map(|(config, known)| Some((config, known.time?)));
        let fastest = measured.min_by(|(a, of_a), (b, of_b)| of_a.total_cmp(of_b).then_with(|| a.cmp(b)));
        fastest.map(|(config, _)| config)
    }
}
