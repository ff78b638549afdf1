//! Judges the cost model by recorded times, without a device.
//!
//! `cargo bench -p tunesmith-cost --bench ranking -- [--all-forms] [FOLDER...]` reads the recordings of
//! each processor in `bench/costmodel/recordings`, or those of FOLDER alone, which `bench/costmodel/run`
//! makes. Counts and models are made anew, so that a change of either shows. Prints Markdown.
//!
//! Fails if a mark is missed ([`MARKS`], [`MISSED`]) by the form `overlap`.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use rand::SeedableRng as _;
use rand::seq::index::sample;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tunesmith_core::{Rng, statistics};
use tunesmith_cost::{
    Correction, DeviceFile, Domain, Form, Guess, MeasuredVariant, NestCounts, NestEstimates, PropertyCounts,
    kernel_counts, recounted,
};
use tunesmith_loopnest::Recipe;
use tunesmith_problem::Problem;

/// The bounds that a change must keep, for every recording and calibration.
#[derive(Clone, Copy)]
struct Marks {
    /// The best of the first ten, as a multiple of the optimum.
    best_of_ten: f64,
    /// The rank correlation (Spearman) of estimates and times.
    correlation: f64,
}

/// The targets. In addition, no limit lies above a measured time.
const MARKS: Marks = Marks { best_of_ten: 1.10, correlation: 0.7 };

/// The nests that miss a target, with what they must keep.
const MISSED: [(&str, Marks); 3] = [
    ("matmul", Marks { best_of_ten: 1.5, correlation: 0.7 }),
    ("finite_differences", Marks { best_of_ten: 1.10, correlation: 0.65 }),
    // Its variants differ by 5 %, the noise by 2 %.
    ("nbody", Marks { best_of_ten: 1.10, correlation: 0.55 }),
];

const NESTS: [&str; 5] = ["blur", "convolution", "finite_differences", "matmul", "nbody"];

/// Number of random draws of measured variants.
const DRAWS: u64 = 20;

/// A variant with its estimate in seconds.
struct Variant {
    counts: PropertyCounts,
    estimate: f64,
    seconds: f64,
}

impl Variant {
    fn error(&self, factor: f64) -> f64 {
        (self.estimate * factor / self.seconds - 1.0).abs()
    }

    fn measured(&self, is_same: bool) -> MeasuredVariant {
        let Self { counts, estimate, seconds } = self;
        MeasuredVariant { counts: counts.clone(), seconds: *seconds, estimate: *estimate, is_same }
    }
}

/// Returns the ranks of numbers. Equal numbers share the mean of theirs.
fn ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b]));
    let (mut ranks, mut first) = (vec![0.0; numbers.len()], 0);
    for same in order.chunk_by(|a, b| numbers[*a].total_cmp(&numbers[*b]).is_eq()) {
        same.iter().for_each(|at| ranks[*at] = first as f64 + (same.len() - 1) as f64 / 2.0);
        first += same.len();
    }
    ranks
}

/// Returns Spearman's correlation.
fn correlation(one: &[f64], other: &[f64]) -> f64 {
    let (one, other) = (ranks(one), ranks(other));
    let middle = (one.len() as f64 - 1.0) / 2.0;
    let moment = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum::<f64>();
    moment(&one, &other) / (moment(&one, &one) * moment(&other, &other)).sqrt()
}

/// Returns the geometric mean of relative errors in per cent, each at least 1 %.
fn percent(errors: &[f64]) -> String {
    if errors.is_empty() { "-".to_string() } else { format!("{:.1}", tunesmith_cost::error_mean(errors) * 100.0) }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the recorded variants of a nest with their estimates, and the limit in seconds. Returns `None`
/// if there is no recording of it.
fn variants(folder: &Path, nest: &str, device: &DeviceFile, form: Form) -> Option<(Vec<Variant>, f64)> {
    let table = folder.join(format!("{nest}.csv.gz"));
    if !table.exists() {
        return None;
    }
    let recording = tunesmith_store::import(&table).expect("a recording");
    let problem = Problem::load(&root().join(format!("examples/nests/{nest}.toml")), &[]).expect("a problem");
    let space = problem.space(&[]).expect("a space").space;
    let estimates = NestEstimates::new(&problem, device, form, &table).expect("estimates");
    let correct = recording.evaluations(&space).into_iter().filter(tunesmith_core::Evaluation::is_correct);
    let times: BTreeMap<_, f64> = correct
        .filter_map(|own| Some((own.request.config, statistics::median(&own.measurement.times_ms)? / 1e3)))
        .collect();
    let variant = |(config, guess)| {
        let Guess::Time(known) = guess else { return None };
        let (bounded, counted) = *known;
        Some(Variant { counts: counted.counts, estimate: bounded.estimate.seconds, seconds: *times.get(&config)? })
    };
    let limit = estimates.limit().map_or(0.0, |limit| limit.ms / 1e3);
    Some((estimates.all(&space).into_iter().filter_map(variant).collect(), limit))
}

/// Returns the mean errors if `count` random variants are measured.
fn error_with(variants: &[Variant], count: usize) -> String {
    let mut errors = Vec::new();
    for seed in 0..DRAWS {
        let drawn = sample(&mut Rng::seed_from_u64(seed), variants.len(), count).into_vec();
        let measured: Vec<MeasuredVariant> = drawn.iter().map(|at| variants[*at].measured(false)).collect();
        let counts = variants.iter().map(|own| &own.counts);
        let Some(correction) = Correction::new(&measured, counts) else { continue };
        let others = variants.iter().enumerate().filter(|(at, _)| !drawn.contains(at));
        errors.extend(others.map(|(_, own)| own.error(correction.factor(&own.counts))));
    }
    percent(&errors)
}

/// Prints the row of a nest. Returns true if it keeps the marks.
fn judge_nest(title: &str, nest: &str, (variants, limit): (&mut [Variant], f64)) -> bool {
    variants.sort_by(|a, b| a.estimate.total_cmp(&b.estimate));
    let least = |some: &[Variant]| some.iter().map(|own| own.seconds).fold(f64::INFINITY, f64::min);
    let best = least(variants);
    let ten = least(&variants[..variants.len().min(10)]) / best;
    let columns = |of: fn(&Variant) -> f64| variants.iter().map(of).collect::<Vec<f64>>();
    let rho = correlation(&columns(|own| own.estimate), &columns(|own| own.seconds));
    let errors = columns(|own| own.error(1.0));
    let (none, one, five) = (percent(&errors), error_with(variants, 1), error_with(variants, 5));
    println!("| {title} | {nest} | {ten:.3} | {rho:.2} | {none} | {one} | {five} | {:.2} |", limit / best);
    let marks = MISSED.iter().find(|(known, _)| *known == nest).map_or(MARKS, |(_, marks)| *marks);
    ten <= marks.best_of_ten && rho >= marks.correlation && limit <= best
}

/// A kernel with its time, and the time of the same kernel that scales it, if there is one.
struct Kernel {
    nest: String,
    name: String,
    variant: Variant,
    is_inside: bool,
}

fn kernel(domain: &Domain, (nest, name): (String, String), counts: PropertyCounts, seconds: f64) -> Kernel {
    let known = domain.estimate(&counts);
    let is_inside = known.interval.is_none_or(|own| own.low <= seconds && own.high.is_none_or(|high| seconds <= high));
    Kernel { nest, name, variant: Variant { counts, estimate: known.estimate.seconds, seconds }, is_inside }
}

/// Returns the test kernels of lines `KERNEL,SIZE,ms`.
fn test_kernels(folder: &Path, device: &DeviceFile, domain: &Domain) -> Vec<Kernel> {
    let text = std::fs::read_to_string(folder.join("tests.csv")).unwrap_or_default();
    let line = |line: &str| {
        let [name, size, ms] = line.split(',').collect::<Vec<_>>()[..] else { return None };
        let (size, ms): (i64, f64) = (size.parse().expect("a size"), ms.parse().expect("a time"));
        let counts = kernel_counts(name, size, device.provenance.lanes).expect("counts")?;
        let nest = name.split(' ').next().unwrap_or_default().to_string();
        Some(kernel(domain, (nest, name.to_string()), counts, ms / 1e3))
    };
    text.lines().filter_map(line).collect()
}

/// Returns the kernels of the PolyBench set of lines `NEST;SIZES AND PARAMETERS;ms`.
fn polybench(folder: &Path, device: &DeviceFile, domain: &Domain) -> Vec<Kernel> {
    let text = std::fs::read_to_string(folder.join("polybench.csv")).unwrap_or_default();
    let line = |line: &str| {
        let [name, values, ms] = line.split(';').collect::<Vec<_>>()[..] else { return None };
        let path = folder.join("polybench").join(format!("{name}.nest"));
        let recipe = std::fs::read_to_string(path).expect("a nest").parse::<Recipe>().expect("a nest");
        let value = |own: &'_ str| own.split_once('=').map(|(name, value)| (name.to_string(), value.parse::<i64>()));
        let values: BTreeMap<String, i64> =
            values.split(',').filter_map(value).map(|(name, value)| (name, value.expect("a number"))).collect();
        let named = recipe.parameters.iter().map(|own| own.name.as_str());
        let config: Vec<(&str, i64)> = named.filter_map(|name| Some((name, *values.get(name)?))).collect();
        let nest = recipe.apply(&config).expect("a nest");
        let sizes: Vec<i64> = nest.sizes.iter().map(|name| values[name.as_str()]).collect();
        let lanes = device.provenance.lanes;
        let counts = NestCounts::new(&nest, lanes).and_then(|counts| counts.at(&sizes)).expect("counts");
        Some(kernel(domain, (name.to_string(), name.to_string()), counts, ms.parse::<f64>().expect("a time") / 1e3))
    };
    text.lines().filter_map(line).collect()
}

/// Prints the row of some kernels: their errors without a measurement, with the middle size of the same
/// kernel measured, and the share within their intervals.
fn judge_kernels(title: &str, name: &str, kernels: &[&Kernel]) {
    let errors: Vec<f64> = kernels.iter().map(|own| own.variant.error(1.0)).collect();
    let mut scaled = Vec::new();
    let names: std::collections::BTreeSet<&str> = kernels.iter().map(|own| own.name.as_str()).collect();
    for name in names {
        let mut sizes: Vec<&Kernel> = kernels.iter().copied().filter(|own| own.name == name).collect();
        sizes.sort_by(|a, b| a.variant.seconds.total_cmp(&b.variant.seconds));
        let middle = sizes.remove(sizes.len() / 2).variant.measured(true);
        // Plain least squares may estimate a time below 0, which nothing corrects.
        let Some(correction) = Correction::new(std::slice::from_ref(&middle), std::iter::empty()) else { continue };
        scaled.extend(sizes.iter().map(|own| own.variant.error(correction.factor(&own.variant.counts))));
    }
    let inside = kernels.iter().filter(|own| own.is_inside).count() as f64 / kernels.len() as f64 * 100.0;
    println!("| {title} | {name} | {} | {} | {} | {inside:.0} |", kernels.len(), percent(&errors), percent(&scaled));
}

fn judge_all_kernels(title: &str, set: &str, kernels: &[Kernel]) {
    let mut by_nest: BTreeMap<&str, Vec<&Kernel>> = BTreeMap::new();
    kernels.iter().for_each(|own| by_nest.entry(&own.nest).or_default().push(own));
    if by_nest.len() < kernels.len() {
        by_nest.iter().for_each(|(nest, own)| judge_kernels(title, nest, own));
    }
    if !kernels.is_empty() {
        judge_kernels(title, set, &kernels.iter().collect::<Vec<_>>());
    }
}

fn calibrations(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("calibration-")));
    found.sort();
    found
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|own| own != "--bench").collect();
    let is_all = arguments.iter().any(|own| own == "--all-forms");
    let forms = if is_all { Form::ALL.map(|(_, form)| form).to_vec() } else { vec![Form::Overlap] };
    let mut folders: Vec<PathBuf> = arguments.iter().filter(|own| !own.starts_with("--")).map(PathBuf::from).collect();
    if folders.is_empty() {
        let all = std::fs::read_dir(root().join("bench/costmodel/recordings"));
        let paths = all.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
        folders = paths.filter(|path| path.is_dir()).collect();
        folders.sort();
    }
    let (mut missed, mut files) = (Vec::new(), Vec::new());
    println!("| model | nest | best of ten | Spearman | error, % | one measured | five measured | limit / best |");
    println!("|---|---|---|---|---|---|---|---|");
    for (folder, path) in
        folders.iter().flat_map(|folder| calibrations(folder).into_iter().map(move |own| (folder, own)))
    {
        let text = std::fs::read_to_string(&path).expect("a file");
        let device = recounted(&DeviceFile::parse(&text).expect("a device file"), &forms).expect("models");
        for form in &forms {
            let name = |path: &Path| path.file_stem().map(|own| own.to_string_lossy().into_owned()).unwrap_or_default();
            let title = format!("{} {} {}", name(folder), name(&path), form.name());
            for nest in NESTS {
                let Some((mut variants, limit)) = variants(folder, nest, &device, *form) else { continue };
                let is_kept = judge_nest(&title, nest, (&mut variants, limit));
                missed.extend((!is_kept && *form == Form::Overlap).then(|| format!("{nest} in {title}")));
            }
            files.push((title, folder, device.clone(), *form));
        }
    }
    println!(
        "\n| model | kernel | cases | error, % | one size measured | within intervals, % |\n|---|---|---|---|---|---|"
    );
    for (title, folder, device, form) in files {
        let domain = device.domain(device.model(form).expect("a model"));
        judge_all_kernels(&title, "all test kernels", &test_kernels(folder, &device, &domain));
        judge_all_kernels(&title, "PolyBench", &polybench(folder, &device, &domain));
    }
    missed.iter().for_each(|own| println!("missed: {own}"));
    assert!(missed.is_empty(), "{} marks are missed", missed.len());
}
