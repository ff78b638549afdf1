use super::*;
use tunesmith_core::FailureKind;
use tunesmith_explain::{Absence, BestValues, Cause, Condition, PairShare, Source, Span};
use tunesmith_space::Value;

fn condition(parameter: &str, span: Span) -> Condition {
    Condition { parameter: parameter.to_string(), span }
}

fn share(parameter: &str, share: f64, with_interactions: f64) -> MainShare {
    MainShare { parameter: parameter.to_string(), share, with_interactions }
}

fn importance() -> Importance {
    Importance {
        parameters: 3,
        importance: vec![share("TILE", 0.52, 0.61), share("UNROLL", 0.04, 0.13), share("PAD", 0.001, 0.004)],
        interactions: vec![PairShare { parameters: ["TILE".to_string(), "UNROLL".to_string()], share: 0.09 }],
        higher: Some(0.349),
        unexplained: Some(0.125),
        scale: Some(Scale::Logarithm),
    }
}

fn effect(ratio: f64, source: Source) -> Effect {
    Effect { gain: Gain::Ratio(ratio), source, explained: (source == Source::Model).then_some(0.88) }
}

fn change(parameter: &str, to: i64, alone: Option<f64>, source: Source) -> Change {
    Change {
        parameter: parameter.to_string(),
        from: Value::Int(8),
        to: Value::Int(to),
        alone: alone.map(|ratio| effect(ratio, source)).ok_or(Absence::Excluded),
        needed: Ok(effect(2.0, source)),
    }
}

fn failures(count: usize, cause: Option<Cause>) -> FailureCause {
    FailureCause {
        status: FailureKind::Timeout,
        covered: if cause.is_some() { count } else { 0 },
        correct: 0,
        count,
        cause,
        message: "the kernel was ended after 2 s".to_string(),
    }
}

fn number(name: &str, best: f64, default: Option<f64>) -> CodeNumber {
    CodeNumber { name: name.to_string(), best, default }
}

#[test]
fn a_page_tells_what_matters_what_failed_and_what_to_do() {
    let best = AmongBest {
        count: 10,
        up_to: 2.5,
        parameters: vec![
            BestValues { condition: condition("TILE", Span::Is(Value::Int(64))), edge: None },
            BestValues { condition: condition("UNROLL", Span::AtLeast(Value::Int(4))), edge: None },
            BestValues { condition: condition("PAD", Span::Any), edge: None },
        ],
    };
    let standing = Standing {
        objective: Objective::time(),
        time_ms: 2.31,
        ci95_ms: Some((2.29, 2.34)),
        config: "TILE=64,UNROLL=4,PAD=0".to_string(),
        default: Some(("8.400 ms".to_string(), Gain::Ratio(8.4 / 2.31))),
        value: None,
        is_better: true,
        ties: 1,
        not_compared: 0,
        end: None,
    };
    let cause = Cause { conditions: vec![condition("TILE", Span::Is(Value::Int(8)))] };
    let page = ExplanationPage {
        title: "transpose: 200 evaluations of 1,024 configurations, 186 correct",
        standing: Some(&standing),
        importance: &importance(),
        among_best: Some(&best),
        changes: &[
            change("TILE", 64, Some(3.0), Source::Measured),
            change("UNROLL", 4, Some(0.8), Source::Model),
            change("PAD", 0, None, Source::Model),
        ],
        code: &[
            number("global_loads", 4.0, Some(8.0)),
            number("instructions", 640.0, Some(320.0)),
            number("local_bytes", 0.0, Some(0.0)),
            number("occupancy", 0.5, Some(0.75)),
            number("registers", 40.0, Some(32.0)),
            number("shared_bytes", 4096.0, None),
        ],
        failures: &[failures(14, Some(cause)), failures(1, None)],
        cut: None,
        within: &[(0.01, 0.123), (0.05, 0.999)],
        bottlenecks: &[("reading global memory".to_string(), 0.53), ("branches".to_string(), 0.0)],
        roof: None,
        next: &[
            NextStep {
                reason: "more is left".to_string(),
                command: Some("tunesmith tune p.toml --resume".to_string()),
            },
            NextStep { reason: "no visible effect, so that one value each will do: PAD".to_string(), command: None },
        ],
    };
    insta::assert_snapshot!(page.render(), @r"
    transpose: 200 evaluations of 1,024 configurations, 186 correct
          best  2.310 ms  (95 %: 2.290 ms to 2.340 ms)
                TILE=64, UNROLL=4, PAD=0
      speed-up  3.636 times the default (8.400 ms)
          ties  1 configuration is indistinguishable from the best
    importance  share of the variance of log(time): alone, and with interactions
                TILE              ##########..........   52 %    61 %
                UNROLL            #...................    4 %    13 %
                TILE with UNROLL  ##..................    9 %  jointly
                no visible effect: PAD
                left to noise, or to what was not tried: 12 %
        values  of the best 10: TILE = 64, UNROLL >= 4, any PAD
       changes  TILE 8 -> 64   alone 3.00 times faster; without it 2.00 times slower
                UNROLL 8 -> 4  alone 1.25 times slower (model: 88 %); without it 2.00 times slower
                (model: 88 %)
                PAD 8 -> 0     alone: excluded by the constraints; without it 2.00 times slower (model:
                88 %)
          code  registers 40 (default 32), occupancy 0.500 (default 0.750), shared_bytes 4096,
                instructions 640 (default 320)
        failed  14 timeout: all have TILE = 8
                  the kernel was ended after 2 s
                1 timeout
                  the kernel was ended after 2 s
       optimum  the best is within 1 % of it with a probability of 12 %; within 5 %: 99 %
    bottleneck  reading global memory at 53 % of its peak
          next  more is left:
                  tunesmith tune p.toml --resume
                no visible effect, so that one value each will do: PAD
    ");
}

#[test]
fn a_run_without_a_model_says_why() {
    let none = Importance { parameters: 2, ..Importance::default() };
    let page = ExplanationPage {
        title: "transpose: 3 evaluations, 0 correct",
        standing: None,
        importance: &none,
        among_best: None,
        changes: &[],
        code: &[],
        failures: &[failures(3, None)],
        cut: None,
        within: &[],
        bottlenecks: &[],
        roof: None,
        next: &[],
    };
    insta::assert_snapshot!(page.render(), @r"
    transpose: 3 evaluations, 0 correct
    importance  unknown: that takes 10 correct evaluations with different times
        failed  3 timeout
                  the kernel was ended after 2 s
    ");
}

/// Fifty parameters with long names and values: the worst that a page has to show.
#[test]
fn the_page_fits_a_screen_whatever_it_shows() {
    let name = |at: usize| format!("A_PARAMETER_WITH_A_RATHER_LONG_NAME_{at}");
    let found = Importance {
        importance: (0..50).map(|at| share(&name(at), 0.02, if at < 25 { 0.5 } else { 0.0 })).collect(),
        interactions: (0..9).map(|at| PairShare { parameters: [name(at), name(at + 1)], share: 0.05 }).collect(),
        ..importance()
    };
    let long = || Cause {
        conditions: (0..2).map(|at| condition(&name(at), Span::Is("x".repeat(90).as_str().into()))).collect(),
    };
    let values = |at| BestValues { condition: condition(&name(at), Span::Is(Value::Int(1))), edge: None };
    let best = AmongBest { count: 10, up_to: 2.5, parameters: (0..50).map(values).collect() };
    let config: Vec<String> = (0..50).map(|at| format!("{}=1", name(at))).collect();
    let standing = Standing {
        objective: Objective::time(),
        time_ms: 2.31,
        ci95_ms: Some((2.29, 2.34)),
        config: config.join(","),
        default: Some(("8.400 ms".to_string(), Gain::Ratio(8.4 / 2.31))),
        value: None,
        is_better: false,
        ties: 12,
        not_compared: 0,
        end: None,
    };
    let title = "x".repeat(300);
    let changes: Vec<Change> = (0..50).map(|at| change(&name(at), 4, Some(1.5), Source::Model)).collect();
    let many: Vec<FailureCause> =
        (0..6).map(|_| FailureCause { message: "y".repeat(400), ..failures(1000, Some(long())) }).collect();
    let steps: Vec<NextStep> = (0..3)
        .map(|_| NextStep { reason: "reason ".repeat(12), command: Some("tunesmith top run.jsonl".to_string()) })
        .collect();
    let page = ExplanationPage {
        title: &title,
        standing: Some(&standing),
        importance: &found,
        among_best: Some(&best),
        changes: &changes,
        code: &(0..50).map(|at| number(&format!("{}.registers", name(at)), 40.0, Some(32.0))).collect::<Vec<_>>(),
        failures: &many,
        cut: None,
        within: &[(0.01, 0.1), (0.02, 0.2), (0.05, 0.5), (0.1, 0.7)],
        bottlenecks: &[("reading global memory".to_string(), 0.53)],
        roof: None,
        next: &steps,
    };
    let text = page.render();
    assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    assert!(text.lines().count() <= 48, "{} lines:\n{text}", text.lines().count());
}
