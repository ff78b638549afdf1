//! The plots of a comparison as files.

use super::progress::over_recordings;
use crate::Error;
use std::fs;
use std::path::{Path, PathBuf};
use tunesmith_report::{ComparisonPlot, PlotSeries, comparison_svg};

/// Makes the folder where there is none.
pub(super) fn make_folder(folder: &Path) -> Result<(), Error> {
    if folder.is_file() {
        let remedy = "give --plots a folder; every recording gets a file in it".to_string();
        return Err(Error::request(format!("`{}` is a file", folder.display()), Some(remedy)));
    }
    fs::create_dir_all(folder).map_err(|source| Error::Write { path: folder.to_path_buf(), source })
}

/// Writes a plot of every recording and, of several, one over all. `series` are those of the first strategy on every
/// recording, then those of the next. Over time there is no plot of all: recordings differ in what an evaluation takes.
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
        // Two recordings may differ in characters alone that names of files do not have.
        let name = if names[..number].contains(name) { format!("{name}-{number}") } else { name.clone() };
        let path = folder.join(format!("{name}.svg"));
        let svg = comparison_svg(plot).map_err(|source| Error::Plot { path: path.clone(), source })?;
        fs::write(&path, svg).map_err(|source| Error::Write { path: path.clone(), source })?;
        written.push(path);
    }
    Ok(written)
}

/// `recording` with only those characters that every system has in names of files.
fn file_name(recording: &str) -> String {
    let plain =
        |character: char| if character.is_alphanumeric() || "-_.".contains(character) { character } else { '_' };
    recording.chars().map(plain).collect()
}
