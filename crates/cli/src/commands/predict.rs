//! `tunesmith predict`.

use super::values;
use crate::args::PredictArgs;
use crate::{Ending, output};
use tunesmith::core::{Refusal, SystemClock};
use tunesmith::report::count_table;
use tunesmith::{
    Error, Problem,
    choose::timing::TimingModel,
    timing::{PredictOptions, Predicted, Prediction, named_device},
};

pub(crate) fn predict(args: &PredictArgs) -> Result<Ending, Error> {
    let model = TimingModel::read(&args.model)?;
    let search = args.search.parse().map_err(|text| request(text, None))?;
    let input = values(&args.input);
    let device = args.device.as_deref().map(|name| named_device(&model, name));
    let problem = args.problem.as_ref().map(|path| Problem::load(path, &input)).transpose()?;
    let options =
        PredictOptions { input, device, search, restarts: args.restarts, seed: args.seed, count: args.n.max(1) };
    let predicted = tunesmith::timing::predict(&model, problem.as_ref(), &options, &SystemClock::new())?;
    predicted.outside.iter().for_each(|outside| output::note(&format!("warning: {outside}")));
    predicted.notes.iter().for_each(|note| output::note(note));
    if args.json {
        output::json(&predicted);
    } else {
        output::print(&text(&predicted));
    }
    Ok(Ending::Done)
}

fn request(text: String, remedy: Option<String>) -> Error {
    Error::from(Refusal { text, remedy })
}

fn text(predicted: &Predicted) -> String {
    let Predicted { source, seconds, candidates, .. } = predicted;
    let row = |prediction: &Prediction| {
        let config = prediction.config.iter().map(|(name, value)| format!("{name}={}", plain(value)));
        let (low, high) = prediction.predicted_speedup_80;
        let time = prediction.predicted_time_ms.map_or_else(String::new, |ms| format!(", {ms:.4} ms"));
        let speed = format!("{:.2} ({low:.2} to {high:.2}){time}", prediction.predicted_speedup);
        [speed, config.collect::<Vec<_>>().join(",")]
    };
    let rows: Vec<[String; 2]> = candidates.iter().map(row).collect();
    let table = count_table(["predicted speed-up", "configuration"], &rows);
    format!("{table}\n{source}, {:.1} ms\n", seconds * 1e3)
}

fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}
