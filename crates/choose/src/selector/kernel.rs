//! The index of one kernel's wisdom.

use super::choice::{Choice, Source};
use super::model::Model;
use crate::Judgement;
use crate::timing::TimingModel;
use crate::wisdom::{Config, Entry, FAR, Portfolio, Wisdom, apart, doublings};
use std::collections::{BTreeMap, HashMap};

/// Maximum number of sizes that tell the inputs of a kernel apart. They stand on the stack while a
/// question is answered.
const MOST_SIZES: usize = 32;

/// The sizes of an input in the order of [`Kernel::names`]; NaN for one that is missing.
type Sizes = [f64; MOST_SIZES];

/// One kernel.
#[derive(Debug, Default)]
pub(super) struct Kernel {
    pub(super) default: Option<Config>,
    /// The sizes that occur in any entry or portfolio.
    names: Vec<String>,
    /// The values of sizes that all entries share.
    shared: Vec<Option<f64>>,
    devices: BTreeMap<String, Device>,
    model: Option<Model>,
}

/// One device.
#[derive(Debug, Default)]
struct Device {
    /// Sorted by time.
    known: Vec<Known>,
    /// The places of the entries of each input, the fastest first.
    exact: HashMap<Box<[u64]>, Vec<usize>>,
    portfolio: Option<Placed>,
}

#[derive(Debug)]
struct Known {
    sizes: Box<[f64]>,
    config: Config,
    time_ms: f64,
}

/// A portfolio, with the kernel's sizes that its features and constants refer to.
#[derive(Debug)]
struct Placed {
    portfolio: Portfolio,
    places: Vec<usize>,
    /// Sizes that were the same in all inputs, with their values.
    constants: Vec<(usize, f64)>,
}

impl Kernel {
    /// Indexes all of `wisdom` for the kernel called `name`.
    pub(super) fn new(name: &str, wisdom: Wisdom, warnings: &mut Vec<String>) -> Self {
        let Wisdom { entries, portfolios, mut defaults, attempts: _ } = wisdom;
        let of_entries = entries.iter().flat_map(|entry| entry.input.keys());
        let of_portfolios = portfolios.iter().flat_map(|known| known.features.iter().chain(known.constants.keys()));
        let mut names: Vec<String> = of_entries.chain(of_portfolios).cloned().collect();
        names.sort_unstable();
        names.dedup();
        let default = defaults.remove(name);
        if names.len() > MOST_SIZES {
            let (found, most) = (names.len(), MOST_SIZES);
            warnings.push(format!("kernel `{name}` has inputs of {found} sizes; at most {most} are supported, so only its default is known"));
            return Self { default, ..Self::default() };
        }
        let shared = names.iter().map(|name| shared(&entries, name)).collect();
        let mut kernel = Self { default, names, shared, ..Self::default() };
        entries.into_iter().for_each(|entry| kernel.add(entry));
        for portfolio in portfolios {
            let place = |feature| kernel.names.binary_search(feature).unwrap_or(MOST_SIZES);
            let places = portfolio.features.iter().map(place).collect();
            let constants = portfolio.constants.iter().map(|(name, size)| (place(name), *size)).collect();
            let device = kernel.devices.entry(portfolio.device.clone()).or_default();
            device.portfolio = Some(Placed { portfolio, places, constants });
        }
        kernel.devices.values_mut().for_each(Device::index);
        kernel
    }

    fn add(&mut self, entry: Entry) {
        let sizes = self.names.iter().map(|name| entry.input.get(name).copied().unwrap_or(f64::NAN)).collect();
        let known = Known { sizes, config: entry.config, time_ms: entry.time_ms };
        self.devices.entry(entry.device).or_default().known.push(known);
    }

    pub(super) fn select<'a>(
        &'a self,
        device: &str,
        input: &[(&str, f64)],
        acceptable: &dyn Fn(&Config) -> bool,
    ) -> Option<Choice<'a>> {
        let sizes = self.sizes(input);
        let model = self.model.as_ref();
        let own = self.devices.get(device);
        let default = self.default.as_ref().filter(|config| acceptable(config));
        own.and_then(|own| own.exact(&sizes, self.names.len(), acceptable))
            .or_else(|| model?.known(device, input, acceptable))
            .or_else(|| own?.predicted(&sizes, acceptable, default))
            .or_else(|| model?.refused(device, acceptable))
            .or_else(|| own?.near(&sizes, acceptable))
            .or_else(|| model?.unknown(input, acceptable))
            .or_else(|| self.other_device(device, &sizes, acceptable))
            .or_else(|| {
                default.map(|config| Choice { config, source: Source::Default, time_ms: None, judgement: None })
            })
    }

    /// Returns the judgement of what chooses on `device` for inputs that nobody measured.
    pub(super) fn judgement(&self, device: &str) -> Option<&Judgement> {
        let model = self.model.as_ref().filter(|model| model.knows(device));
        let of_model = model.and_then(|model| model.judgement(device));
        let placed = self.devices.get(device).and_then(|own| own.portfolio.as_ref());
        match placed {
            // A model that is no faster than the default leaves the choice to the portfolio.
            Some(placed) if model.is_none() || of_model.is_some_and(|judged| !judged.is_faster()) => {
                placed.portfolio.judgement.as_ref()
            }
            _ => of_model,
        }
    }

    /// Lets `model` choose among the configurations of each device's portfolio, or among its own
    /// candidates if the device has no portfolio.
    pub(super) fn learn(&mut self, model: &TimingModel, warnings: &mut Vec<String>) {
        let own = model.candidates();
        let configs = |device: Option<&str>| {
            let of_device = device.and_then(|name| self.devices.get(name)).and_then(Device::members);
            let of_model = || (!own.is_empty()).then_some(own.as_slice());
            of_device.or_else(of_model).or_else(|| self.devices.values().find_map(Device::members))
        };
        self.model = Some(Model::new(model, configs, warnings));
        self.default.get_or_insert_with(|| model.reference());
    }

    /// Returns the sizes of `input` in the order of the names.
    fn sizes(&self, input: &[(&str, f64)]) -> Sizes {
        let mut sizes = [f64::NAN; MOST_SIZES];
        for ((size, name), shared) in sizes.iter_mut().zip(&self.names).zip(&self.shared) {
            let given = input.iter().find(|(own, _)| own == name).map(|(_, value)| *value);
            *size = given.or(*shared).unwrap_or(f64::NAN);
        }
        sizes
    }

    /// Returns the nearest entry of all other devices. If there are only portfolios, the first of
    /// them chooses.
    fn other_device<'a>(
        &'a self,
        but: &str,
        sizes: &Sizes,
        acceptable: &dyn Fn(&Config) -> bool,
    ) -> Option<Choice<'a>> {
        let others = || self.devices.iter().filter(|(name, _)| *name != but);
        let nearest = others().filter_map(|(name, device)| Some((name, device.nearest(sizes, acceptable)?)));
        let nearest = nearest.min_by(|(_, (a, _)), (_, (b, _))| a.total_cmp(b));
        if let Some((device, (distance, known))) = nearest {
            return Some(known.choice(Source::OtherDevice { device, distance }));
        }
        others().find_map(|(device, other)| {
            let default = self.default.as_ref().filter(|config| acceptable(config));
            let choice = other.predicted(sizes, acceptable, default)?;
            let (Source::Predicted { outside } | Source::Robust { outside }) = choice.source else { return None };
            let source = Source::PredictedElsewhere { devices: device, outside };
            Some(Choice { source, judgement: None, ..choice })
        })
    }
}

/// Returns the value of a size that is the same in all entries.
fn shared(entries: &[Entry], name: &str) -> Option<f64> {
    let first = entries.first()?.input.get(name)?;
    entries.iter().all(|entry| entry.input.get(name) == Some(first)).then_some(*first)
}

impl Known {
    fn choice<'a>(&'a self, source: Source<'a>) -> Choice<'a> {
        Choice { config: &self.config, source, time_ms: Some(self.time_ms), judgement: None }
    }
}

impl Device {
    fn index(&mut self) {
        self.known.sort_by(|a, b| a.time_ms.total_cmp(&b.time_ms));
        for (at, known) in self.known.iter().enumerate() {
            self.exact.entry(known.sizes.iter().map(|size| bits(*size)).collect()).or_default().push(at);
        }
    }

    /// Returns the configurations of the portfolio, unless its choices are known to be no faster than the default.
    fn members(&self) -> Option<&[Config]> {
        let portfolio = self.portfolio.as_ref().map(|placed| &placed.portfolio).filter(|known| !is_refused(known));
        portfolio.map(|portfolio| portfolio.configs.as_slice())
    }

    fn exact(&self, sizes: &Sizes, count: usize, acceptable: &dyn Fn(&Config) -> bool) -> Option<Choice<'_>> {
        let key = sizes.map(bits);
        let places = self.exact.get(&key[..count])?.iter();
        let known = places.map(|at| &self.known[*at]).find(|known| acceptable(&known.config))?;
        Some(known.choice(Source::Exact))
    }

    /// Returns the portfolio's choice, or the most robust of its configurations if the input is far
    /// from all that were measured. If that is not acceptable, returns the first of the portfolio
    /// that is. If its choices were judged and are no faster than `default`, that is its choice.
    fn predicted<'a>(
        &'a self,
        sizes: &Sizes,
        acceptable: &dyn Fn(&Config) -> bool,
        default: Option<&'a Config>,
    ) -> Option<Choice<'a>> {
        let Placed { portfolio, places, constants } = self.portfolio.as_ref()?;
        let size = |place: usize| sizes.get(place).copied().unwrap_or(f64::NAN);
        let mut features = [f64::NAN; MOST_SIZES];
        for (feature, place) in features.iter_mut().zip(places) {
            *feature = size(*place);
        }
        let features = features.get(..places.len())?;
        let away = apart(constants.iter().map(|(place, constant)| (size(*place), *constant)));
        let far = if away > FAR.log2() { portfolio.chooser.robust } else { portfolio.chooser.far(features) };
        let chosen = portfolio.configs.get(far.unwrap_or_else(|| portfolio.chooser.rule.choose(features)));
        let default = default.filter(|_| is_refused(portfolio));
        let config = default.into_iter().chain(chosen).chain(&portfolio.configs).find(|config| acceptable(config))?;
        let outside = portfolio.chooser.coverage.outside(features).hypot(away);
        let source = if far.is_some() { Source::Robust { outside } } else { Source::Predicted { outside } };
        Some(Choice { config, source, time_ms: None, judgement: portfolio.judgement.as_ref() })
    }

    fn near(&self, sizes: &Sizes, acceptable: &dyn Fn(&Config) -> bool) -> Option<Choice<'_>> {
        let (distance, known) = self.nearest(sizes, acceptable)?;
        Some(known.choice(Source::NearestInput { distance }))
    }

    /// Returns the entry with the nearest input, the fastest of several, and the distance.
    fn nearest(&self, sizes: &Sizes, acceptable: &dyn Fn(&Config) -> bool) -> Option<(f64, &Known)> {
        let is_number = |size: f64| (!size.is_nan()).then_some(size);
        let distance = |known: &Known| {
            let pairs = known.sizes.iter().zip(sizes);
            let squares = pairs.map(|(a, b)| doublings(is_number(*a), is_number(*b)).powi(2));
            squares.sum::<f64>().sqrt()
        };
        let acceptable = self.known.iter().filter(|known| acceptable(&known.config));
        acceptable.map(|known| (distance(known), known)).min_by(|(a, _), (b, _)| a.total_cmp(b))
    }
}

/// Returns true if the choices of a portfolio were judged and are no faster than the default.
fn is_refused(portfolio: &Portfolio) -> bool {
    portfolio.judgement.as_ref().is_some_and(|judged| !judged.is_faster())
}

/// Returns bits that are the same for equal sizes: there is one zero and one NaN.
fn bits(size: f64) -> u64 {
    if size.is_nan() { f64::NAN.to_bits() } else { (size + 0.0).to_bits() }
}
