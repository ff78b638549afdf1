//! Translates ATF's search techniques and abort conditions to ours.

use super::translate::{DEEPEST, bracket, split, too_deep};
use tunesmith_core::{Refusal, Stop, StopParseError};
use tunesmith_space::did_you_mean;

/// ATF's techniques, by the names of its papers and both implementations, with our strategies.
const TECHNIQUES: &[(&str, &str)] = &[
    ("exhaustive", "exhaustive"),
    ("random", "random"),
    ("random_search", "random"),
    ("simulated_annealing", "annealing"),
    ("annealing", "annealing"),
    ("differential_evolution", "differential_evolution"),
    ("particle_swarm", "swarm"),
    ("pattern_search", "pattern"),
    ("torczon", "torczon"),
    ("nelder_mead", "nelder_mead"),
    ("auc_bandit", "bandit"),
    ("open_tuner", "bandit"),
    ("opentuner", "bandit"),
    ("round_robin", "round_robin(techniques=annealing+differential_evolution+pattern+torczon)"),
];

/// Returns the strategy for the technique `text` (`simulated_annealing`, `"auc_bandit"`,
/// `atf::torczon()`).
pub(super) fn strategy(text: &str) -> Result<&'static str, Refusal> {
    let name = text.trim().trim_end_matches(';').trim_matches('"').trim().trim_end_matches("()").trim();
    let name = name.rsplit("::").next().unwrap_or(name);
    let known = TECHNIQUES.iter().find(|(technique, _)| *technique == name);
    known.map(|(_, strategy)| *strategy).ok_or_else(|| {
        let names = || TECHNIQUES.iter().map(|(technique, _)| *technique);
        let listed = format!("techniques are {}", names().collect::<Vec<_>>().join(", "));
        Refusal::new(format!("`{name}` is no search technique"), did_you_mean(name, names()).or(Some(listed)))
    })
}

/// Returns our stop condition for the abort condition `text`, such as
/// `evaluations(10000) || duration<std::chrono::minutes>(5)`.
pub(super) fn stop(text: &str) -> Result<Stop, Refusal> {
    let ours = joined(text.trim().trim_end_matches(';'), DEEPEST);
    let checked = ours.and_then(|text| {
        let parsed: Result<Stop, StopParseError> = text.parse();
        parsed.map_err(|error| error.reason)
    });
    checked.map_err(|fault| {
        let forms = "conditions are evaluations(n), valid_evaluations(n), duration<minutes>(n), fraction(f), cost(c), \
                     speedup(f, n), speedup<seconds>(f, n), joined by && and ||";
        Refusal::new(fault, Some(forms.to_string()))
    })
}

/// Translates conditions in which `left` more levels of parentheses may follow.
fn joined(text: &str, left: usize) -> Result<String, String> {
    let text = text.trim();
    let left = left.checked_sub(1).ok_or_else(too_deep)?;
    for (sign, word) in [("||", " or "), ("&&", " and ")] {
        let commas = text.replace(',', "\u{1}").replace(sign, ",");
        let parts = split(&commas)?;
        if parts.len() > 1 {
            let parts = parts.iter().map(|part| joined(&part.replace(',', sign).replace('\u{1}', ","), left));
            return Ok(format!("({})", parts.collect::<Result<Vec<_>, _>>()?.join(word)));
        }
    }
    if text.starts_with('(') {
        let (inside, rest) = bracket(text)?;
        return if rest.trim().is_empty() { joined(inside, left) } else { Err(format!("`{rest}` is left over")) };
    }
    condition(text)
}

fn condition(text: &str) -> Result<String, String> {
    let open = text.find('(').ok_or_else(|| format!("`{text}` has no number in parentheses"))?;
    let (arguments, rest) = bracket(&text[open..])?;
    if !rest.trim().is_empty() {
        return Err(format!("`{}` is left over", rest.trim()));
    }
    let (name, unit) = text[..open].trim().split_once('<').unwrap_or((&text[..open], ""));
    let name = name.trim().rsplit("::").next().unwrap_or("");
    let unit = Some(unit.trim().trim_end_matches('>')).filter(|unit| !unit.is_empty());
    match (name, &split(arguments)?[..]) {
        ("evaluations" | "valid_evaluations", [n]) => Ok(format!("evaluations {n}")),
        ("duration", [time]) => Ok(format!("time {}", duration(time, unit.or(Some("seconds")))?)),
        ("fraction", [share]) => Ok(format!("fraction {share}")),
        // Without a unit, all times of ATF are nanoseconds.
        ("cost" | "result", [cost]) => Ok(format!("cost {}", duration(cost, unit.or(Some("nanoseconds")))?)),
        // The third argument says which evaluations count. All of ours do.
        ("speedup", [factor, window] | [factor, window, "true" | "false"]) => match duration(window, unit) {
            Ok(time) => Ok(format!("speedup {factor} in {time}")),
            Err(_) if unit.is_none() => Ok(format!("speedup {factor} in {window} evaluations")),
            Err(fault) => Err(fault),
        },
        _ => Err(format!("`{text}` is no abort condition")),
    }
}

/// The units of std::chrono with the suffixes of its literals, which are our units.
const UNITS: [(&str, &str); 6] = [
    ("nanoseconds", "ns"),
    ("microseconds", "us"),
    ("milliseconds", "ms"),
    ("seconds", "s"),
    ("minutes", "min"),
    ("hours", "h"),
];

/// Returns the time `text` with our unit: `std::chrono::minutes(5)`, `5min`, or a number of `unit`.
fn duration(text: &str, unit: Option<&str>) -> Result<String, String> {
    let last = |name: &str| name.trim().rsplit("::").next().unwrap_or_default().trim().to_string();
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '\'' | '-' | '+');
    let digits = text.find(|c: char| !is_number(c)).unwrap_or(text.len());
    let (number, unit) = if let Some(open) = text.find(['(', '{']) {
        (bracket(&text[open..])?.0.trim(), last(&text[..open]))
    } else if let Some((name, _)) = UNITS.iter().find(|(_, suffix)| digits > 0 && *suffix == &text[digits..]) {
        (&text[..digits], (*name).to_string())
    } else {
        (text, last(unit.ok_or_else(|| format!("`{text}` has no unit of time"))?))
    };
    let known = UNITS.iter().find(|(name, _)| *name == unit);
    let (_, ours) = known.ok_or_else(|| format!("`{unit}` is no unit of time"))?;
    let number: f64 = number.replace('\'', "").parse().map_err(|_| format!("`{number}` is no number"))?;
    Ok(format!("{number}{ours}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abort_conditions_become_stop_conditions() {
        let cases = [
            ("evaluations( 10000 )", "evaluations 10000"),
            ("atf::cond::duration<std::chrono::minutes>(10)", "time 10min"),
            ("fraction(0.1) || cost(1500000)", "(fraction 0.1 or cost 1.5)"),
            ("cost<std::chrono::microseconds>(20) || result<seconds>(2)", "(cost 0.02 or cost 2000)"),
            ("cost(1e6) || cost<hours>(1)", "cost 1 or cost 3600000"),
            ("duration(std::chrono::minutes(5)) || duration(90s) || duration(7)", "time 5min or time 90s or time 7s"),
            ("speedup(1.5, std::chrono::seconds{30}) || speedup(2, 1min)", "speedup 1.5 in 30s or speedup 2 in 1min"),
            ("speedup(1.05, 100, true) && valid_evaluations(8)", "speedup 1.05 in 100 evaluations and evaluations 8"),
            (
                "(speedup(1.01, 50) && duration<seconds>(3)) || speedup<hours>(1.5, 2);",
                "((speedup 1.01 in 50 evaluations and time 3s) or speedup 1.5 in 2h)",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(stop(text).unwrap(), parsed(expected), "{text}");
        }
    }

    fn parsed(text: &str) -> Stop {
        text.parse().unwrap()
    }

    #[test]
    fn a_wrong_abort_condition_is_told_with_the_forms() {
        let refused = |text: &str| stop(text).unwrap_err();
        assert_eq!(refused("cost<days>(1)").text, "`days` is no unit of time");
        assert_eq!(refused("duration<seconds>(long)").text, "`long` is no number");
        assert!(refused("evaluation(5)").remedy.unwrap().contains("fraction(f)"));
        assert!(refused("speedup(0.5, 10)").text.contains("no improvement"));
        assert!(refused("evaluations(0)").text.contains("at least 1"));
        assert!(
            refused(&format!("{}1{}", "(".repeat(50_000), ")".repeat(50_000))).text.contains("nested more than 100")
        );
        // Brackets in quotes close nothing.
        let hidden = format!("{}1{}", "(evaluations(\")\") || ".repeat(300), ")".repeat(300));
        assert!(refused(&hidden).text.contains("nested more than 100"));
        assert!(refused("abort_when_not_better(5, 3)").text.contains("is no abort condition"));
    }

    #[test]
    fn techniques_have_our_names_and_unknown_ones_a_suggestion() {
        assert_eq!(strategy("simulated_annealing"), Ok("annealing"));
        assert_eq!(strategy("\"atf::exhaustive()\""), Ok("exhaustive"));
        for (name, ours) in TECHNIQUES {
            assert_eq!(strategy(name), Ok(*ours));
            assert!(ours.parse::<tunesmith_search::StrategySpec>().is_ok(), "{ours}");
        }
        assert_eq!(strategy("simulated_anealing").unwrap_err().remedy.unwrap(), "did you mean `simulated_annealing`?");
    }
}
