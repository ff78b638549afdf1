//! `tunesmith train`.

use crate::args::{TrainCommand, TrainCountersArgs};
use crate::{Ending, output};
use tunesmith::core::SystemClock;
use tunesmith::report::count_table;
use tunesmith::{Error, TrainOptions, Trained, train_counters};

pub(crate) fn train(command: &TrainCommand) -> Result<Ending, Error> {
    let TrainCommand::Counters(args) = command;
    counters(args)
}

fn counters(args: &TrainCountersArgs) -> Result<Ending, Error> {
    let options = TrainOptions {
        inputs: args.inputs.clone(),
        out: args.out.clone(),
        method: args.method.clone(),
        seed: args.seed,
    };
    let trained = train_counters(&options, &SystemClock::new())?;
    trained.notes.iter().for_each(|note| output::note(note));
    if args.json {
        output::json(&trained);
    } else {
        output::print(&text(&trained));
    }
    Ok(Ending::Done)
}

fn text(trained: &Trained) -> String {
    let Trained { method, rows, features, fit_seconds, held_out, out, .. } = trained;
    let head = format!("{method}: {rows} configurations, {features} parameters, fitted in {fit_seconds:.2} s\n");
    let errors: Vec<[String; 2]> =
        held_out.iter().map(|(counter, error)| [format!("{:.2} %", error * 100.0), counter.clone()]).collect();
    let table = if errors.is_empty() {
        "no configuration was held out, so the error of the model is not known\n".to_string()
    } else {
        format!("{}\n", count_table(["held-out error", "counter"], &errors))
    };
    format!("{head}{table}wrote {}\n", out.display())
}
