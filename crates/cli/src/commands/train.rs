//! `tunesmith train`.

use super::export::measuring;
use super::pairs;
use crate::args::{TrainCommand, TrainCountersArgs, TrainTimingArgs};
use crate::{Ending, output};
use tunesmith::core::SystemClock;
use tunesmith::report::{count_table, counted};
use tunesmith::{
    Error,
    choose::timing::Unseen,
    export::{GuardOptions, JudgeModelOptions, judge_model},
    model::BoostedSettings,
    recorded::beside,
    study::{TrainOptions, Trained, train_counters},
    timing::{
        CoveredSize, Covers, FoldBy, RoundsChoice, Rung, TimingSettings, TrainTimingOptions, TrainedTiming,
        train_timing,
    },
};

pub(crate) fn train(command: &TrainCommand) -> Result<Ending, Error> {
    match command {
        TrainCommand::Counters(args) => counters(args),
        TrainCommand::Timing(args) => timing(args),
    }
}

fn timing(args: &TrainTimingArgs) -> Result<Ending, Error> {
    let options = TrainTimingOptions {
        inputs: args.inputs.clone(),
        out: args.out.clone(),
        reference: pairs(&args.reference),
        settings: TimingSettings {
            zeta_speedup: args.zeta,
            hold_out: args.hold_out,
            seed: args.seed,
            rounds: args.rounds,
            trees: BoostedSettings { learning_rate: args.learning_rate, ..TimingSettings::default().trees },
        },
    };
    // A wrong device is refused before the fit.
    let measuring = args.judge.then(|| measuring(args.device.as_deref())).transpose()?;
    let mut trained = train_timing(&options, &SystemClock::new())?;
    if let Some(measuring) = measuring {
        trained.judgement = match judge_model(&judging(args, &trained, measuring))? {
            Some(judgement) => Some(judgement),
            None => return Ok(Ending::Interrupted),
        };
    }
    trained.notes.iter().for_each(|note| output::note(note));
    if args.json {
        output::json(&trained);
    } else {
        output::print(&timing_text(&trained));
    }
    Ok(Ending::Done)
}

/// Returns the judgement to make of a trained model.
fn judging(args: &TrainTimingArgs, trained: &TrainedTiming, measuring: GuardOptions) -> JudgeModelOptions {
    let beside = || args.inputs.first().map(|run| beside(run)).unwrap_or_default();
    JudgeModelOptions {
        model: trained.out.clone(),
        problem: args.problem.clone().unwrap_or_else(beside),
        made_from: trained.made_from.clone(),
        held_out: trained.left_out.clone(),
        measuring,
        seed: args.seed,
    }
}

fn timing_text(trained: &TrainedTiming) -> String {
    let TrainedTiming { rows, features, inputs, devices, fit_seconds, held_out, importance, out, .. } = trained;
    let (device_count, held) = (devices.len(), held_out.inputs.len());
    let head = format!(
        "{} of {} on {}, {}, fitted in {fit_seconds:.2} s\n",
        counted(rows, "row"),
        counted(inputs, "input"),
        counted(device_count, "device"),
        counted(features, "feature")
    );
    let error = held_out.log_speedup.map_or_else(String::new, |error| {
        let percent =
            |share: Option<f64>| share.map_or_else(|| "?".to_string(), |share| format!("{:.1}", share * 100.0));
        let (best, reference) = (percent(held_out.chosen_over_best), percent(held_out.chosen_over_reference));
        format!(
            "held out: {} of {}; error of the logarithm {error:.3}; the measured configuration that \
                 it predicts best runs at {best} % of the best and {reference} % of the reference's speed\n",
            counted(held_out.rows, "row"),
            counted(held, "input")
        )
    });
    let shares: Vec<[String; 2]> =
        importance.iter().take(10).map(|(name, share)| [format!("{:.1} %", share * 100.0), name.clone()]).collect();
    let (rounds, unseen) =
        (rounds_text(&trained.rounds), trained.unseen_device.as_ref().map_or_else(String::new, unseen_text));
    let (covers, judged) = (covers_text(&trained.covers), judged_text(trained));
    format!(
        "{head}{covers}{error}{rounds}{unseen}{judged}{}\nwrote {}\n",
        count_table(["gain", "feature"], &shares),
        out.display()
    )
}

/// Returns the line with the judgement at fresh sizes, or one that says that there is none.
fn judged_text(trained: &TrainedTiming) -> String {
    match &trained.judgement {
        Some(judgement) => format!("judged: {judgement}\n"),
        None => "not judged: --judge measures the choices against the reference at 20 fresh sizes\n".to_string(),
    }
}

/// Returns the line with the sizes and devices of the training set.
fn covers_text(covers: &Covers) -> String {
    let size = |(name, size): &(String, CoveredSize)| match size {
        CoveredSize::Range(low, high) if low == high => format!("{name} = {low}"),
        CoveredSize::Range(low, high) => format!("{name} from {low} to {high}"),
        CoveredSize::Texts(texts) => format!("{name} of {}", texts.join(", ")),
    };
    let sizes: Vec<String> = covers.sizes.iter().map(size).collect();
    let sizes = if sizes.is_empty() { "one input".to_string() } else { sizes.join(", ") };
    format!("covers {sizes}, on {}\n", covers.devices.join(", "))
}

fn rounds_text(choice: &RoundsChoice) -> String {
    let what = match choice.left_out {
        None => return format!("{}\n", counted(choice.rounds, "tree")),
        Some(FoldBy::Devices) => "devices",
        Some(FoldBy::Inputs) => "inputs",
        Some(FoldBy::Configurations) => "configurations",
    };
    let rung = |Rung { rounds, error, .. }: &Rung| format!("{rounds} ({error:.3})");
    let tried: Vec<String> = choice.tried.iter().map(rung).collect();
    let rounds = counted(choice.rounds, "tree");
    format!("{rounds}, by the error of the logarithm with {what} left out: {}\n", tried.join(", "))
}

fn unseen_text(unseen: &Unseen) -> String {
    let (model, single) = (unseen.model * 100.0, unseen.best_single * 100.0);
    let percent = |share: Option<f64>| share.map_or_else(|| "?".to_string(), |share| format!("{:.1}", share * 100.0));
    let (robust, three, five) = (percent(unseen.robust), percent(unseen.robust_of_3), percent(unseen.robust_of_5));
    format!(
        "devices left out one by one: the model's choice runs at {model:.1} % of the best, the best single configuration of the \
         others at {single:.1} %; the most robust one at {robust} %, the best of three robust ones at {three} %, of five at {five} %\n"
    )
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
    let head = format!(
        "{method}: {}, {}, fitted in {fit_seconds:.2} s\n",
        counted(rows, "configuration"),
        counted(features, "parameter")
    );
    let errors: Vec<[String; 2]> =
        held_out.iter().map(|(counter, error)| [format!("{:.2} %", error * 100.0), counter.clone()]).collect();
    let table = if errors.is_empty() {
        "no configuration was held out: the error of the model is not known\n".to_string()
    } else {
        format!("{}\n", count_table(["held-out error", "counter"], &errors))
    };
    format!("{head}{table}wrote {}\n", out.display())
}
