//! Writes the plots of a comparison to files.

use super::progress::over_recordings;
use crate::Error;
use std::fs;
use std::path::{Path, PathBuf};
use tunesmith_report::{ComparisonPlot, DrawingError, PlotSeries, comparison_svg};

/// Creates the folder if it does not exist.
pub(super) fn make_folder(folder: &Path) -> Result<(), Error> {
    if folder.is_file() {
        let remedy = "give --plots a folder; every recording gets a file in it".to_string();
        return Err(Error::request(format!("`{}` is a file", folder.display()), Some(remedy)));
    }
    fs::create_dir_all(folder).map_err(Error::write(folder))
}

/// Writes a plot of every recording and, if there are several, one over all. `series` are those of
/// the first strategy on every recording, then those of the next. Over time there is no plot over
/// all recordings, since they differ in the cost of an evaluation.
pub(super) fn write(
    folder: &Path,
    recordings: &[String],
    series: Vec<PlotSeries>,
    over_time: bool,
) -> Result<Vec<PathBuf>, Error> {
    let axis = if over_time { "simulated seconds" } else { "evaluations" };
    let of_strategies: Vec<&[PlotSeries]> = series.chunks(recordings.len().max(1)).collect();
    let of_recording = |(number, name): (usize, &String)| ComparisonPlot {
        title: name.clone(),
        axis: axis.to_string(),
        series: of_strategies.iter().filter_map(|strategy| strategy.get(number).cloned()).collect(),
    };
    let mut plots: Vec<ComparisonPlot> = recordings.iter().enumerate().map(of_recording).collect();
    if recordings.len() > 1 && !over_time {
        let over = |strategy: &&[PlotSeries]| {
            over_recordings(strategy.first().map_or("", |first| &first.label), &strategy.iter().collect::<Vec<_>>())
        };
        let title = format!("{} recordings", recordings.len());
        plots.push(ComparisonPlot { title, axis: axis.to_string(), series: of_strategies.iter().map(over).collect() });
    }
    let names: Vec<String> = recordings.iter().map(|name| file_name(name)).chain(["overall".to_string()]).collect();
    let mut written: Vec<PathBuf> = Vec::new();
    for (number, (plot, name)) in plots.iter().zip(&names).enumerate() {
        // The names of two recordings may differ only in characters that file names cannot have.
        let name = if names[..number].contains(name) { format!("{name}-{number}") } else { name.clone() };
        let path = folder.join(format!("{name}.svg"));
        let svg = comparison_svg(plot).map_err(|source| DrawingError { path: path.to_path_buf(), source })?;
        tunesmith_files::replace(&path, svg).map_err(Error::write(&path))?;
        written.push(path);
    }
    Ok(written)
}

/// Returns `recording` with only those characters that every system allows in file names.
fn file_name(recording: &str) -> String {
    let plain =
        |character: char| if character.is_alphanumeric() || "-_.".contains(character) { character } else { '_' };
    recording.chars().map(plain).collect()
}
