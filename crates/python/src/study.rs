//! Questions about recordings, models and devices, whose answers are documents.

use crate::error::{entry, raised, request, without_panic};
use crate::options::Options;
use crate::problem::Problem;
use crate::value::{json, value};
use pyo3::prelude::*;
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use tunesmith::core::{Interrupt, SystemClock};
use tunesmith::{
    Error,
    choose::timing::TimingModel,
    study::{CompareOptions, ModelChoice},
    timing::{PredictOptions, named_device},
};

/// The time between two looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

/// Compares strategies on recordings.
#[pyfunction]
#[pyo3(signature = (recordings, strategies, repeats, budget, seed, noise, history, model))]
#[allow(clippy::too_many_arguments)] // Python calls it by keywords
pub(crate) fn compare<'py>(
    py: Python<'py>,
    recordings: Vec<PathBuf>,
    strategies: Vec<String>,
    repeats: usize,
    budget: u64,
    seed: u64,
    noise: bool,
    history: Vec<PathBuf>,
    model: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    entry(|| {
        let model = model.as_deref().map(ModelChoice::from_text);
        let interrupt = Interrupt::default();
        let options = CompareOptions {
            recordings,
            strategies,
            repeats,
            budget,
            seed,
            noise,
            history,
            model,
            interrupt: interrupt.clone(),
            ..CompareOptions::default()
        };
        let document = interruptible(py, &interrupt, move || serialised(&tunesmith::study::compare(&options)?))?;
        json(py, &document.map_err(|error| raised(&error))?)
    })
}

/// Does `work` in a thread of its own. Ctrl-C raises `interrupt` and leaves the thread to itself: nobody
/// waits for it any longer.
fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    interrupt: &Interrupt,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    py.detach(|| {
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            // An error means that nobody waits any longer.
            let _ = sender.send(without_panic(work));
        });
        loop {
            match receiver.recv_timeout(LOOK) {
                Ok(done) => return done,
                Err(RecvTimeoutError::Timeout) => {
                    Python::attach(|py| py.check_signals()).inspect_err(|_| interrupt.raise())?;
                }
                Err(RecvTimeoutError::Disconnected) => return Err(request("the comparison ended without a result")),
            }
        }
    })
}

/// Predicts the best configurations for an input.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // Python calls it by keywords
pub(crate) fn predict<'py>(
    py: Python<'py>,
    model: PathBuf,
    input: Vec<(String, Bound<'py, PyAny>)>,
    device: Option<String>,
    problem: Option<Bound<'py, Problem>>,
    search: &str,
    count: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyAny>> {
    entry(|| {
        let input =
            input.iter().map(|(name, given)| Ok((name.clone(), value(given)?))).collect::<PyResult<Vec<_>>>()?;
        let search = search.parse().map_err(|text: String| request(text))?;
        let problem = problem.map(|problem| problem.get().read.clone());
        let predicted = py.detach(|| {
            let model = TimingModel::read(&model)?;
            let device = device.as_deref().map(|name| named_device(&model, name));
            // A problem of other sizes has another space.
            let problem = problem.map(|problem| problem.with_sizes(&input)).transpose()?;
            let options = PredictOptions { input, device, search, seed, count, ..PredictOptions::default() };
            serialised(&tunesmith::timing::predict(&model, problem.as_ref(), &options, &SystemClock::new())?)
        });
        json(py, &predicted.map_err(|error| raised(&error))?)
    })
}

/// Returns the usable devices, and what the others lack.
#[pyfunction]
pub(crate) fn devices(py: Python<'_>, options: Options) -> PyResult<Bound<'_, PyAny>> {
    entry(|| {
        let machine = options.machine(&Interrupt::default()).map_err(|error| raised(&error))?;
        let (devices, missing) = py.detach(|| tunesmith::devices(&machine));
        let devices: Vec<Json> = devices.iter().map(|one| {
            json!({ "id": one.id, "name": one.name, "backend": one.backend, "driver": one.driver, "limits": one.limits })
        }).collect();
        let missing: Vec<Json> = missing
            .iter()
            .map(|one| json!({ "backend": one.backend, "reason": one.reason, "remedy": one.remedy }))
            .collect();
        json(py, &json!({ "devices": devices, "missing": missing }))
    })
}

fn serialised(document: &impl serde::Serialize) -> Result<Json, Error> {
    // A document of ours has no map whose keys are not texts, which alone could not be written.
    Ok(serde_json::to_value(document).unwrap_or_default())
}
