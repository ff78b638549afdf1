//! Writes recorded runs as one HTML page.

use super::run_section;
use crate::gathered::config;
use crate::top::{Top, UNVERIFIED, top_of};
use crate::{Error, FrontMember, JudgedRun, recorded::beside, top::TopConfig};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use tunesmith_choose::wisdom::{Input, Measured, Portfolio, PortfolioOptions};
use tunesmith_core::RunState;
use tunesmith_core::output::{is_marked, refuse_overwriting};
use tunesmith_export::{BuildForm, for_build};
use tunesmith_problem::Metric;
use tunesmith_report::{
    BuildText, DrawingError, EVALUATIONS, Form, Front, Page, RunSection, Written, counted, equal_code, not_compared,
    page_html,
};
use tunesmith_store::{Header, Outline};

/// The mark of pages that this program wrote.
const FOOTER: &str = "<footer>Tunesmith ";

/// Number of a run's configurations that the page lists.
const LISTED: usize = 20;
/// Number of leaders whose samples it shows if the run has no final.
const LEADERS: usize = 5;

/// Writes one self-contained, interactive HTML page about `runs`, in the order given, to `out`. It
/// shows the progress of the search, the best configurations, which parameters matter and how,
/// every evaluation, where the time went, the failures, and how to repeat the runs. Runs of one
/// problem share axes.
///
/// # Errors
/// A journal cannot be read, the file cannot be written, or its name does not end in `.html`.
pub fn write_page(runs: &[PathBuf], out: &Path) -> Result<Written, Error> {
    // This also keeps a journal from being overwritten.
    if !out.extension().is_some_and(|suffix| suffix == "html" || suffix == "htm") {
        let text = format!("`{}` does not have the suffix of an HTML page", out.display());
        return Err(Error::request(text, Some("name it FILE.html".to_string())));
    }
    refuse_overwriting(out, runs.iter().map(PathBuf::as_path), |file| is_marked(file, &[FOOTER]))?;
    let sections = sections(runs)?;
    let written = Written::new(&sections, out);
    let page = rendered(sections, out, Form::Interactive)?;
    tunesmith_files::replace(out, page).map_err(Error::write(out))?;
    Ok(written)
}

/// Returns a page about `runs` with one picture and without scripts, for notebooks.
///
/// # Errors
/// A journal cannot be read.
pub fn page(runs: &[PathBuf]) -> Result<String, Error> {
    rendered(sections(runs)?, Path::new("page"), Form::Static)
}

/// Returns the page that [`write_page`] writes.
///
/// # Errors
/// A journal cannot be read.
pub fn interactive_page(runs: &[PathBuf]) -> Result<String, Error> {
    rendered(sections(runs)?, Path::new("page"), Form::Interactive)
}

fn sections(runs: &[PathBuf]) -> Result<Vec<RunSection>, Error> {
    let most = EVALUATIONS / runs.len().max(1);
    runs.iter().map(|path| section(path, &tunesmith_store::read_brief(path)?, most)).collect()
}

/// Returns the text of the page with these sections. Errors call it `out`.
fn rendered(runs: Vec<RunSection>, out: &Path, form: Form) -> Result<String, Error> {
    let title = match &runs[..] {
        [one] => format!("Tuning {}", one.subject.problem),
        [first, others @ ..] if others.iter().all(|run| run.subject.problem == first.subject.problem) => {
            format!("{} of {}", counted(runs.len(), "run"), first.subject.problem)
        }
        several => counted(several.len(), "tuning run"),
    };
    let written_by = format!("Tunesmith {}", env!("CARGO_PKG_VERSION"));
    let page = page_html(&Page { title, runs, written_by }, form);
    Ok(page.map_err(|source| DrawingError { path: out.to_path_buf(), source })?)
}

fn section(path: &Path, recorded: &Outline, most: usize) -> Result<RunSection, Error> {
    let judged = JudgedRun::new(recorded);
    let top = top_of(&judged, LISTED);
    let objectives = judged.metric.objective().parts().iter().map(|part| part.quantity().to_string()).collect();
    let members = crate::front_of_journal(&judged)?;
    let leaders = &judged.verdict.order[..judged.verdict.order.len().min(LEADERS)];
    let row = |member: &FrontMember| (member.objectives.clone(), member.arguments());
    let front = Front { objectives, members: members.iter().map(row).collect() };
    Ok(RunSection {
        name: path.display().to_string(),
        verdict: verdict(&top),
        builds: top.configs.first().map(|best| builds(&recorded.header, best)).unwrap_or_default(),
        reproduce: reproduce(path, recorded),
        top: top.configs.iter().map(|found| found.row(&top.objective)).collect(),
        front,
        ..run_section(path, recorded, &judged.metric, leaders, most)?
    })
}

/// Returns what a reader must know about the best.
fn verdict(top: &Top) -> Vec<String> {
    let nothing = top.nothing_better.then(|| "nothing better than the default was found".to_string());
    let verb = if top.ties == 1 { "is" } else { "are" };
    let ties = (top.ties > 0).then(|| format!("{} more {verb} indistinguishable from the best", top.ties));
    let unverified = (top.verified == Some(false)).then(|| UNVERIFIED.to_string());
    let open = (top.not_compared > 0).then(|| not_compared(top.not_compared));
    let twins = (top.equal_code > 0).then(|| equal_code(top.equal_code));
    let end = top.state.and_then(RunState::remark).map(str::to_string);
    [nothing, ties, open, twins, end, unverified].into_iter().flatten().collect()
}

/// Returns the best configuration in each form that a build reads and that can hold it.
fn builds(header: &Header, best: &TopConfig) -> Vec<BuildText> {
    let device = header.identity.get("device").and_then(Json::as_str).unwrap_or_default();
    let measured = Measured {
        sizes: Vec::new(),
        inputs: vec![Input::new()],
        configs: vec![config(&best.config)],
        times_ms: vec![vec![Some(best.time_ms)]],
        default: None,
    };
    let Ok(portfolio) = Portfolio::new(&header.problem, device, &measured, PortfolioOptions::default()) else {
        return Vec::new();
    };
    let forms = [BuildForm::Flags, BuildForm::Defines, BuildForm::CMake, BuildForm::Make, BuildForm::Env];
    let text = |form: BuildForm| {
        let text = for_build(form, std::slice::from_ref(&portfolio)).ok()?;
        Some(BuildText { form: form.word().to_string(), text })
    };
    forms.into_iter().filter_map(text).collect()
}

/// Returns the commands that repeat a run and measure its best again, if its problem lies beside it.
fn reproduce(path: &Path, recorded: &Outline) -> Vec<String> {
    let (header, problem) = (&recorded.header, beside(path));
    if !problem.is_file() {
        return Vec::new();
    }
    let [problem, path] = [problem.as_path(), path].map(|path| path.display().to_string());
    let (sizes, seed) = (tunesmith_store::arguments(&header.sizes), header.seed.to_string());
    let stop = format!("evaluations {}", recorded.entries.len());
    let metric = Metric::recorded(header.objective.as_ref());
    // The time is the default.
    let objective = metric.objective().beside_time(metric.objective().to_string());
    let device = header.identity.get("device").and_then(Json::as_str);
    let mut tune =
        vec!["tunesmith", "tune", &problem, "--strategy", &header.strategy, "--seed", &seed, "--stop", &stop];
    tune.extend(objective.iter().flat_map(|objective| ["--objective", objective]));
    let files: Vec<String> = header.history.iter().map(|history| history.file.display().to_string()).collect();
    tune.extend(files.iter().flat_map(|file| ["--history", file]));
    let mut run = vec!["tunesmith", "run", &problem, "--best", &path];
    for words in [&mut tune, &mut run] {
        words.extend(Some(["--size", &sizes]).filter(|_| !sizes.is_empty()).into_iter().flatten());
        // Only the name of a function says how to ask for it. The device of a kernel is this machine's.
        words.extend(
            device.filter(|name| name.starts_with("synthetic:")).into_iter().flat_map(|name| ["--device", name]),
        );
    }
    // Only a NUL byte cannot be quoted.
    [tune, run].into_iter().filter_map(|words| shlex::try_join(words).ok()).collect()
}
